// An export API that answers at once and counts: a job is complete at its first poll, a link lives for a week and
// leads to one byte. It keeps nothing but counters, so that it is never what is measured.

import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

export interface InstantVendor {
  readonly url: string;
  /** Requests to the API so far, links not counted. */
  calls(): number;
  close(): Promise<void>;
}

const lifetimeMs = 7 * 24 * 60 * 60 * 1000;

export async function startInstantVendor(): Promise<InstantVendor> {
  let calls = 0;
  let jobs = 0;
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const path = request.url ?? '';
    if (path.startsWith('/files/')) {
      response.writeHead(206, { 'content-range': 'bytes 0-0/10' }).end('x');
      return;
    }
    calls += 1;
    const [, id, action] = /\/jobs\/([^/]+)(\/bundle)?$/.exec(path) ?? [];
    if (id === undefined) {
      jobs += 1;
      sendJson(response, 202, { jobId: `job-${jobs}` });
    } else if (action === undefined) {
      sendJson(response, 200, { jobId: id, status: 'completed', progress: 100, pageCount: 7 });
    } else {
      const bundleUrl = `http://127.0.0.1:${port}/files/${id}.tgz?signature=${calls}`;
      sendJson(response, 200, { bundleUrl, expiresAt: new Date(Date.now() + lifetimeMs).toISOString() });
    }
  };
  const server = createServer((request, response) => {
    request.resume().on('end', () => answer(request, response));
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const { port } = address;
  return {
    url: `http://127.0.0.1:${port}`,
    calls: () => calls,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
