// Proof that a stored bundle still is what its digest says: index, then every file's bytes in the pack.
// Runs on every load. Refuses: believing a size, a time or a name where the bytes can be asked.

import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { BundleFile } from './bundle-index.ts';
import { type IndexDocument, parseIndex } from './index-document.ts';
import type { StoreDisk } from './store-disk.ts';
import { indexName, packName } from './store-layout.ts';

const blockBytes = 1024 * 1024;

/** @returns the index, or `undefined` where anything is missing, damaged or not of this digest */
export async function checkBundle(
  folder: string,
  digest: string,
  disk: StoreDisk,
): Promise<IndexDocument | undefined> {
  const text = await disk.readText(join(folder, indexName));
  const document = text === undefined ? undefined : parseIndex(text);
  if (document === undefined || document.index.digest !== digest) return undefined;
  let pack: FileHandle;
  try {
    pack = await open(join(folder, packName), 'r');
  } catch {
    return undefined;
  }
  try {
    const { size } = await pack.stat();
    const isWhole = size === document.packBytes && (await holdsAll(pack, document.index.files));
    return isWhole ? document : undefined;
  } catch {
    return undefined; // a read error of the disk: this copy cannot be served either
  } finally {
    await pack.close();
  }
}

async function holdsAll(pack: FileHandle, files: readonly BundleFile[]): Promise<boolean> {
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
