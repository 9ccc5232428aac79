// A storage that hands out archives by link, counts who asks, and can be told to misbehave.

import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { declareSecret } from '../../support/secret-watch.ts';

export interface LinkServer {
  /** A link as presigned ones look; `name` tells links to the same archive apart. */
  link(archive: string, name?: string): string;
  put(archive: string, body: Buffer): void;
  /** From now on every link is answered with this instead. */
  misbehave(how: ((response: ServerResponse) => void) | undefined): void;
  readonly requests: () => number;
  close(): Promise<void>;
}

/** The part of a link that must appear nowhere. */
export const signature = 'c0ffee5ecretf00d';

export async function startLinkServer(): Promise<LinkServer> {
  declareSecret('the link', signature);
  const archives = new Map<string, Buffer>();
  let requests = 0;
  let odd: ((response: ServerResponse) => void) | undefined;
  const server = createServer((request, response) => {
    requests += 1;
    const body = archives.get(new URL(request.url ?? '/', 'http://host').pathname.slice(1));
    if (odd !== undefined) odd(response);
    else if (request.method !== 'GET') response.writeHead(403).end();
    else if (body === undefined) response.writeHead(404).end();
    else response.writeHead(200, { 'Content-Length': body.length, ETag: '"e"' }).end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    link: (archive, name = 'first') =>
      `http://127.0.0.1:${port}/${archive}?name=${name}&X-Amz-Signature=${signature}`,
    put: (archive, body) => archives.set(archive, body),
    misbehave: (how) => {
      odd = how;
    },
    requests: () => requests,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
