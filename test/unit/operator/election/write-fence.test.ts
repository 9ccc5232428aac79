// Reads always pass, writes only while the lease is held: through the real transport, to a server that asks for a retry.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, test } from 'node:test';
import { fenceWrites } from '#operator/election/fence.ts';
import type { Connection } from '#operator/kube/transport/connection.ts';
import { configMaps } from '#operator/kube/transport/resource-path.ts';
import { type Call, createTransport } from '#operator/kube/transport/transport.ts';
import { systemClock } from '#platform/runtime/clock.ts';

let isHeld = true;
let isLostAtFirst = false;
const sent: string[] = [];
const server = createServer((request, response) => {
  sent.push(request.method ?? '');
  if (isLostAtFirst) {
    isHeld = false;
    response.writeHead(429, { 'retry-after': '0' });
  }
  response.end('{}');
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const address = server.address();
assert.ok(typeof address === 'object' && address !== null);
const connection: Connection = {
  server: `http://127.0.0.1:${address.port}`,
  proxyUrl: undefined,
  namespace: undefined,
  authenticate: async () => ({ headers: {}, tls: {} }),
  renew: () => {},
};
const transport = createTransport(connection, { clock: systemClock, timeoutMs: 60_000 });
const fenced = fenceWrites(transport, () => isHeld);
const call = (method: Call['method']): Call => ({ verb: 'get', method, address: { resource: configMaps } });
const never = new AbortController().signal;
after(async () => {
  await transport.close();
  server.close();
});

test('a read is sent with or without the lease; a write only with it', async () => {
  for (const method of ['GET', 'POST', 'PUT', 'PATCH'] as const) await fenced.call(call(method), never);
  isHeld = false;
  await fenced.call(call('GET'), never);
  for (const method of ['POST', 'PUT', 'PATCH'] as const) {
    await assert.rejects(fenced.call(call(method), never), { code: 'Aborted' });
  }
  assert.deepEqual(sent, ['GET', 'POST', 'PUT', 'PATCH', 'GET']);
});

test('a write that the API server makes wait is not sent again once the lease is lost', async () => {
  isHeld = true;
  isLostAtFirst = true;
  sent.length = 0;
  await assert.rejects(fenced.call(call('PATCH'), never), {
    code: 'Aborted',
    message: /another replica may hold the lease/,
  });
  assert.deepEqual(sent, ['PATCH']);
});
