import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { type Clock, systemClock } from '#platform/runtime/clock.ts';
import { type HttpListener, listenHttp } from '#platform/runtime/http/http-listener.ts';
import type { HeldBytes } from '#server/content/body-cache.ts';
import {
  type AnswerPlainly,
  type PlainOptions,
  plainConnections,
} from '#server/fast-path/plain-connections.ts';
import { eventually } from '../../../support/eventually.ts';

const local = { host: '127.0.0.1', port: 0 };
const now = { lingerMs: 0, graceMs: 5_000 };
const never = 3_600_000;

/** A grace that never ends: what waits for it makes its test hang. */
const endlessGrace: Clock = {
  ...systemClock,
  after: (ms, signal) =>
    ms > 0 ? once(signal ?? assert.fail(), 'abort').then(() => assert.fail()) : systemClock.after(ms),
};

const size = 32 * 1024 * 1024;

/** Answers `quick` and `large` by itself, each with a `|` behind it; the rest is for the full server. */
async function listen(
  { keepAliveTimeout, ...options }: Partial<PlainOptions> & { readonly keepAliveTimeout?: number } = {},
  clock: Clock = systemClock,
): Promise<{
  readonly listener: HttpListener;
  readonly held: () => number;
  readonly holds: () => number;
  readonly asked: () => number;
}> {
  let asked = 0;
  let held = 0;
  let holds = 0;
  const memory: HeldBytes = {
    hold: () => {
      held += 1;
      holds += 1;
    },
    release: () => {
      held -= 1;
    },
  };
  const large = Buffer.alloc(size, 'x');
  const plain: PlainOptions = {
    answer: (piece, send) => {
      asked += 1;
      const text = piece.toString('latin1');
      if (text === 'quick') return send('qui', 'ck', '|');
      if (text === 'large') return send('', '', large, memory);
      return false;
    },
    stalledMs: never,
    ...options,
  };
  const first = plainConnections(plain);
  const listener = await listenHttp(
    local,
    (_request, response) => response.end('full'),
    clock,
    keepAliveTimeout === undefined ? {} : { keepAliveTimeout },
    { first },
  );
  return { listener, held: () => held, holds: () => holds, asked: () => asked };
}

interface Waiting {
  /** Leaves the piece to the full server. */
  readonly leave: () => void;
  /** @returns what sending returned */
  readonly answer: () => boolean;
}

/** Each piece waits until the test says what becomes of it. */
function waitingAnswers(): { readonly answer: AnswerPlainly; readonly next: () => Promise<Waiting> } {
  const pieces: Waiting[] = [];
  return {
    answer: (piece, send) =>
      new Promise((resolve) => {
        pieces.push({
          leave: () => resolve(false),
          answer: () => {
            const isSent = send(`${piece}`.slice(0, 5), '', '|');
            resolve(isSent);
            return isSent;
          },
        });
      }),
    next: () => eventually('a piece waits', async () => pieces.shift(), { everyMs: 1 }),
  };
}

async function open({ port }: HttpListener): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').setNoDelay(true);
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

async function say(socket: Socket, text: string): Promise<string> {
  socket.write(text);
  const [piece]: Buffer[] = await once(socket, 'data');
  return String(piece);
}

const request = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

test('the server does not see what the fast path answers; it gets the first other piece and all that follows', async () => {
  const { listener } = await listen();
  const socket = await open(listener);
  assert.equal(await say(socket, 'quick'), 'quick|');
  assert.equal(await say(socket, 'quick'), 'quick|');
  assert.match(await say(socket, request), /^HTTP\/1\.1 200 OK\r\n.*full$/s);
  assert.match(await say(socket, request), /^HTTP\/1\.1 200 OK\r\n.*full$/s);
  assert.match(await say(socket, 'quick\r\n'), /^HTTP\/1\.1 400 /);
  socket.destroy();
  await listener.close(now);
});

test('a request that comes in parts is read whole by the server', async () => {
  const { listener } = await listen();
  const socket = await open(listener);
  for (const byte of request.slice(0, -1)) {
    await new Promise((resolve) => socket.write(byte, resolve));
    await systemClock.after(0);
  }
  assert.match(await say(socket, request.slice(-1)), /^HTTP\/1\.1 200 OK\r\n/);
  socket.destroy();
  await listener.close(now);
});

test('a connection that was opened ahead is closed without an answer when it was idle for too long', async () => {
  const { listener, asked } = await listen({ keepAliveTimeout: 20 });
  const socket = await open(listener);
  socket.on('data', (piece: Buffer) => assert.fail(`an answer came: ${piece}`));
  await once(socket, 'close');
  assert.equal(asked(), 0);
  await listener.close(now);
});

test('an idle connection is closed after its last request', async () => {
  const { listener } = await listen({ keepAliveTimeout: 20 });
  const socket = await open(listener);
  assert.equal(await say(socket, 'quick'), 'quick|');
  await once(socket.resume(), 'close');
  await listener.close(now);
});

test('a reader that takes its time gets all of it, and what it asks meanwhile afterwards', async () => {
  const { listener, held, holds } = await listen();
  const socket = await open(listener);
  socket.pause();
  socket.write('large');
  while (holds() === 0) await systemClock.after(1);
  assert.equal(held(), 1);
  socket.write('quick');
  await systemClock.after(5);
  let received = 0;
  let end = '';
  socket.on('data', (piece: Buffer) => {
    received += piece.length;
    end = piece.toString('latin1').slice(-6);
    if (received === size + 6) socket.end();
  });
  socket.resume();
  await once(socket, 'close');
  assert.equal(received, size + 6);
  assert.equal(end, 'quick|');
  assert.equal(held(), 0);
  await listener.close(now);
});

