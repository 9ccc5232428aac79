// The demo's origin: the web server that a docs team would have. It serves one edition of the site, which a step
// replaces. Owns its port, and the editions of the demo's own site. Refuses to be the server of the export, which is the
// bundle server.

import type { RequestListener } from 'node:http';
import type { Clock } from '#platform/runtime/clock.ts';
import { listenHttp } from '#platform/runtime/http/http-listener.ts';
import { emptySite, pageCount, type SiteEdition, shrunkenSite, wholeSite } from './site-pages.ts';

export interface DemoOrigin {
  readonly url: string;
  /** From now on. */
  show(edition: SiteEdition): void;
  close(): Promise<void>;
}

export async function startOrigin(first: SiteEdition, clock: Clock): Promise<DemoOrigin> {
  let shown = first;
  const answer: RequestListener = (request, response) => {
    request.resume();
    const [path = ''] = (request.url ?? '').split('?');
    const found = shown.get(path);
    const file = found ?? shown.get('/404.html');
    response.writeHead(found === undefined ? 404 : 200, { 'Content-Type': file?.type ?? 'text/plain' });
    response.end(file?.body);
  };
  const listener = await listenHttp({ host: '127.0.0.1', port: 0 }, answer, clock);
  return {
    url: listener.url,
    show: (edition) => {
      shown = edition;
    },
    close: () => listener.close({ lingerMs: 0, graceMs: 0 }),
  };
}

/** What steps put at the origin. */
export type SiteState = 'first' | 'changed' | 'shrunken' | 'empty';

/** The site that is exported, in the states that the steps need. */
export interface DemoSite {
  readonly url: string;
  /** `undefined`: not known before the export. */
  readonly pages: number | undefined;
  /** False for a user's own site, which has its first state alone. */
  readonly canChange: boolean;
  /** The origin answers with that state from now on. @returns what readers of the export get */
  show(state: SiteState): Promise<SiteEdition>;
  close(): Promise<void>;
}

export async function startDemoSite(clock: Clock): Promise<DemoSite> {
  const editions: Readonly<Record<SiteState, SiteEdition>> = {
    first: wholeSite(1),
    changed: wholeSite(2),
    shrunken: shrunkenSite(3),
    empty: emptySite,
  };
  const origin = await startOrigin(editions.first, clock);
  return {
    url: origin.url,
    pages: pageCount,
    canChange: true,
    show: async (state) => {
      origin.show(editions[state]);
      return editions[state];
    },
    close: origin.close,
  };
}
