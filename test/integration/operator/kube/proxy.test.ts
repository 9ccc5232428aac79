// A proxy between the operator and the API server, over real sockets, also while it answers nothing. The test controls
// undici's timers, because they do not follow the project's clock.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { after, before, mock, test } from 'node:test';
import { createTransport, type Transport } from '#operator/kube/transport/transport.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import { findFreePort } from '../../../support/free-port.ts';
import { type SteppedClock, steppedClock } from '../../../support/stepped-clock.ts';
import { type ScriptedCluster, startScriptedCluster } from './scripted-cluster.ts';

const address = { resource: { group: '', version: 'v1', plural: 'x', kind: 'X' }, name: 'x' };
const never = new AbortController().signal;
const timeoutMs = 15_000;
/** The least that a transport keeps room for. */
const connections = 16;

interface Proxy {
  readonly url: string;
  /** CONNECTs that it was sent, in order. */
  readonly asked: string[];
  /** Resolves when it has been sent so many. */
  askedTimes(count: number): Promise<void>;
  /** False: it takes a CONNECT and never answers. */
  isAwake: boolean;
  /** What it says to a CONNECT instead of making a way. */
  refusal: string | undefined;
  close(): void;
}

async function startProxy(): Promise<Proxy> {
  const sockets: Socket[] = [];
  const server = createServer();
  const port = await findFreePort();
  const proxy: Proxy = {
    url: `http://127.0.0.1:${port}`,
    asked: [],
    askedTimes: async (count) => {
      while (proxy.asked.length < count) await once(server, 'connect');
    },
    isAwake: true,
    refusal: undefined,
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
  server.on('connection', (socket) => sockets.push(socket));
  server.on('connect', ({ url = '' }, client) => {
    proxy.asked.push(url);
    if (!proxy.isAwake) return;
    if (proxy.refusal !== undefined) {
      client.end(`HTTP/1.1 ${proxy.refusal}\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    const target = connect(Number(url.split(':')[1]), '127.0.0.1');
    sockets.push(target);
    for (const [from, to] of [
      [client, target],
      [target, client],
    ] as const) {
      from.on('error', () => to.destroy());
      from.pipe(to);
    }
    client.write('HTTP/1.1 200 Connection established\r\n\r\n');
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return proxy;
}

let world: ScriptedCluster;
let proxy: Proxy;
let clock: SteppedClock;
let transport: Transport;

before(async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  const begin = globalThis.setTimeout;
  // Node's mocked timers do nothing when they are refreshed; undici makes new ones where they cannot be.
  mock.method(
    globalThis,
    'setTimeout',
    (callback: (...rest: unknown[]) => void, ms: number, ...rest: unknown[]) =>
      Object.assign(
        begin(() => callback(...rest), ms),
        { refresh: undefined },
      ),
  );
  world = await startScriptedCluster();
  proxy = await startProxy();
  clock = steppedClock();
  transport = createTransport({ ...world.connection, proxyUrl: proxy.url }, { clock, timeoutMs });
});
after(async () => {
  mock.restoreAll();
  mock.timers.reset();
  await transport.close();
  proxy.close();
  await world.close();
});

/** `NotFound` is the answer of a server that was reached and accepted us. */
const ask = (): Promise<string> =>
  transport.call({ verb: 'get', method: 'GET', address }, never).then(
    () => 'answered',
    (error: unknown) => (error instanceof ClusterError ? `${error.code}: ${error.message}` : 'not ours'),
  );

test('calls go through the proxy over kept connections', async () => {
  for (let call = 0; call < 10; call += 1) assert.match(await ask(), /^NotFound/);
  assert.ok(proxy.asked.length <= 2, `${proxy.asked.length} connections for 10 calls`);
  assert.equal(proxy.asked[0], new URL(world.connection.server).host);
  assert.equal(world.api.requests.at(-1)?.authorization, 'Bearer token-1');
});

test('a proxy that does not answer CONNECT fails calls at their deadline, and later calls succeed once it answers', {
  timeout: 120_000,
}, async () => {
  await transport.close();
  const begun = proxy.asked.length;
  proxy.isAwake = false;
  transport = createTransport({ ...world.connection, proxyUrl: proxy.url }, { clock, timeoutMs });
  const calls = Array.from({ length: connections }, ask);
  await proxy.askedTimes(begun + connections);
  await clock.pass(timeoutMs);
  for (const answer of await Promise.all(calls))
    assert.match(answer, /^Unavailable: .* did not answer in time/);
  proxy.isAwake = true;
  const next = ask();
  for (let second = 0; second < 30; second += 1) mock.timers.tick(1_000);
  assert.match(await next, /^NotFound/);
});

test('a refusal of a proxy is reported by its status', async () => {
  await transport.close();
  proxy.refusal = '403 Forbidden';
  transport = createTransport({ ...world.connection, proxyUrl: proxy.url }, { clock, timeoutMs });
  assert.match(await ask(), /^Unavailable: .*\(PROXY_ANSWERED_403\)/);
});