test('a reader that reads nothing is disconnected, and its memory is released', async () => {
  const { listener, held, holds } = await listen({ stalledMs: 20 });
  const socket = await open(listener);
  socket.pause();
  socket.write('large');
  while (holds() === 0 || held() > 0) await systemClock.after(1);
  socket.destroy();
  await listener.close(now);
});

test('a reader that reads nothing is disconnected although it sends a byte now and then', async () => {
  const { listener, held, holds } = await listen({ stalledMs: 100 });
  const socket = await open(listener);
  socket.pause();
  socket.write('large');
  while (holds() === 0) await systemClock.after(1);
  await eventually(
    'it is cut',
    () => {
      socket.write('x');
      return held() === 0 ? true : undefined;
    },
    { everyMs: 10 },
  );
  socket.destroy();
  await listener.close(now);
});

test('a reader that leaves in the middle releases its memory', async () => {
  const { listener, held, holds } = await listen();
  const socket = await open(listener);
  socket.pause();
  socket.write('large');
  while (holds() === 0) await systemClock.after(1);
  socket.resetAndDestroy();
  while (held() > 0) await systemClock.after(1);
  await listener.close(now);
});

test('once it drains, the server answers, and says that it is the last', async () => {
  const linger = Promise.withResolvers<void>();
  const lingerMs = 100;
  const after: Clock['after'] = (ms, signal) =>
    ms === lingerMs ? linger.promise : systemClock.after(ms, signal);
  const { listener } = await listen({}, { ...systemClock, after });
  const socket = await open(listener);
  assert.equal(await say(socket, 'quick'), 'quick|');
  const closing = listener.close({ lingerMs, graceMs: 5_000 });
  assert.match(await say(socket, request), /\r\nConnection: close\r\n/);
  linger.resolve();
  await closing;
});

test('after a shutdown idle connections are closed, and an answer under way is the last', async () => {
  const { listener, holds } = await listen({}, endlessGrace);
  const [unused, idle, busy] = [await open(listener), await open(listener), await open(listener)];
  assert.equal(await say(idle, 'quick'), 'quick|');
  busy.pause();
  busy.write('large');
  while (holds() === 0) await systemClock.after(1);
  const gone = Promise.all([unused, idle].map((socket) => once(socket.resume(), 'close')));
  const closed = listener.close(now);
  await gone;
  let received = 0;
  busy.on('data', (piece: Buffer) => {
    received += piece.length;
  });
  busy.resume();
  await once(busy, 'end');
  assert.equal(received, size);
  busy.destroy();
  await closed;
});

test('a request behind the last answer does not delay the end', async () => {
  const { listener, holds } = await listen({}, endlessGrace);
  const socket = await open(listener);
  socket.pause();
  socket.write('large');
  while (holds() === 0) await systemClock.after(1);
  await new Promise((resolve) => socket.write('quick', resolve));
  await systemClock.after(20);
  const closed = listener.close(now);
  await systemClock.after(0);
  let received = 0;
  socket.on('data', (piece: Buffer) => {
    received += piece.length;
  });
  socket.resume();
  await once(socket, 'end');
  await closed;
  assert.equal(received, size, 'the last answer is whole, and nothing is behind it');
});

test('a reader that outlives the grace is cut, so that closing ends', async () => {
  const { listener, holds } = await listen();
  const socket = await open(listener);
  socket.pause();
  socket.write('large');
  while (holds() === 0) await systemClock.after(1);
  await listener.close({ lingerMs: 0, graceMs: 20 });
  socket.destroy();
});

test('nothing more is read of a connection while its answer is made; then it goes on', async () => {
  const { answer, next } = waitingAnswers();
  const { listener } = await listen({ answer, keepAliveTimeout: 500 });
  const socket = await open(listener);
  socket.write('first');
  const first = await next();
  socket.write('other');
  await systemClock.after(1_500);
  const read = once(socket, 'data');
  assert.equal(first.answer(), true);
  assert.equal(`${await read}`, 'first|');
  const other = await next();
  const readNext = once(socket, 'data');
  assert.equal(other.answer(), true);
  assert.equal(`${await readNext}`, 'other|');
  await once(socket.resume(), 'close');
  await listener.close(now);
});

test('a request that could not be answered after all is for the full server', async () => {
  const { answer, next } = waitingAnswers();
  const { listener } = await listen({ answer });
  const socket = await open(listener);
  const said = say(socket, request);
  (await next()).leave();
  assert.match(await said, /^HTTP\/1\.1 200 OK\r\n.*full$/s);
  assert.match(await say(socket, request), /^HTTP\/1\.1 200 OK\r\n.*full$/s);
  socket.destroy();
  await listener.close(now);
});

test('a client that leaves while its answer is made gets none', async () => {
  const { answer, next } = waitingAnswers();
  const { listener } = await listen({ answer });
  const [gone, other] = [await open(listener), await open(listener)];
  gone.write('first');
  const waiting = await next();
  const closed = listener.close({ lingerMs: 0, graceMs: 20 });
  await closed;
  assert.equal(waiting.answer(), false);
  gone.destroy();
  other.destroy();
});

test('an answer that is made while a drain begins is left to the full server, and is the last', async () => {
  const { answer, next } = waitingAnswers();
  const { listener } = await listen({ answer }, endlessGrace);
  const socket = await open(listener);
  const said = say(socket, request);
  const waiting = await next();
  const closed = listener.close(now);
  await systemClock.after(0);
  assert.equal(waiting.answer(), false);
  assert.match(await said, /\r\nConnection: close\r\n/);
  await closed;
});
