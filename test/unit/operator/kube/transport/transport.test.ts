// The transport over real sockets: few connections for many calls, deadlines, retries, and errors that name the request and
// never repeat the answer.

import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import { after, beforeEach, test } from 'node:test';
import type { Credentials } from '#operator/kube/transport/connection.ts';
import { UnfinishedError } from '#operator/kube/transport/exchange.ts';
import { createTransport, type TransportOptions } from '#operator/kube/transport/transport.ts';
import { systemClock } from '#platform/runtime/clock.ts';
import { steppedClock } from '../../../../support/stepped-clock.ts';
import { get, isRefusal, json, never, startLoopbackServer } from '../loopback-server.ts';

const server = await startLoopbackServer();
const seen: { readonly method: string; readonly code: string }[] = [];
const open = (options: Partial<TransportOptions> = {}) =>
  createTransport(server.connection(), {
    clock: systemClock,
    timeoutMs: 60_000,
    observe: (fact) => seen.push(fact),
    ...options,
  });

/** Resolves when undici has read a part of the next answer. */
const firstPart = (): Promise<void> =>
  new Promise((resolve) => {
    const come = (): void => {
      unsubscribe('undici:request:bodyChunkReceived', come);
      resolve();
    };
    subscribe('undici:request:bodyChunkReceived', come);
  });

beforeEach(() => {
  server.connections = 0;
  seen.length = 0;
});
after(() => server.close());

test('many calls one after the other share connections, each with its credentials and our name', async () => {
  const requests: string[] = [];
  server.handle = (request, response) => {
    requests.push(`${request.url} ${request.headers.authorization} ${request.headers['user-agent']}`);
    json(response, 200, { ok: true });
  };
  const transport = open();
  for (let count = 0; count < 20; count += 1) await transport.call(get, never);
  assert.ok(server.connections <= 2, `${server.connections} connections for 20 calls`);
  assert.match(
    requests[0] ?? '',
    /^\/prefix\/api\/v1\/namespaces\/a\/secrets\/b Bearer token-1 static-export-operator\//,
  );
  assert.deepEqual(seen[0], { method: 'GET', code: '200' });
  await transport.close();
});

