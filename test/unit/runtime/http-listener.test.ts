import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, get, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { test } from 'node:test';
import { type Clock, systemClock } from '../../../src/runtime/clock.ts';
import { ListenError, listenHttp } from '../../../src/runtime/http-listener.ts';

const local = { host: '127.0.0.1', port: 0 };
const now = { lingerMs: 0, graceMs: 5_000 };

test('a request under way gets its answer although the listener is closing', async () => {
  let answer: ServerResponse | undefined;
  const arrived = Promise.withResolvers<void>();
  const listener = await listenHttp(
    local,
    (_request, response) => {
      answer = response;
      arrived.resolve();
    },
    systemClock,
  );
  const reply = fetch(listener.url);
  await arrived.promise;
  const closed = listener.close(now);
  answer?.end('whole');
  assert.equal(await (await reply).text(), 'whole');
  await closed;
});

test('while it lingers, new requests are answered with Connection: close', async () => {
  const listener = await listenHttp(local, (_request, response) => response.end('ok'), systemClock);
  const lingering = listener.close({ lingerMs: 200, graceMs: 1_000 });
  assert.equal(listener.isDraining(), true);
  const agent = new Agent({ keepAlive: true });
  const [response]: IncomingMessage[] = await once(get(listener.url, { agent }), 'response');
  assert.equal(response?.statusCode, 200);
  assert.equal(response?.headers.connection, 'close');
  response?.resume();
  agent.destroy();
  await lingering;
});

test('a request that outlives the grace is cut, so that closing ends', async () => {
  const arrived = Promise.withResolvers<void>();
  const listener = await listenHttp(local, () => arrived.resolve(), systemClock);
  const reply = fetch(listener.url);
  const cut = assert.rejects(reply);
  await arrived.promise;
  await listener.close({ lingerMs: 0, graceMs: 20 });
  await cut;
});

test('a connection opened ahead of need does not hold up the end', async () => {
  // A grace that never ends: if closing waited for it, this test would not end either.
  const clock: Clock = {
    ...systemClock,
    after: (ms, signal) =>
      ms > 0 ? once(signal ?? assert.fail(), 'abort').then(() => assert.fail()) : systemClock.after(ms),
  };
  const listener = await listenHttp(local, () => {}, clock);
  const unused = connect(listener.port, '127.0.0.1');
  const cut = new Promise((resolve) => unused.on('error', () => {}).once('close', resolve));
  unused.resume();
  await once(unused, 'connect');
  await listener.close(now);
  await cut;
});

test('an address in use is a clear error', async () => {
  const first = await listenHttp(local, () => {}, systemClock);
  await assert.rejects(
    listenHttp({ host: '127.0.0.1', port: first.port }, () => {}, systemClock),
    (error) => {
      assert.ok(error instanceof ListenError);
      assert.equal(error.code, 'EADDRINUSE');
      assert.match(error.message, /choose another port/);
      return true;
    },
  );
  await first.close(now);
});

test('garbage on the wire gets 400 and costs its own connection only', async () => {
  const listener = await listenHttp(local, (_request, response) => response.end('ok'), systemClock);
  const socket = connect(listener.port, '127.0.0.1');
  socket.write('NOT HTTP AT ALL\r\n\r\n');
  const [chunk]: Buffer[] = await once(socket, 'data');
  assert.match(String(chunk), /^HTTP\/1\.1 400 /);
  socket.destroy();
  assert.equal((await fetch(listener.url)).status, 200);
  await listener.close(now);
});
