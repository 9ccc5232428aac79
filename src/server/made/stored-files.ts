// A stored bundle, as a thread reads it that makes something of its files: its index, and each file whole and verified.
// Refuses bytes that are not what the index says.

import { hash } from 'node:crypto';
import { join } from 'node:path';
import type { BundleFile, BundleIndex } from '#bundle/bundle-index.ts';
import { parseIndex } from '#bundle/store/index-document.ts';
import { systemDisk } from '#bundle/store/store-disk.ts';
import { indexName } from '#bundle/store/store-layout.ts';
import type { PackedBytes, StoredBundle } from '#bundle/store/stored-bundle.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';

/** The folder of a committed bundle, and what lies there. */
export interface StoredFolder {
  readonly folder: string;
  readonly digest: string;
}

/**
 * @param what would be made of it, in plural
 * @returns the index, and what the bundle takes on disk in addition to its files' sizes; negative where names share one
 * @throws {PublishableError} `BundleGone`
 */
export async function readStoredIndex(
  { folder, digest }: StoredFolder,
  what: string,
): Promise<{ readonly index: BundleIndex; readonly overheadBytes: number }> {
  const text = await systemDisk.readText(join(folder, indexName));
  const document = text === undefined ? undefined : parseIndex(text);
  if (text === undefined || document === undefined || document.index.digest !== digest) {
    throw new PublishableError('BundleGone', `the bundle is no longer in the store; no ${what} are made`);
  }
  const { index, packBytes } = document;
  return { index, overheadBytes: packBytes - index.sizeBytes + Buffer.byteLength(text) };
}

/** @throws {PublishableError} `BundleDamaged` */
export function readVerified(bundle: StoredBundle, file: PackedBytes & Pick<BundleFile, 'sha256'>): Buffer {
  const body = Buffer.allocUnsafe(file.size);
  bundle.readIntoSync(file, body);
  if (hash('sha256', body, 'hex') === file.sha256) return body;
  throw new PublishableError(
    'BundleDamaged',
    'the stored bundle no longer is what was verified; check its disk',
  );
}