test('429 and 503 are tried again when the server says when, and only then', async () => {
  for (const [headers, tries] of [
    [{ 'retry-after': '0' }, 4],
    [{}, 1],
    [{ 'retry-after': '3600' }, 1],
  ] as const) {
    let calls = 0;
    server.handle = (_request, response) => {
      calls += 1;
      json(response, 429, { kind: 'Status', message: 'svc_body' }, headers);
    };
    const transport = open();
    await assert.rejects(
      transport.call(get, never),
      isRefusal('TooManyRequests', /limits the rate of requests \(get secrets "b"/),
    );
    assert.equal(calls, tries);
    await transport.close();
  }
});

test('a wait that the server asked for ends in success', async () => {
  let calls = 0;
  server.handle = (_request, response) => {
    calls += 1;
    if (calls < 3) json(response, 503, {}, { 'retry-after': '0' });
    else json(response, 200, { calls });
  };
  const transport = open();
  assert.deepEqual(await transport.call(get, never), { calls: 3 });
  await transport.close();
});

const bad: readonly (readonly [name: string, answer: (response: ServerResponse) => void, message: RegExp])[] =
  [
    [
      'a page',
      (response) => response.end('<html>svc_body</html>'),
      /no usable answer .* to get secrets.*: it is not JSON$/,
    ],
    [
      'a broken connection',
      (response) => response.destroy(),
      /no usable answer .*(UND_ERR_SOCKET|ECONNRESET)/,
    ],
    [
      'a redirect',
      (response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
      /no usable answer/,
    ],
  ];
for (const [name, answer, message] of bad) {
  test(`${name} is Unavailable, without its words`, async () => {
    server.handle = (_request, response) => answer(response);
    const transport = open();
    await assert.rejects(transport.call(get, never), (error) => {
      isRefusal('Unavailable', message)(error);
      return error instanceof Error && !error.message.includes('svc_body');
    });
    await transport.close();
  });
}

test('a call that is not answered ends at its deadline, and at its own shorter one', async () => {
  server.handle = () => {};
  for (const [more, passed] of [
    [{}, 5_000],
    [{ timeoutMs: 1_000 }, 1_000],
  ] as const) {
    const clock = steppedClock();
    const transport = open({ clock, timeoutMs: 5_000 });
    const call = transport.call({ ...get, ...more }, never);
    const outcome = assert.rejects(
      call,
      isRefusal('Unavailable', /: it did not answer in time \(TimeoutError\)/),
    );
    await clock.pass(passed);
    await outcome;
    await transport.close();
  }
});

test('an incomplete answer is reported as such at the deadline, because a smaller page may complete', async () => {
  server.handle = (_request, response) => void response.writeHead(200).write('{"items": [');
  const begun = firstPart();
  const clock = steppedClock();
  const transport = open({ clock, timeoutMs: 5_000 });
  const outcome = assert.rejects(transport.call(get, never), (error) => {
    isRefusal('Unavailable', /: it did not end in time$/)(error);
    return error instanceof Error && error.cause instanceof UnfinishedError;
  });
  await begun;
  await clock.pass(5_000);
  await outcome;
  await transport.close();
});

test('a call that is stopped in the middle of its answer was not too slow', async () => {
  server.handle = (_request, response) => void response.writeHead(200).write('{"items": [');
  const begun = firstPart();
  const transport = open();
  const caller = new AbortController();
  const outcome = assert.rejects(transport.call(get, caller.signal), (error) => {
    isRefusal('Aborted', /stopped/)(error);
    return error instanceof Error && !(error.cause instanceof UnfinishedError);
  });
  await begun;
  caller.abort();
  await outcome;
  await transport.close();
});

test('a call that is stopped while it waits for a connection ends at once, and is never sent', async () => {
  let arrived = 0;
  const all = Promise.withResolvers<void>();
  const held: (() => void)[] = [];
  server.handle = (request, response) => {
    if (request.url?.endsWith('/late') === true) assert.fail('sent');
    held.push(() => json(response, 200, {}));
    arrived += 1;
    if (arrived === 16) all.resolve();
  };
  const transport = open();
  const busy = Array.from({ length: 16 }, () => transport.call(get, never));
  await all.promise;
  const caller = new AbortController();
  const late = { ...get, address: { ...get.address, name: 'late' } };
  const waiting = assert.rejects(transport.call(late, caller.signal), isRefusal('Aborted', /stopped/));
  await new Promise((resolve) => setImmediate(resolve));
  caller.abort();
  await waiting;
  for (const answer of held) answer();
  assert.equal((await Promise.all(busy)).length, 16);
  await transport.close();
});

test('a watch ends at its deadline, and on abort, while it connects', {
  timeout: 60_000,
}, async (t) => {
  // Takes connections, and says nothing of TLS.
  const dark = createServer((socket) => socket.on('error', () => {}).resume());
  await new Promise<void>((resolve) => dark.listen(0, '127.0.0.1', resolve));
  t.after(() => dark.close());
  const address = dark.address();
  assert.ok(typeof address === 'object' && address !== null);
  const clock = steppedClock();
  const connection = { ...server.connection(), server: `https://127.0.0.1:${address.port}` };
  const transport = createTransport(connection, { clock, timeoutMs: 5_000 });
  t.after(() => transport.close());
  const caller = new AbortController();
  const connected = once(dark, 'connection');
  const stopped = assert.rejects(transport.stream(get, caller.signal), isRefusal('Aborted', /stopped/));
  const late = assert.rejects(
    transport.stream(get, never),
    isRefusal('Unavailable', /: it did not answer in time \(TimeoutError\)/),
  );
  await connected;
  caller.abort();
  await stopped;
  await clock.pass(5_000);
  await late;
});

test('missing credentials end a call at its deadline too', async () => {
  const clock = steppedClock();
  const stuck = { ...server.connection(), authenticate: () => new Promise<Credentials>(() => {}) };
  const transport = createTransport(stuck, { clock, timeoutMs: 5_000 });
  const outcome = assert.rejects(
    transport.call(get, never),
    isRefusal('Unavailable', /credentials .* did not arrive in time/),
  );
  await clock.pass(5_000);
  await outcome;
});

test('calls that need credentials at once share one asking for them, which is good for a second', async () => {
  const clock = steppedClock();
  server.handle = (_request, response) => json(response, 200, {});
  const answers: ((credentials: Credentials) => void)[] = [];
  const asking = {
    ...server.connection(),
    authenticate: () => new Promise<Credentials>((resolve) => answers.push(resolve)),
  };
  const transport = createTransport(asking, { clock, timeoutMs: 5_000 });
  const together = Array.from({ length: 5 }, () => transport.call(get, never));
  assert.equal(answers.length, 1);
  answers[0]?.({ headers: {}, tls: {} });
  assert.deepEqual(await Promise.all(together), [{}, {}, {}, {}, {}]);
  assert.deepEqual([await transport.call(get, never), answers.length], [{}, 1]);
  await clock.pass(1_000);
  const last = transport.call(get, never);
  assert.equal(answers.length, 2);
  answers[1]?.({ headers: {}, tls: {} });
  assert.deepEqual(await last, {});
  await transport.close();
});

test('a call that was aborted before it began requests no credentials', async () => {
  const unheard: unknown[] = [];
  const listen = (reason: unknown): void => void unheard.push(reason);
  process.on('unhandledRejection', listen);
  let asked = 0;
  const authenticate = (): Promise<Credentials> => {
    asked += 1;
    return Promise.reject(new Error('ENOENT'));
  };
  const failing = { ...server.connection(), authenticate };
  const transport = createTransport(failing, { clock: systemClock, timeoutMs: 60_000 });
  await assert.rejects(transport.call(get, AbortSignal.abort()), isRefusal('Aborted', /stopped/));
  await new Promise((resolve) => setImmediate(resolve));
  process.off('unhandledRejection', listen);
  assert.deepEqual([asked, unheard], [0, []]);
  await transport.close();
});

test('a stream without headers ends at the deadline; a running one has none', async () => {
  const clock = steppedClock();
  const transport = open({ clock, timeoutMs: 5_000 });
  server.handle = () => {};
  const late = assert.rejects(
    transport.stream(get, never),
    isRefusal('Unavailable', /: it did not answer in time \(TimeoutError\)/),
  );
  await clock.pass(5_000);
  await late;
  let finish = (): void => {};
  server.handle = (_request, response) => {
    response.write('one');
    finish = () => response.end('two');
  };
  const chunks = await transport.stream(get, never);
  await clock.pass(3_600_000);
  finish();
  let text = '';
  for await (const chunk of chunks) text += Buffer.from(chunk).toString();
  assert.equal(text, 'onetwo');
  await transport.close();
});

test("the caller's abort is Aborted, not a failure of the server", async () => {
  server.handle = () => {};
  const transport = open();
  const stop = new AbortController();
  const call = transport.call(get, stop.signal);
  stop.abort();
  await assert.rejects(call, isRefusal('Aborted', /stopped before the answer/));
  await transport.close();
});
