// Proves that a stored bundle still matches its digest: the index, then the bytes of every file that has some in the
// pack. Runs on every load. Refuses to trust a size, a time or a name where the bytes can be read. Also
// refuses to call a copy bad because this machine could not read it now: a bad copy is removed, perhaps the last one.

import { createHash, type Hash, hash } from 'node:crypto';
import { join } from 'node:path';
import { publishableCode } from '#platform/wire/publishable-error.ts';
import { type BundleFile, type BundleIndex, heldFiles } from '../bundle-index.ts';
import { type IndexDocument, parseIndex } from './index-document.ts';
import type { DamagedBytes } from './pending-check.ts';
import type { ReadableFile, StoreDisk } from './store-disk.ts';
import { indexName, packName } from './store-layout.ts';

const blockBytes = 1024 * 1024;

/** Error codes that mean a permanently unreadable copy. Any other error is a temporary fault of this machine. */
const badCopyCodes: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'EISDIR', 'EIO']);

/** Whether an error of the disk is about what lies there. */
export function isOfCopy(error: unknown): boolean {
  return badCopyCodes.has(publishableCode(error));
}

/** @returns `undefined` where it can never be read again */
export async function ifReadable<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (isOfCopy(error)) return undefined;
    throw error;
  }
}

export interface CheckSteps {
  /**
   * Receives the index when the pack has its size, before any file is hashed: for work that is of no use where the copy
   * proves damaged.
   */
  readonly onIndex?: (index: BundleIndex) => Promise<unknown>;
  /**
   * Every file that begins before this byte of the pack is what its hash says, but for those that `onDamaged` received.
   * Called every few megabytes, and behind the last file where some are damaged.
   */
  readonly onProven?: (position: number) => void;
  /** Receives where each damaged file lies; the check then goes on. Without it, the check ends there. */
  readonly onDamaged?: (bytes: DamagedBytes) => void;
}

/**
 * @returns the index, or `undefined` where anything is missing, damaged, unreadable or not of this digest
 * @throws what the disk throws where that says nothing of the copy: no descriptors, no memory, no permission
 */
export async function checkBundle(
  folder: string,
  digest: string,
  disk: StoreDisk,
  steps: CheckSteps = {},
): Promise<IndexDocument | undefined> {
  try {
    const text = await disk.readText(join(folder, indexName));
    const document = text === undefined ? undefined : parseIndex(text);
    if (document === undefined || document.index.digest !== digest) return undefined;
    return (await holdsPack(folder, document, disk, steps)) ? document : undefined;
  } catch (error) {
    if (isOfCopy(error)) return undefined;
    throw error;
  }
}

/**
 * Whether the pack in a folder is what the index says, every file that it holds.
 *
 * @throws what the disk throws, also where there is no pack
 */
export async function holdsPack(
  folder: string,
  document: IndexDocument,
  disk: StoreDisk,
  steps: CheckSteps = {},
): Promise<boolean> {
  const pack = await disk.openFile(join(folder, packName));
  try {
    const { size } = await pack.stat();
    if (size !== document.packBytes) return false;
    await steps.onIndex?.(document.index);
    return await holdsAll(pack, heldFiles(document.index.files), steps);
  } finally {
    await pack.close();
  }
}

/** Bytes between two calls of `onProven`. */
const reportedBytes = 4 * 1024 * 1024;

/** Each may take the disk seconds, and another copy is obtained only after the check. */
const mostReadErrors = 8;

async function holdsAll(
  pack: ReadableFile,
  files: readonly BundleFile[],
  { onProven, onDamaged }: CheckSteps,
): Promise<boolean> {
  const blocks = createBlocks(pack);
  let readErrors = 0;
  // A part of the disk that cannot be read costs the files in it; the others are served.
  const unreadable = (error: unknown): undefined => {
    readErrors += 1;
    if (onDamaged === undefined || !isOfCopy(error) || readErrors > mostReadErrors) throw error;
  };
  let isWhole = true;
  try {
    let before: BundleFile | undefined;
    let reported = 0;
    for (const file of [...files].sort((a, b) => a.offset - b.offset)) {
      if (file.offset - reported >= reportedBytes) {
        reported = file.offset;
        onProven?.(reported);
      }
      // Names of one content (hard links) lie at one place, which is read once.
      const isRead = before !== undefined && before.offset === file.offset && before.size === file.size;
      const sha256 = isRead ? before?.sha256 : await hashFile(file, blocks.at).catch(unreadable);
      if (sha256 !== file.sha256) {
        if (onDamaged === undefined) return false;
        onDamaged({ offset: file.offset, size: file.size });
        isWhole = false;
      }
      before = file;
    }
    if (!isWhole && before !== undefined) onProven?.(before.offset + before.size);
    return isWhole;
  } finally {
    await blocks.end();
  }
}

/** @returns `undefined` where the pack ends before the file does */
async function hashFile({ offset, size }: BundleFile, blockAt: Blocks['at']): Promise<string | undefined> {
  const end = offset + size;
  let pieces: Hash | undefined;
  for (let at = offset; at < end; ) {
    const block = await blockAt(at);
    if (block.end <= at) return undefined;
    const upTo = Math.min(end, block.end);
    const piece = block.memory.subarray(at - block.start, upTo - block.start);
    // Most files lie in one block, and a hash object for each costs the collector more than the hash.
    if (upTo - at === size) return hash('sha256', piece, 'hex');
    pieces ??= createHash('sha256');
    pieces.update(piece);
    at = upTo;
  }
  return (pieces ?? createHash('sha256')).digest('hex');
}

interface Block {
  readonly memory: Buffer;
  readonly start: number;
  /** Behind the last byte that could be read: the start itself at the end of the file. */
  readonly end: number;
}

interface Blocks {
  /** The block that begins at this byte, or the one before if it has the byte. Its memory is used again by the next call. */
  at(position: number): Promise<Block>;
  /** Waits for what is still being read, so that the file can be closed. */
  end(): Promise<void>;
}

/** Reads the next block while the caller hashes the one before: with two cores, reading takes no time. */
function createBlocks(file: ReadableFile): Blocks {
  const read = async (memory: Buffer, start: number): Promise<Block> => {
    const { bytesRead } = await file.read(memory, 0, blockBytes, start);
    return { memory, start, end: start + bytesRead };
  };
  let block: Block = { memory: Buffer.allocUnsafeSlow(blockBytes), start: 0, end: 0 };
  let spare: Buffer = Buffer.allocUnsafeSlow(blockBytes);
  let ahead: { readonly start: number; readonly block: Promise<Block> } | undefined;
  const settle = async (): Promise<void> => void (await ahead?.block.catch(() => {}));
  return {
    at: async (position) => {
      if (position >= block.start && position < block.end) return block;
      if (ahead?.start !== position) {
        await settle();
        ahead = { start: position, block: read(spare, position) };
      }
      const next = await ahead.block;
      spare = block.memory;
      block = next;
      const following = read(spare, block.end);
      following.catch(() => {}); // the call that needs it throws the same error
      ahead = { start: block.end, block: following };
      return block;
    },
    end: settle,
  };
}
