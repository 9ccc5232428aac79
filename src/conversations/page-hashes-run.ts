// The thread's side of page hashes: reads each page of a pack and hashes its text. Invariant: every page has a hash; where its
// text does not say enough, that of its file.

import type { BundleFile } from '#bundle/bundle-index.ts';
import { addressOfPage } from '#bundle/store/digest.ts';
import { openPack, type StoredBundle } from '#bundle/store/stored-bundle.ts';
import type { SendReport } from '#platform/runtime/task.ts';
import { maxReadPageBytes, readPageSource } from '#site/pages/bundle-pages.ts';
import { pageTextHash } from './gaps/page-text.ts';
import type { PageHashes, PagesProgress, PagesTask } from './page-hashes.ts';

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
      if (addressOfPage(file) === undefined) continue;
      hashes.set(file.path, (await textHash(file, pack)) ?? file.sha256);
      if (hashes.size % pagesPerReport === 0) await report({ pages: hashes.size });
    }
  } finally {
    await pack.close();
  }
  return hashes;
}

async function textHash(file: BundleFile, pack: StoredBundle): Promise<string | undefined> {
  return file.size > maxReadPageBytes ? undefined : pageTextHash(await readPageSource(pack, file));
}
