// Connections through a proxy that takes requests and answers nothing, because undici heeds no signal before it is connected;
// or refuses them, for which undici has no code. And bodies that do not end.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { createAgent, type HttpAgent } from '#platform/http/agent.ts';
import { readConnectionFault } from '#platform/http/connection-fault.ts';
import { isPassing, nextHop, readWhole } from '#platform/http/exchange.ts';

const limit = { timeout: 30_000 };
let proxy: Server;
let agent: HttpAgent | undefined;
/** Of the first connection that asked for a way to somewhere. */
let ended: Promise<void>;
/** What it says to whoever asks for a way; absent: nothing. */
let refusal: string | undefined;

beforeEach(async () => {
  refusal = undefined;
  proxy = createServer().listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  ended = new Promise((resolve) => {
    proxy.on('connect', (_request, socket) => {
      const close = (): void => {
        socket.destroy();
        resolve();
      };
      socket.on('error', close).on('end', close).resume();
      if (refusal !== undefined) socket.end(`HTTP/1.1 ${refusal}\r\nContent-Length: 0\r\n\r\n`);
    });
  });
});
afterEach(async () => {
  await agent?.destroy();
  proxy.close();
});

function openProxied(idleTimeoutMs: number): HttpAgent {
  const address = proxy.address();
  assert.ok(typeof address === 'object' && address !== null);
  const httpsProxy = `http://127.0.0.1:${address.port}`;
  const settings = { httpProxy: undefined, httpsProxy, noProxy: undefined };
  agent = createAgent({ allowPrivateAddresses: true, idleTimeoutMs, proxy: settings });
  return agent;
}

const { signal } = new AbortController();
const request = { method: 'GET', url: new URL('https://docs.example.com/'), headers: {} };

test('a proxy that answers no CONNECT keeps a connection no longer than any other wait', limit, async () => {
  await assert.rejects(openProxied(5_000).send(request, signal));
  await ended;
});

test('a request ends with the reason of its abort, on the way to the proxy too', limit, async () => {
  const caller = new AbortController();
  const asked = once(proxy, 'connect');
  const refused = assert.rejects(openProxied(60_000).send(request, caller.signal), /no longer wanted/);
  await asked;
  caller.abort(new Error('no longer wanted'));
  await refused;
});

test('a refusal by the proxy is reported with its status', limit, async () => {
  refusal = '407 Proxy Authentication Required';
  await assert.rejects(openProxied(60_000).send(request, signal), (error) => {
    const { kind, what } = readConnectionFault(error);
    assert.equal(kind, 'unreachable');
    assert.match(what, /through the proxy \(PROXY_ANSWERED_407\)$/);
    return true;
  });
});

test('a proxy variable that cannot be used is no error of the network: no client is created', () => {
  const settings = { httpProxy: undefined, httpsProxy: 'socks5://p:1080', noProxy: undefined };
  const options = { allowPrivateAddresses: true, idleTimeoutMs: 1, proxy: settings };
  assert.throws(() => createAgent(options), { code: 'InvalidProxy' });
});

test(
  'a literal internal address is refused before anything is sent, also behind a proxy',
  limit,
  async () => {
    const guarded = createAgent({ allowPrivateAddresses: false, idleTimeoutMs: 1 });
    for (const host of ['127.0.0.1', '[::1]', 'localhost.', '169.254.169.254']) {
      const sent = guarded.send({ ...request, url: new URL(`https://${host}/`) }, signal);
      await assert.rejects(sent, { code: 'InternalAddress' }, host);
    }
    await guarded.destroy();
  },
);

describe('the body of an answer', () => {
  const head = (statusCode: number) => ({ statusCode, headers: {} });
  const endless = (): Readable =>
    Readable.from(
      (async function* () {
        for (;;) yield Buffer.alloc(1000, 'x');
      })(),
    );
  const breaking = (): Readable =>
    Readable.from(
      (async function* () {
        yield Buffer.from('start');
        throw new Error('reset');
      })(),
    ).on('error', () => {});

  test('is cut at the bound, whatever the status', async () => {
    for (const status of [200, 403]) {
      const { bytes, isCut } = await readWhole({ ...head(status), body: endless() }, 8192);
      assert.deepEqual([bytes.length, isCut], [8192, true]);
    }
  });

  test('of a refusal is judged by what came before it broke off, and that of a success is an error', async () => {
    const { bytes, isCut } = await readWhole({ ...head(403), body: breaking() }, 100);
    assert.deepEqual([String(bytes), isCut], ['start', true]);
    await assert.rejects(readWhole({ ...head(200), body: breaking() }, 100), /reset/);
  });

  test('ends with the caller’s reason', async () => {
    const stopped = AbortSignal.abort(new Error('stop'));
    await assert.rejects(readWhole({ ...head(403), body: breaking() }, 100, stopped), /stop/);
  });
});

test('408, 425, 429 and 5xx may pass, and the next hop is the first Location', () => {
  const passing = [200, 304, 401, 404, 408, 409, 425, 429, 500, 503].filter((statusCode) =>
    isPassing({ statusCode, headers: {} }),
  );
  assert.deepEqual(passing, [408, 425, 429, 500, 503]);
  const from = new URL('https://a.example.com/x');
  const hop = (location?: string | string[]) =>
    nextHop(from, { statusCode: 302, headers: { location } })?.href;
  assert.equal(hop('/y'), 'https://a.example.com/y');
  assert.equal(hop(['/y', '/z']), 'https://a.example.com/y');
  assert.equal(hop('http://['), undefined);
  assert.equal(hop(), undefined);
});
