// The crawled site in a browser, before it is packed: what `--verify-in-browser` reports. Loads what drives the browser when a job
// asks for it. Refuses to change the site.

import { join } from 'node:path';
import { browsedSite } from '#site/browser/browsed-site.ts';
import type { Verify } from './site-export.ts';

/** @throws {PublishableError} `BrowserLibraryMissing`, `BrowserNotStarted`, `BrowserEnded`; the signal's reason */
export const verifyCrawledSite: Verify = async ({ files, types }, request, context) => {
  const { verifyInBrowser } = await import('#site/browser/browser-run.ts');
  const byPath = new Map(files.map((file) => [file.path, file]));
  const rows = files.map(({ path, sizeBytes: size, sha256 }) => ({
    ...{ path, size, sha256, offset: 0 },
    type: types.get(path),
  }));
  const site = browsedSite(rows, request.basePath ?? '', async function* (path) {
    const file = byPath.get(path);
    if (file !== undefined) yield* file.read();
  });
  const { clock, signal, logger, onBrowser = () => {} } = context;
  const folder = join(request.spoolDirectory, 'browser');
  const report = await verifyInBrowser(
    site,
    { executable: request.browser, folder, allowedHosts: request.limits.assets.allowedHosts },
    { clock, signal, onBrowser, onPage: () => {} },
  );
  const { pages, notOpened, offSiteRequests, consoleErrors } = report;
  const counts = { offSiteRequests: offSiteRequests.count, consoleErrors: consoleErrors.count };
  logger.info({ pages, notOpened, ...counts }, 'pages opened in a browser');
  return report;
};
