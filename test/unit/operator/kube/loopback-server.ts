// A plain HTTP server, and what a transport needs to connect to it. The test sets the answer before each call.

import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Connection, Credentials } from '#operator/kube/transport/connection.ts';
import { secrets } from '#operator/kube/transport/resource-path.ts';
import type { Call } from '#operator/kube/transport/transport.ts';
import { ClusterError, type ClusterErrorCode } from '#platform/wire/cluster-error.ts';

export interface LoopbackServer {
  handle: (request: IncomingMessage, response: ServerResponse) => void;
  /** Accepted so far. */
  connections: number;
  readonly origin: string;
  /** By default with a token and without TLS. */
  connection(credentials?: Partial<Credentials>): Connection;
  close(): void;
}

export async function startLoopbackServer(): Promise<LoopbackServer> {
  const server = createServer((request, response) => loopback.handle(request, response));
  server.on('connection', () => {
    loopback.connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const origin = `http://127.0.0.1:${address.port}`;
  const loopback: LoopbackServer = {
    handle: () => {},
    connections: 0,
    origin,
    connection: (credentials = {}) => ({
      server: `${origin}/prefix`,
      proxyUrl: undefined,
      namespace: undefined,
      authenticate: async () => ({ headers: { Authorization: 'Bearer token-1' }, tls: {}, ...credentials }),
      renew: () => {},
    }),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
  return loopback;
}

export const never: AbortSignal = new AbortController().signal;

export const get: Call = {
  verb: 'get',
  method: 'GET',
  address: { resource: secrets, namespace: 'a', name: 'b' },
};

export const json = (response: ServerResponse, status: number, body: object, headers = {}): void => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
};

/** For `assert.rejects`. */
export const isRefusal = (code: ClusterErrorCode, message: RegExp) => (error: unknown) => {
  assert.ok(error instanceof ClusterError);
  assert.equal(error.code, code);
  assert.match(error.message, message);
  return true;
};
