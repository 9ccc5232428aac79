// Sends a stored bundle from one server's store to another's: first the index, then the pack as stored. The receiver
// trusts nothing. The index must be valid and match the requested digest (copy-index.ts), and the pack must have the
// announced size. Every visible file is hashed before the copy is committed. Invariant: a copy that fails leaves
// nothing behind.

import { createWriteStream, type ReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { makeFolder } from '#platform/runtime/folder.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import type { BundleIndex } from '../bundle-index.ts';
import { type Bytes, watch } from '../byte-stream.ts';
import { commitBundle } from '../store/commit.ts';
import type { IndexDocument } from '../store/index-document.ts';
import { holdsPack } from '../store/store-check.ts';
import { removeQuietly, type StoreDisk, systemDisk } from '../store/store-disk.ts';
import { inStore, storeFault } from '../store/store-fault.ts';
import { bundleFolder, digestPattern, indexName, packName } from '../store/store-layout.ts';

/** One file of a stored bundle, opened for sending: it stays whole even if the bundle is removed meanwhile. */
export interface OfferedFile {
  readonly sizeBytes: number;
  /** From its first byte to its last. Its receiver destroys it: Node ends a process that forgets an open file. */
  readonly stream: ReadStream;
}

/** Whether other servers may copy a bundle of this digest from the store; it is not read. Never rejects. */
export async function isOffered(storeDir: string, digest: string): Promise<boolean> {
  if (!digestPattern.test(digest)) return false;
  return stat(join(bundleFolder(storeDir, digest), indexName)).then(
    (found) => found.isFile(),
    () => false,
  );
}

/** @returns `undefined` where there is none to offer, or it cannot be read */
export async function openOffered(
  storeDir: string,
  digest: string,
  part: 'index' | 'pack',
): Promise<OfferedFile | undefined> {
  if (!(await isOffered(storeDir, digest))) return undefined;
  const name = part === 'index' ? indexName : packName;
  const file = await open(join(bundleFolder(storeDir, digest), name), 'r').catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const { size: sizeBytes } = await file.stat();
    return { sizeBytes, stream: file.createReadStream({ start: 0, highWaterMark: 256 * 1024 }) };
  } catch {
    await file.close();
    return undefined;
  }
}

/**
 * Puts a bundle into the store from another server's index and the bytes of its pack.
 *
 * @param workDir a folder of the store for this copy alone; gone again in the end
 * @returns the index of what lies there now, see commit.ts
 * @throws {PublishableError} rejected `CopyRefused` for bytes that are not the bundle, `StoreFull` or
 *   `StoreUnavailable` for the disk; what `pack` itself throws
 */
export async function receiveCopy(
  storeDir: string,
  workDir: string,
  document: IndexDocument,
  pack: Bytes,
  disk: StoreDisk = systemDisk,
): Promise<BundleIndex> {
  const staged = join(workDir, 'bundle');
  try {
    await inStore(makeFolder(staged));
    await writePack(join(staged, packName), document.packBytes, pack);
    if (!(await inStore(holdsPack(staged, document, disk)))) throw copyRefused();
    return await inStore(commitBundle(storeDir, staged, document.index, document.packBytes, disk));
  } finally {
    await removeQuietly(workDir);
  }
}

async function writePack(path: string, packBytes: number, pack: Bytes): Promise<void> {
  let received = 0;
  let fromSource: { readonly error: unknown } | undefined;
  const bounded = watch(pack, (chunk) => {
    received += chunk.length;
    if (received > packBytes) throw copyRefused();
  });
  async function* source(): AsyncGenerator<Buffer> {
    try {
      yield* bounded;
      if (received < packBytes) throw copyRefused();
    } catch (error) {
      fromSource = { error };
      throw error;
    }
  }
  try {
    // `flush`: synced before it is closed, as everything that is going to be named.
    const file = createWriteStream(path, { flags: 'wx', flush: true });
    await pipeline(Readable.from(source(), { highWaterMark: 1 }), file);
  } catch (error) {
    throw fromSource === undefined ? storeFault(error, { path, writtenBytes: received }) : fromSource.error;
  }
}

export function copyRefused(): PublishableError {
  return new PublishableError(
    'CopyRefused',
    'the other server sent bytes that are not the bundle asked for; its copy is not used',
    { kind: 'refused' },
  );
}
