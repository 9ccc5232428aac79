// The demo's origin: the web server that a docs team would have. It serves one edition of the site, which a step
// replaces. Owns its port. Refuses to be the server of the export, which is the bundle server.

import type { RequestListener } from 'node:http';
import type { Clock } from '../../runtime/clock.ts';
import { listenHttp } from '../../runtime/http/http-listener.ts';
import type { SiteEdition } from './site-pages.ts';

export interface Origin {
  readonly url: string;
  /** From now on. */
  show(edition: SiteEdition): void;
  close(): Promise<void>;
}

export async function startOrigin(first: SiteEdition, clock: Clock): Promise<Origin> {
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
