// The thread's side of page hashes: reads each page of a pack and hashes its text. Invariant: every page has a hash; where its
// text does not say enough, that of its file.

import type { BundleFile } from '#bundle/bundle-index.ts';
import { openPack, type StoredBundle } from '#bundle/store/stored-bundle.ts';
import type { SendReport } from '#platform/runtime/task.ts';
import { pageTextHash } from './gaps/page-text.ts';
import type { PageHashes, PagesProgress, PagesTask } from './page-hashes.ts';

/** Of a larger file the hash is taken. */
const longestPage = 8 * 1024 * 1024;
const pagesPerReport = 200;

/** @throws what reading the pack throws */
export async function hashPages(
  { packPath, index }: PagesTask,
  report: SendReport<PagesProgress>,
): Promise<PageHashes> {
  const hashes = new Map<string, string>();
  const pack = await openPack(packPath, index, undefined);
  try {
    for (const file of index.files) {
      if (file.isData || !/\.html?$/i.test(file.path)) continue;
      hashes.set(file.path, (await textHash(file, pack)) ?? file.sha256);
      if (hashes.size % pagesPerReport === 0) await report({ pages: hashes.size });
    }
  } finally {
    await pack.close();
  }
  return hashes;
}

async function textHash(file: BundleFile, pack: StoredBundle): Promise<string | undefined> {
  if (file.size > longestPage) return undefined;
  const bytes = Buffer.allocUnsafe(file.size);
  await pack.readInto(file, bytes);
  return pageTextHash(bytes.toString('utf8'));
}
