// The transport after a failed first attempt: closed connections, waits beyond the deadline, replaced tokens, fenced writes,
// endless answers, and a deadline of minutes.

import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import { after, test } from 'node:test';
import type { Connection } from '#operator/kube/transport/connection.ts';
import { type Call, createTransport, type TransportOptions } from '#operator/kube/transport/transport.ts';
import { systemClock } from '#platform/runtime/clock.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import { eventually } from '../../../../support/eventually.ts';
import { steppedClock } from '../../../../support/stepped-clock.ts';
import { get, isRefusal, json, never, startLoopbackServer } from '../loopback-server.ts';

const server = await startLoopbackServer();
after(() => server.close());
const open = (options: Partial<TransportOptions> = {}, connection = server.connection()) =>
  createTransport(connection, { clock: systemClock, timeoutMs: 60_000, ...options });
const patch: Call = { ...get, verb: 'patch', method: 'PATCH', body: {} };

/** Closes the connection on the first requests, without a byte of an answer. */
function closeFirst(count: number): readonly string[] {
  const methods: string[] = [];
  server.handle = (request, response) => {
    methods.push(request.method ?? '');
    if (methods.length <= count) response.destroy();
    else json(response, 200, { ok: true });
  };
  return methods;
}

test('a GET on a connection that the server closes is sent once again, as a call and as a watch', async () => {
  const transport = open();
  let methods = closeFirst(1);
  assert.deepEqual(await transport.call(get, never), { ok: true });
  assert.deepEqual(methods, ['GET', 'GET']);
  methods = closeFirst(1);
  let text = '';
  for await (const chunk of await transport.stream(get, never)) text += Buffer.from(chunk).toString();
  assert.deepEqual([text, methods], ['{"ok":true}', ['GET', 'GET']]);
  methods = closeFirst(2);
  await assert.rejects(
    transport.call(get, never),
    isRefusal('Unavailable', /\((UND_ERR_SOCKET|ECONNRESET)\)/),
  );
  assert.deepEqual(methods, ['GET', 'GET'], 'no repeat of a repeat');
  await transport.close();
});

test('a write is not sent again, because its outcome is unknown', async () => {
  const transport = open();
  const methods = closeFirst(1);
  await assert.rejects(transport.call(patch, never), isRefusal('Unavailable', /UND_ERR_SOCKET|ECONNRESET/));
  assert.deepEqual(methods, ['PATCH']);
  await transport.close();
});

test('an answer that breaks off is not asked for again', async () => {
  let requests = 0;
  server.handle = (_request, response) => {
    requests += 1;
    response.writeHead(200, { 'content-length': 20 }).write('{}', () => response.destroy());
  };
  const transport = open();
  await assert.rejects(transport.call(get, never), isRefusal('Unavailable', /UND_ERR_SOCKET|ECONNRESET/));
  assert.equal(requests, 1);
  await transport.close();
});

test('a Retry-After beyond the deadline is not waited for: the call ends with the refusal', async () => {
  const clock = steppedClock();
  let requests = 0;
  server.handle = (_request, response) => {
    requests += 1;
    json(response, 429, {}, { 'retry-after': '2' });
  };
  const transport = open({ clock, timeoutMs: 5_000 });
  const call = transport.call(get, never).catch((error: unknown) => error);
  for (const expected of [1, 2]) {
    // One wait is for the deadline, the other one is the Retry-After.
    const isWaiting = (): boolean => requests === expected && clock.waiting() === 2;
    await eventually(`answer ${expected} is waited for`, () => isWaiting() || undefined, { everyMs: 1 });
    await clock.pass(2_000);
  }
  const error = await call;
  assert.equal(requests, 3);
  assert.ok(error instanceof ClusterError);
  assert.deepEqual([error.code, error.retryAfterMs], ['TooManyRequests', 2_000]);
  await transport.close();
});

/** A server that accepts one token, and a source that is read again only after renew(). */
function rotating() {
  let accepted = 'one';
  let inSource = 'one';
  let read = 'one';
  let renewals = 0;
  server.handle = (request: IncomingMessage, response) =>
    json(response, request.headers.authorization === `Bearer ${accepted}` ? 200 : 401, {});
  const connection: Connection = {
    ...server.connection(),
    authenticate: async () => ({ headers: { Authorization: `Bearer ${read}` }, tls: {} }),
    renew: () => {
      renewals += 1;
      read = inSource;
    },
  };
  return {
    connection,
    renewals: () => renewals,
    rotate: (token: string, isInSource = true) => {
      accepted = token;
      if (isInSource) inSource = token;
    },
  };
}

test('a rotated token costs none of sixteen calls that are under way, and is read again once', async () => {
  const source = rotating();
  const transport = open({ clock: steppedClock() }, source.connection);
  await transport.call(get, never);
  source.rotate('two');
  const answers = await Promise.all(Array.from({ length: 16 }, () => transport.call(get, never)));
  assert.equal(answers.length, 16);
  assert.equal(source.renewals(), 1);
  await transport.close();
});

