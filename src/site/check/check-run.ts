// The thread's side of the check of a site: reads the files of a pack as a bundle server would serve them, and opens its pages in a
// browser where a user names one. Files that a server does not show are not read.

import type { BundleFile } from '#bundle/bundle-index.ts';
import { contentTypeOfFile } from '#bundle/content-type.ts';
import type { BrowserReport } from '#bundle/site-report.ts';
import { isHiddenFile } from '#bundle/store/hidden-files.ts';
import { openPack, type StoredBundle } from '#bundle/store/stored-bundle.ts';
import { systemClock } from '#platform/runtime/clock.ts';
import type { SendReport } from '#platform/runtime/task.ts';
import { type BrowsedSite, browsedSite } from '#site/browser/browsed-site.ts';
import type { BrowserRequest } from '#site/browser/browser-run.ts';
import type { CheckedInThread, CheckSiteTask, CheckThreadReport } from './checking.ts';
import { checkSite } from './site-check.ts';

const filesPerReport = 200;
/** Of a file that a browser asks for. */
const pieceBytes = 1024 * 1024;

/** @throws what reading the pack throws, and what verifying in a browser throws */
export async function runSiteCheck(
  { packPath, index, basePath, allowedHosts, browser }: CheckSiteTask,
  report: SendReport<CheckThreadReport>,
): Promise<CheckedInThread> {
  const pack = await openPack(packPath, index, undefined);
  const served = new Map<string, BundleFile>();
  for (const file of index.files) if (!isHiddenFile(file.path)) served.set(file.path, file);
  const site = browsedSite(index.files, basePath, (path) => readPieces(pack, served.get(path)));
  try {
    const files = [...served.values()].map((file) => ({
      path: file.path,
      size: file.size,
      contentType: contentTypeOfFile(file),
    }));
    const read = async ({ path, size }: { readonly path: string; readonly size: number }) => {
      const bytes = Buffer.alloc(size);
      const file = served.get(path);
      if (file !== undefined) await pack.readInto(file, bytes);
      return bytes;
    };
    const rules = { basePath: site.basePath, allowedHosts };
    const check = await checkSite({ files, routes: site.routes, read }, rules, (done) => {
      if (done % filesPerReport === 0) void report({ files: done });
    });
    return { check, browser: browser && (await openPages(site, browser, report)) };
  } finally {
    await pack.close();
  }
}

async function openPages(
  site: BrowsedSite,
  request: BrowserRequest,
  report: SendReport<CheckThreadReport>,
): Promise<BrowserReport> {
  const { verifyInBrowser } = await import('#site/browser/browser-run.ts');
  return verifyInBrowser(site, request, {
    clock: systemClock,
    // The thread is ended in the middle of it.
    signal: new AbortController().signal,
    onBrowser: (browserPid) => void report({ browserPid }),
    onPage: (pages) => void report({ pages, of: site.pages.length }),
  });
}

async function* readPieces(pack: StoredBundle, file: BundleFile | undefined): AsyncGenerator<Uint8Array> {
  for (let at = 0; file !== undefined && at < file.size; at += pieceBytes) {
    const size = Math.min(pieceBytes, file.size - at);
    const piece = Buffer.alloc(size);
    await pack.readInto({ offset: file.offset + at, size }, piece);
    yield piece;
  }
}
