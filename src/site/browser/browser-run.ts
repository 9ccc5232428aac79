// Verifies a site in a browser, from the start of the browser to its end. Owns that nothing of it is left: the process, its proxy
// and its profile. Loads the library first, so that its absence is said before a browser starts.

import { mkdir, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import type { BrowserReport } from '#bundle/site-report.ts';
import { removeQuietly } from '#bundle/store/store-disk.ts';
import type { Clock } from '#platform/runtime/clock.ts';
import { allowsHost } from '#site/allowed-hosts.ts';
import type { BrowsedSite } from './browsed-site.ts';
import { loadBrowserLibrary } from './browser-library.ts';
import { startBrowserProcess } from './browser-process.ts';
import { connectVisitor } from './page-visitor.ts';
import { startSiteProxy } from './site-proxy.ts';
import { defaultVerificationLimits, type VisitedPage, type VisitPage, verifyPages } from './verification.ts';

export interface BrowserRequest {
  /** Path of a Chromium. */
  readonly executable: string;
  /** For its profile; made where it is absent. */
  readonly folder: string;
  /** Requests to these hosts do not count. As `readAllowedHost` returns them. */
  readonly allowedHosts?: readonly string[] | undefined;
}

export interface VerificationContext {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Gets the browser's process while it runs, for a starter whose thread may be ended, and then `undefined`. */
  readonly onBrowser: (pid: number | undefined) => void;
  readonly onPage: (done: number) => void;
}

/** @throws {PublishableError} `BrowserLibraryMissing`, `BrowserNotStarted`, `BrowserEnded`; the signal's reason */
export async function verifyInBrowser(
  site: BrowsedSite,
  { executable, folder, allowedHosts = [] }: BrowserRequest,
  { clock, signal, onBrowser, onPage }: VerificationContext,
): Promise<BrowserReport> {
  const library = await loadBrowserLibrary();
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const profile = await mkdtemp(join(folder, 'profile-'));
  try {
    const proxy = await startSiteProxy(site);
    try {
      const browser = await startBrowserProcess(executable, profile, proxy.port);
      onBrowser(browser.pid);
      try {
        const visit = await connectVisitor(library, browser, profile, clock);
        const pages = site.pages.map((path) => pageOf(site, path));
        const visitCounted: VisitPage = async (page) => {
          const { offSite, errors } = await visit(page);
          const isCounted = (address: string): boolean => !allowsHost(allowedHosts, hostOf(address));
          return { offSite: offSite.filter(isCounted), errors };
        };
        return await verifyPages(pages, visitCounted, defaultVerificationLimits, clock, signal, onPage);
      } finally {
        await browser.stop();
        onBrowser(undefined);
      }
    } finally {
      await proxy.close();
    }
  } finally {
    await removeQuietly(profile);
  }
}

const hostOf = (address: string): string => address.split('/', 1)[0] ?? '';

/** Under the address of its visitors, where that leads to it. */
function pageOf({ routes, basePath }: BrowsedSite, path: string): VisitedPage {
  const short = `/${path}`.replace(/(?:(\/)index)?\.html$/, '$1');
  const route = routes.find(short);
  const isSame = route?.kind === 'file' && route.file.path === path;
  const segments = `${basePath}${isSame ? short : `/${path}`}`.split('/');
  return { path, address: segments.map((name) => encodeURIComponent(name.toWellFormed())).join('/') };
}
