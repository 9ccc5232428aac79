// Proves that a stored bundle still matches its digest: the index, then the bytes of every visible file. Hidden files
// have no bytes. Runs on every load. Refuses to trust a size, a time or a name where the bytes can be read. Also
// refuses to call a copy bad because this machine could not read it now: a bad copy is removed, perhaps the last one.

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { publishableCode } from '../../wire/publishable-error.ts';
import type { BundleFile } from '../bundle-index.ts';
import { shownFiles } from './hidden-files.ts';
import { type IndexDocument, parseIndex } from './index-document.ts';
import type { ReadableFile, StoreDisk } from './store-disk.ts';
import { indexName, packName } from './store-layout.ts';

const blockBytes = 1024 * 1024;

/** Error codes that mean a permanently unreadable copy. Any other error is a temporary fault of this machine. */
const badCopyCodes: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'EISDIR', 'EIO']);

/** Whether an error of the disk is about what lies there. */
export function isOfCopy(error: unknown): boolean {
  return badCopyCodes.has(publishableCode(error));
}

/**
 * @returns the index, or `undefined` where anything is missing, damaged, unreadable or not of this digest
 * @throws what the disk throws where that says nothing of the copy: no descriptors, no memory, no permission
 */
export async function checkBundle(
  folder: string,
  digest: string,
  disk: StoreDisk,
): Promise<IndexDocument | undefined> {
  try {
    const text = await disk.readText(join(folder, indexName));
    const document = text === undefined ? undefined : parseIndex(text);
    if (document === undefined || document.index.digest !== digest) return undefined;
    return (await holdsPack(folder, document, disk)) ? document : undefined;
  } catch (error) {
    if (isOfCopy(error)) return undefined;
    throw error;
  }
}

/**
 * Whether the pack in a folder is what the index says, every file of it that is shown.
 *
 * @throws what the disk throws, also where there is no pack
 */
export async function holdsPack(folder: string, document: IndexDocument, disk: StoreDisk): Promise<boolean> {
  const pack = await disk.openFile(join(folder, packName));
  try {
    const { size } = await pack.stat();
    return size === document.packBytes && (await holdsAll(pack, shownFiles(document.index.files)));
  } finally {
    await pack.close();
  }
}

async function holdsAll(pack: ReadableFile, files: readonly BundleFile[]): Promise<boolean> {
  const block = Buffer.allocUnsafeSlow(blockBytes);
  let blockStart = 0;
  let blockEnd = 0;
  for (const file of [...files].sort((a, b) => a.offset - b.offset)) {
    const hash = createHash('sha256');
    const end = file.offset + file.size;
    for (let at = file.offset; at < end; ) {
      if (at < blockStart || at >= blockEnd) {
        const { bytesRead } = await pack.read(block, 0, blockBytes, at);
        if (bytesRead === 0) return false;
        blockStart = at;
        blockEnd = at + bytesRead;
      }
      const upTo = Math.min(end, blockEnd);
      hash.update(block.subarray(at - blockStart, upTo - blockStart));
      at = upTo;
    }
    if (hash.digest('hex') !== file.sha256) return false;
  }
  return true;
}