test('a revoked token costs each of sixteen calls two requests at most', async () => {
  const source = rotating();
  const codes: string[] = [];
  const transport = open(
    { clock: steppedClock(), observe: ({ code }) => codes.push(code) },
    source.connection,
  );
  source.rotate('unknown to us', false);
  const calls = Array.from({ length: 16 }, () => transport.call(get, never));
  for (const call of calls) await assert.rejects(call, isRefusal('Unauthorized', /did not accept/));
  assert.ok(codes.length <= 32, `${codes.length} requests`);
  assert.equal(source.renewals(), 1);
  await transport.close();
});

test('a call whose token is always refused while other calls get newer ones fails after four attempts', async () => {
  const clock = steppedClock();
  let given = 0;
  let refused = 0;
  const connection: Connection = {
    ...server.connection(),
    authenticate: async () => {
      given += 1;
      return { headers: { Authorization: `Bearer ${given}` }, tls: {} };
    },
  };
  const transport = open({ clock, timeoutMs: 60_000 }, connection);
  const other: Call = { ...get, address: { ...get.address, name: 'other' } };
  server.handle = (request, response) => {
    if (request.url?.endsWith('/other') === true) {
      json(response, 200, {});
      return;
    }
    refused += 1;
    const refuse = (): void => json(response, 401, {});
    // Credentials are good for a second; after it, the other call asks for newer ones.
    clock.pass(1_000).then(() => transport.call(other, never).then(refuse, refuse), refuse);
  };
  await assert.rejects(transport.call(get, never), isRefusal('Unauthorized', /did not accept/));
  assert.equal(refused, 4);
  await transport.close();
});

test('the permit of a write is asked before each attempt, and its refusal ends the call', async () => {
  let isHeld = true;
  const refusal = new ClusterError('Aborted', 'no longer ours');
  const permit = (): void => {
    if (!isHeld) throw refusal;
  };
  let requests = 0;
  server.handle = (_request, response) => {
    requests += 1;
    isHeld = false;
    json(response, 429, {}, { 'retry-after': '0' });
  };
  const transport = open();
  await assert.rejects(transport.call({ ...patch, permit }, never), refusal);
  assert.equal(requests, 1);
  isHeld = true;
  const late: Connection = {
    ...server.connection(),
    authenticate: async () => {
      isHeld = false;
      return { headers: {}, tls: {} };
    },
  };
  const slow = open({}, late);
  await assert.rejects(slow.call({ ...patch, permit }, never), refusal);
  assert.equal(requests, 1);
  await slow.close();
  await transport.close();
});

test('the permit of a write that waited for a connection is asked once it has one', async () => {
  let isHeld = true;
  const refusal = new ClusterError('Aborted', 'no longer ours');
  const permit = (): void => {
    if (!isHeld) throw refusal;
  };
  const waiting: (() => void)[] = [];
  const all = Promise.withResolvers<void>();
  server.handle = (request, response) => {
    assert.equal(request.method, 'GET');
    waiting.push(() => json(response, 200, {}));
    if (waiting.length === 16) all.resolve();
  };
  const transport = open();
  const busy = Array.from({ length: 16 }, () => transport.call(get, never));
  await all.promise;
  const write = transport.call({ ...patch, permit }, never).catch((error: unknown) => error);
  await new Promise((resolve) => setImmediate(resolve));
  isHeld = false;
  for (const answer of waiting) answer();
  await Promise.all(busy);
  assert.equal(await write, refusal);
  await transport.close();
});

test('every call within callsAtOnce finds a connection', async () => {
  const held: (() => void)[] = [];
  const all = Promise.withResolvers<void>();
  server.handle = (_request, response) => {
    held.push(() => json(response, 200, {}));
    if (held.length === 40) all.resolve();
  };
  const transport = open({ callsAtOnce: 40 });
  const busy = Array.from({ length: 40 }, () => transport.call(get, never));
  await all.promise;
  for (const answer of held) answer();
  assert.equal((await Promise.all(busy)).length, 40);
  await transport.close();
});

test('an endless answer is dropped at 64 MiB, or at the limit of the call, with an error that says so', async () => {
  const part = Buffer.alloc(1024 * 1024, ' ');
  let sentBytes = 0;
  function* endless(): Generator<Buffer> {
    for (;;) {
      sentBytes += part.byteLength;
      yield part;
    }
  }
  for (const [status, way, bound] of [
    [200, 'call', {}],
    [200, 'call', { maxBytes: 3 * 1024 * 1024 }],
    [500, 'stream', {}],
  ] as const) {
    server.handle = (_request, response) => {
      sentBytes = 0;
      response.writeHead(status);
      // Waits where the client does not read: a write that only waits for its callback starves the client in this thread.
      pipeline(Readable.from(endless(), { highWaterMark: 1 }), response, () => {});
    };
    const transport = open({ timeoutMs: 60_000 });
    const mebibytes = bound.maxBytes === undefined ? 64 : 3;
    await assert.rejects(
      transport[way]({ ...get, ...bound }, never),
      isRefusal(
        'Unavailable',
        new RegExp(`to get secrets "b".* is larger than ${mebibytes} MiB and not read`),
      ),
    );
    assert.ok(sentBytes >= mebibytes * 1024 * 1024);
    assert.ok(mebibytes === 64 || sentBytes < 64 * 1024 * 1024);
    await transport.close();
  }
});
