// Connections to a server whose authority is renewed while they are in use, over real TLS and virtual time.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createPlainServer, type ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { keepRenewed, RenewedAgent } from '#platform/http/renewed-agent.ts';
import { createAuthority } from '../../../support/pki.ts';
import { steppedClock } from '../../../support/stepped-clock.ts';

const names = { dns: ['localhost'], ips: ['127.0.0.1'] };
const minuteMs = 60_000;
const { signal } = new AbortController();

test('a renewed CA certificate is trusted within a minute, and requests in progress finish', async (t) => {
  const [before, after] = await Promise.all([createAuthority(), createAuthority()]);
  const [old, fresh] = await Promise.all([before.issueServer(names), after.issueServer(names)]);
  const held: ServerResponse[] = [];
  const server = createServer({ cert: old.certificatePem, key: old.keyPem }, (request, response) => {
    if (request.url === '/held') held.push(response);
    else response.end('answered');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const origin = `https://127.0.0.1:${address.port}`;

  let pem = before.certificatePem;
  const clock = steppedClock();
  const options = { allowPrivateAddresses: true, idleTimeoutMs: 10_000, proxy: undefined };
  const agent = new RenewedAgent(options, pem);
  const closing = new AbortController();
  const renewing = keepRenewed([agent], { current: async () => pem }, clock, closing.signal);
  const ask = async (path: string): Promise<string> => {
    const { body } = await agent.send({ method: 'GET', url: new URL(path, origin), headers: {} }, signal);
    return text(body);
  };

  assert.equal(await ask('/'), 'answered');
  const asked = once(server, 'request');
  const underWay = ask('/held');
  await asked;
  server.setSecureContext({ cert: fresh.certificatePem, key: fresh.keyPem });
  pem = after.certificatePem;
  await clock.pass(minuteMs);
  assert.equal(await ask('/'), 'answered');
  for (const response of held) response.end('in the end');
  assert.equal(await underWay, 'in the end');

  pem = before.certificatePem;
  await clock.pass(minuteMs);
  await assert.rejects(ask('/'), { code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' });
  closing.abort();
  await Promise.all([renewing, agent.destroy()]);
});

test('closing ends requests in progress, also of replaced agents, and nothing is renewed afterwards', async (t) => {
  const server = createPlainServer(() => {}).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const [before, after] = await Promise.all([createAuthority(), createAuthority()]);
  const agent = new RenewedAgent(
    { allowPrivateAddresses: true, idleTimeoutMs: 10_000 },
    before.certificatePem,
  );
  const url = new URL(`http://127.0.0.1:${address.port}/`);
  const ask = () => agent.send({ method: 'GET', url, headers: {} }, signal);
  const asked = once(server, 'request');
  const underWay = assert.rejects(ask(), { code: 'UND_ERR_DESTROYED' });
  await asked;
  agent.renew(after.certificatePem);
  await agent.destroy();
  await underWay;
  agent.renew(before.certificatePem);
  await assert.rejects(ask(), { code: 'UND_ERR_DESTROYED' });
});
