// Made files of a stored bundle, as a thread reads them that did not make them. Refuses bytes that are not what the list names.
// Invariant: the pack stays readable until it is closed, also where the keeper makes the files again meanwhile.

import { join } from 'node:path';
import type { BundleIndex } from '#bundle/bundle-index.ts';
import { systemDisk } from '#bundle/store/store-disk.ts';
import { openPack } from '#bundle/store/stored-bundle.ts';
import type { MadeFeature } from '../content/additions.ts';
import { parseMadeList } from './made-document.ts';
import { madeNames } from './stored-addition.ts';
import { readVerified, type StoredFolder } from './stored-files.ts';

export interface MadeFileReader {
  /** What was made. A search without a file has no page to find. */
  readonly features: readonly MadeFeature[];
  /** Of all files below that folder. */
  sizeOf(folder: string): number;
  /** @returns `undefined` where there is no such file. @throws {PublishableError} `BundleDamaged` */
  read(path: string): Uint8Array | undefined;
  close(): Promise<void>;
}

/** @returns `undefined` where the bundle has none of this program; @throws what opening their pack throws */
export async function openMadeFiles(
  { folder, digest }: StoredFolder,
  index: BundleIndex,
): Promise<MadeFileReader | undefined> {
  const text = await systemDisk.readText(join(folder, madeNames.list));
  const list = text === undefined ? undefined : parseMadeList(text, digest, index);
  if (list === undefined) return undefined;
  const { features, rows } = list;
  const pack = await openPack(join(folder, madeNames.pack), index, undefined);
  const files = new Map(rows.map((row) => [row.path, row]));
  return {
    features,
    sizeOf: (within) => rows.reduce((sum, { path, size }) => sum + (path.startsWith(within) ? size : 0), 0),
    read: (path) => {
      const row = files.get(path);
      return row === undefined ? undefined : readVerified(pack, row);
    },
    close: () => pack.close(),
  };
}
