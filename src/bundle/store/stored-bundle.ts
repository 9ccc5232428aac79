// A committed bundle of the store, open for reading: its index, and its pack behind one file descriptor. Refuses to
// read outside the pack, or after close, because the system reuses a closed descriptor's number. While the check of its
// files goes on, it hashes each file that is read before the check has come there, and holds back parts of files.

import { hash } from 'node:crypto';
import { close as closeFile, open as openFile, read as readFile, readSync } from 'node:fs';
import { promisify } from 'node:util';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import type { BundleFile, BundleIndex } from '../bundle-index.ts';
import { bundleDamaged, type PendingCheck } from './pending-check.ts';

/** What is known of a bundle in addition to its content. */
export interface Activation {
  readonly version: string | undefined;
  /** Epoch ms. */
  readonly activatedAt: number;
  /** As `bundle.json` named it, `''` for the root. Absent where it named none. */
  readonly basePath?: string | undefined;
}

/** Where bytes lie in a pack. A whole file has its hash; a part of one has none. */
export type PackedBytes = Pick<BundleFile, 'offset' | 'size'> & Partial<Pick<BundleFile, 'sha256'>>;

export interface StoredBundle {
  readonly index: BundleIndex;
  /** `undefined` for a bundle that was prepared and never activated. */
  readonly activation: Activation | undefined;
  /** Resolves when every file is proven. Rejects as {@link PendingCheck.end}. */
  proven(): Promise<void>;
  /** What a part of the file has to wait for; `undefined` where it can be read at once. Rejects as {@link proven}. */
  untilProven(file: PackedBytes): Promise<void> | undefined;
  /**
   * Fills `into` with the whole file.
   *
   * @throws {RangeError} where it is not of the file's size
   * @throws {PublishableError} `BundleDamaged`
   */
  readInto(file: PackedBytes, into: Buffer): Promise<void>;
  /** The same without a wait; cheap while the pack is in the page cache. */
  readIntoSync(file: PackedBytes, into: Buffer): void;
  /**
   * The first bytes of a file, as the disk gives them: for what may be wrong until the file itself is read and proven. Waits for
   * no check.
   */
  readStart(file: PackedBytes, into: Buffer): Promise<void>;
  /** Waits for reads under way. Reading afterwards throws. */
  close(): Promise<void>;
}

const open = promisify(openFile);
const close = promisify(closeFile);
const read = promisify(readFile);

/**
 * @param check of the files, which goes on; without one they are trusted
 * @throws what opening the file throws
 */
export async function openPack(
  packPath: string,
  index: BundleIndex,
  activation: Activation | undefined,
  check?: PendingCheck,
): Promise<StoredBundle> {
  const fd = await open(packPath, 'r');
  const underWay = new Set<Promise<void>>();
  let isClosed = false;
  /** Stays where the check fails. */
  let pending = check;
  const forget = (): void => {
    pending = undefined;
  };
  check?.end.then(forget, () => {});

  const requireRoom = (file: PackedBytes, into: Buffer): void => {
    if (isClosed) throw new Error('the bundle is closed');
    if (into.length !== file.size) {
      throw new RangeError(`a file of ${file.size} bytes does not go into ${into.length}`);
    }
  };

  const fill = async (into: Buffer, offset: number): Promise<void> => {
    const reading = readFully(fd, into, offset);
    underWay.add(reading);
    await reading.finally(() => underWay.delete(reading));
  };

  const requireIntact = ({ offset, sha256 }: PackedBytes, bytes: Buffer): void => {
    if (pending === undefined || pending.isProven(offset)) return;
    if (sha256 === undefined || hash('sha256', bytes, 'hex') !== sha256) throw bundleDamaged();
  };

  return {
    index,
    activation,
    proven: async () => pending?.end,
    untilProven: ({ offset }) =>
      pending === undefined || pending.isProven(offset) ? undefined : pending.untilProven(offset),
    readInto: async (file, into) => {
      if (pending !== undefined && file.sha256 === undefined) await pending.untilProven(file.offset);
      requireRoom(file, into);
      await fill(into, file.offset);
      requireIntact(file, into);
    },
    readStart: async (file, into) => {
      if (into.length > file.size) throw new RangeError('a file is shorter than its wanted start');
      requireRoom({ offset: file.offset, size: into.length }, into);
      await fill(into, file.offset);
    },
    readIntoSync: (file, into) => {
      requireRoom(file, into);
      readFullySync(fd, into, file.offset);
      requireIntact(file, into);
    },
    close: async () => {
      if (isClosed) return;
      isClosed = true;
      await Promise.allSettled(underWay);
      await close(fd);
    },
  };
}

export const packTooShortCode = 'PackTooShort';

const packTooShort = (): PublishableError =>
  new PublishableError(
    packTooShortCode,
    'A file of the store is shorter than its index says. The bundle is obtained again. Check the volume of the store',
    { kind: 'retry' },
  );

async function readFully(fd: number, into: Buffer, position: number): Promise<void> {
  for (let at = 0; at < into.length; ) {
    const { bytesRead } = await read(fd, into, at, into.length - at, position + at);
    if (bytesRead === 0) throw packTooShort();
    at += bytesRead;
  }
}

function readFullySync(fd: number, into: Buffer, position: number): void {
  for (let at = 0; at < into.length; ) {
    const count = readSync(fd, into, at, into.length - at, position + at);
    if (count === 0) throw packTooShort();
    at += count;
  }
}
