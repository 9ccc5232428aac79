// Connections that links and the export API are reached over, where a proxy takes requests and answers nothing, for
// undici heeds no signal before it is connected; or refuses them, for which undici has no code.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { afterEach, beforeEach, test } from 'node:test';
import type { Dispatcher } from 'undici';
import { createLinkAgent } from '../../../../src/bundle/fetch/link-agent.ts';
import { requestLink } from '../../../../src/bundle/fetch/link-request.ts';
import { createExportApiClient } from '../../../../src/export-api/client.ts';
import { systemClock } from '../../../../src/runtime/clock.ts';
import { requireLink } from '../../../support/storage-server.ts';

const limit = { timeout: 30_000 };
let proxy: Server;
let agent: Dispatcher | undefined;
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

function createAgent(idleTimeoutMs: number): Dispatcher {
  const address = proxy.address();
  assert.ok(typeof address === 'object' && address !== null);
  const httpsProxy = `http://127.0.0.1:${address.port}`;
  agent = createLinkAgent({
    allowPrivateLinks: true,
    idleTimeoutMs,
    proxy: { httpProxy: undefined, httpsProxy, noProxy: undefined },
  });
  return agent;
}

test('a proxy that answers no CONNECT keeps a connection no longer than any other wait', limit, async () => {
  const call = createAgent(5_000).request({ origin: 'https://docs.example.com', path: '/', method: 'GET' });
  await assert.rejects(call);
  await ended;
});

test(
  'a call of the export API ends at its deadline, and when it is called off, on the way too',
  limit,
  async () => {
    const passed = Promise.withResolvers<void>();
    const clock = { ...systemClock, after: () => passed.promise };
    const dispatcher = createAgent(60_000);
    const api = createExportApiClient({
      ...{ baseUrl: 'https://api.example.com', key: 'svc_x', userAgent: 'test' },
      ...{ clock, timeoutMs: 1234, dispatcher },
    });
    const over = new AbortController();
    const asked = once(proxy, 'connect');
    const late = assert.rejects(api.readJob('a', new AbortController().signal), { code: 'RequestTimeout' });
    const off = assert.rejects(api.readJob('b', over.signal), { code: 'Aborted' });
    await asked;
    over.abort();
    await off;
    passed.resolve();
    await late;
  },
);

test('a request for a link ends when it is aborted, before or during the answer', limit, async () => {
  const over = new AbortController();
  const options = {
    dispatcher: createAgent(60_000),
    allowPrivateLinks: true,
    maxRedirects: 2,
    userAgent: 'test',
  };
  const asked = once(proxy, 'connect');
  const call = requestLink(requireLink('https://storage.example.com/b.tar.gz'), options, over.signal);
  const refused = assert.rejects(call, /no longer wanted/);
  await asked;
  over.abort(new Error('no longer wanted'));
  await refused;
});

test('a refusal by the proxy is reported with its status', limit, async () => {
  refusal = '407 Proxy Authentication Required';
  const dispatcher = createAgent(60_000);
  const api = createExportApiClient({
    ...{ baseUrl: 'https://api.example.com', key: 'svc_x', userAgent: 'test' },
    ...{ clock: systemClock, timeoutMs: 20_000, dispatcher },
  });
  const { signal } = new AbortController();
  const told = /PROXY_ANSWERED_407/;
  await assert.rejects(api.readJob('a', signal), { code: 'NetworkError', message: told });
  const options = { dispatcher, allowPrivateLinks: true, maxRedirects: 2, userAgent: 'test' };
  const link = requestLink(requireLink('https://storage.example.com/b.tar.gz'), options, signal);
  await assert.rejects(link, { code: 'DownloadFailed', message: told });
});

test('a proxy variable that cannot be used is no error of the network: no client is created', () => {
  const settings = { httpProxy: undefined, httpsProxy: 'socks5://p:1080', noProxy: undefined };
  assert.throws(() => createLinkAgent({ allowPrivateLinks: true, idleTimeoutMs: 1, proxy: settings }), {
    code: 'InvalidProxy',
  });
});
