// A storage as a test wants it: a real HTTP server whose answers are a function of the request and its number.
// Remembers what was asked. Closes with all its connections.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Server } from 'node:net';
import { Link } from '#platform/wire/link.ts';

/** @param count of this request, from 1 */
export type StorageAnswer = (request: IncomingMessage, response: ServerResponse, count: number) => void;

export interface Storage {
  readonly origin: string;
  /** What was asked, in order. */
  readonly requests: readonly IncomingMessage[];
  link(path?: string): Link;
  close(): Promise<void>;
}

/** Every link of a storage carries this; no message, log or report may. */
export const signature = 'X-Amz-Signature=5ec2e7';

export async function startStorage(
  answer: StorageAnswer,
  tls?: { readonly cert: string; readonly key: string },
): Promise<Storage> {
  const requests: IncomingMessage[] = [];
  const listener: RequestListener = (request, response) => {
    requests.push(request);
    answer(request, response, requests.length);
  };
  const server = tls === undefined ? createServer(listener) : createTlsServer({ ...tls }, listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${portOf(server)}`;
  return {
    origin,
    requests,
    link: (path = '/bundle.tar.gz') => requireLink(`${origin}${path}?${signature}`),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string')
    throw new Error('the server does not listen on a port');
  return address.port;
}

export function requireLink(text: string): Link {
  const link = Link.parse(text);
  if (link === undefined) throw new Error('the test gave no link');
  return link;
}
