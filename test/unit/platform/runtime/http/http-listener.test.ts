import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { Agent, get, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { z } from 'zod';
import { type Clock, systemClock } from '#platform/runtime/clock.ts';
import { keepAliveMs, listenHttp } from '#platform/runtime/http/http-listener.ts';
import { cutStalledReader } from '#platform/runtime/http/stalled-reader.ts';
import { createUnreadBytes } from '#platform/runtime/http/unread-bytes.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { eventually } from '../../../../support/eventually.ts';

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

test('without a host it answers at every address, of both families where the machine has both', async () => {
  const listener = await listenHttp(
    { host: '', port: 0 },
    (_request, response) => response.end('ok'),
    systemClock,
  );
  const loopbacks = Object.values(networkInterfaces()).flatMap((all = []) =>
    all.filter(({ internal }) => internal).map(({ address }) => address),
  );
  try {
    assert.ok(loopbacks.includes('127.0.0.1'));
    for (const address of loopbacks) {
      const host = address.includes(':') ? `[${address}]` : address;
      assert.equal(await (await fetch(`http://${host}:${listener.port}/`)).text(), 'ok', address);
    }
    assert.equal(listener.url, `http://${loopbacks.includes('::1') ? '[::]' : '0.0.0.0'}:${listener.port}`);
  } finally {
    await listener.close(now);
  }
});

/** What a client is told that sends this and never goes on. Resolves when its connection is over. */
async function sendPart(port: number, part: string): Promise<string> {
  const socket = connect(port, local.host);
  let told = '';
  socket.on('data', (bytes: Buffer) => {
    told += bytes;
  });
  socket.on('error', () => {});
  socket.write(part);
  await once(socket, 'close');
  return told;
}

const unfinished: readonly (readonly [string, string, RegExp])[] = [
  ['that sends nothing', '', /^HTTP\/1\.1 408 /],
  ['that never ends its headers', 'GET / HTTP/1.1\r\nHost: a\r\nX-Slow: ', /^HTTP\/1\.1 408 /],
  ['whose body is waited for', 'POST /wait HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nab', /^$/],
  [
    'whose body nobody reads',
    'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nab',
    /^HTTP\/1\.1 200 /,
  ],
];
for (const [what, part, told] of unfinished) {
  test(`a client ${what} is let go`, async () => {
    const soon = { headersTimeout: 1_000, requestTimeout: 1_000, connectionsCheckingInterval: 50 };
    const listener = await listenHttp(
      local,
      (request, response) => {
        if (request.url === '/wait') request.resume().on('end', () => response.end());
        else response.end('ok');
      },
      systemClock,
      soon,
    );
    try {
      assert.match(await sendPart(listener.port, part), told);
    } finally {
      await listener.close(now);
    }
  });
}

test('a connection that a balancer opens ahead of need is idle, and not late', async () => {
  const soon = { headersTimeout: 100, requestTimeout: 100, connectionsCheckingInterval: 20 };
  const answer: RequestListener = (_request, response) => void response.end('ok');
  const listen = (keepAliveTimeout: number) =>
    listenHttp(local, answer, systemClock, { ...soon, keepAliveTimeout }, { keepsUnused: true });
  const patient = await listen(60_000);
  const hasty = await listen(300);
  try {
    const socket = connect(patient.port, local.host);
    await setTimeout(600);
    socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    assert.match(await text(socket), /^HTTP\/1\.1 200 /);
    assert.equal(await sendPart(hasty.port, ''), '');
  } finally {
    await patient.close(now);
    await hasty.close(now);
  }
});

const startOfRequest = z.object({
  server: z.object({
    headersTimeout: z.number(),
    requestTimeout: z.number(),
    connectionsCheckingInterval: z.number(),
  }),
});

test('where nothing else is said, no request may be unfinished for longer than 15 s', async () => {
  const started: unknown[] = [];
  const note = (message: unknown): void => void started.push(message);
  const listener = await listenHttp(local, (_request, response) => response.end('ok'), systemClock);
  subscribe('http.server.request.start', note);
  try {
    await (await fetch(listener.url)).text();
    const { server } = startOfRequest.parse(started[0]);
    assert.ok(server.headersTimeout + server.connectionsCheckingInterval <= 15_000);
    assert.ok(server.requestTimeout + server.connectionsCheckingInterval <= 15_000);
  } finally {
    unsubscribe('http.server.request.start', note);
    await listener.close(now);
  }
});

test('while it lingers, new requests are answered with Connection: close', async () => {
  const linger = Promise.withResolvers<void>();
  const lingerMs = 200;
  const after: Clock['after'] = (ms, signal) =>
    ms === lingerMs ? linger.promise : systemClock.after(ms, signal);
  const clock = { ...systemClock, after };
  const listener = await listenHttp(local, (_request, response) => response.end('ok'), clock);
  const lingering = listener.close({ lingerMs, graceMs: 1_000 });
  assert.equal(listener.isDraining(), true);
  const agent = new Agent({ keepAlive: true });
  const [response]: IncomingMessage[] = await once(get(listener.url, { agent }), 'response');
  assert.equal(response?.statusCode, 200);
  assert.equal(response?.headers.connection, 'close');
  response?.resume();
  agent.destroy();
  linger.resolve();
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

/** A grace that never ends: what waits for it makes its test hang. */
const endlessGrace: Clock = {
  ...systemClock,
  after: (ms, signal) =>
    ms > 0 ? once(signal ?? assert.fail(), 'abort').then(() => assert.fail()) : systemClock.after(ms),
};

test('a connection that was busy when the door shut does not stay for its keep-alive time', async () => {
  let answer: ServerResponse | undefined;
  const arrived = Promise.withResolvers<void>();
  const listener = await listenHttp(
    local,
    (_request, response) => {
      // Headers are out before the drain begins, so nothing can say Connection: close any more.
      response.writeHead(200, { 'Content-Length': 4 }).flushHeaders();
      answer = response;
      arrived.resolve();
    },
    endlessGrace,
    { keepAliveTimeout: 3_600_000 },
  );
  const holding = connect(listener.port, '127.0.0.1');
  holding.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  holding.resume();
  await arrived.promise;
  const closed = listener.close(now);
  answer?.end('done');
  await closed;
  holding.destroy();
});

test('idle connections stay longer than balancers keep them, and a short time where there are many', async () => {
  assert.equal(keepAliveMs, 3_900_000);
  const listener = await listenHttp(
    local,
    (_request, response) => response.end('x'),
    systemClock,
    {},
    { crowd: 2 },
  );
  const sockets: Socket[] = [];
  const timesOf = async (socket: Socket): Promise<string | undefined> => {
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    const [piece]: Buffer[] = await once(socket, 'data');
    return /Keep-Alive: (.*)\r/.exec(`${piece}`)?.[1];
  };
  const open = async (): Promise<Socket> => {
    const socket = connect(listener.port, '127.0.0.1');
    await once(socket, 'connect');
    sockets.push(socket);
    return socket;
  };
  assert.equal(await timesOf(await open()), 'timeout=3900');
  assert.equal(await timesOf(await open()), 'timeout=3900');
  assert.equal(await timesOf(await open()), 'timeout=75');
  const [first = assert.fail(), second = assert.fail()] = sockets;
  second.destroy();
  await eventually('fewer connections', async () => (await timesOf(first)) === 'timeout=3900' || undefined, {
    everyMs: 1,
  });
  for (const socket of sockets) socket.destroy();
  await listener.close(now);
});

test('garbage behind a request is refused after the answer that is being sent', async () => {
  let answer: ServerResponse | undefined;
  const arrived = Promise.withResolvers<void>();
  const listener = await listenHttp(
    local,
    (_request, response) => {
      response.writeHead(200, { 'Content-Length': 8 });
      response.write('half');
      answer = response;
      arrived.resolve();
    },
    systemClock,
  );
  const socket = connect(listener.port, '127.0.0.1');
  let received = '';
  socket.setEncoding('latin1').on('data', (text: string) => {
    received += text;
  });
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await arrived.promise;
  socket.write('NOT HTTP AT ALL\r\n\r\n');
  // The server has read the garbage once its side of the connection has counted it.
  while ((answer?.req.socket.bytesRead ?? 0) < 45) await systemClock.after(1);
  await systemClock.after(1);
  answer?.end('done');
  await once(socket, 'close');
  assert.match(received, /\r\n\r\nhalfdoneHTTP\/1\.1 400 .*\r\nConnection: close\r\n.*\r\n\r\n$/s);
  await listener.close(now);
});

test('a request that breaks off within its body lets go of whoever waits for the rest', async () => {
  const closed = Promise.withResolvers<void>();
  const listener = await listenHttp(
    local,
    (request, response) => {
      request.resume().on('error', () => {});
      response.once('close', closed.resolve);
    },
    systemClock,
  );
  const socket = connect(listener.port, '127.0.0.1');
  socket.on('error', () => {}).resume();
  socket.end('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf');
  await closed.promise;
  await listener.close(now);
});

test('a connection opened ahead of need does not hold up the end', async () => {
  const listener = await listenHttp(local, () => {}, endlessGrace);
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
      assert.ok(error instanceof PublishableError);
      assert.equal(error.code, 'EADDRINUSE');
      assert.match(error.message, /choose another port/);
      return true;
    },
  );
  await first.close(now);
});

test('headers past the limit are told apart from garbage', async () => {
  const listener = await listenHttp(local, (_request, response) => response.end('ok'), systemClock);
  const socket = connect(listener.port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write(`GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`);
  const [chunk]: Buffer[] = await once(socket, 'data');
  assert.match(String(chunk), /^HTTP\/1\.1 431 /);
  socket.destroy();
  await listener.close(now);
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

test('requests sent at once are handed on one after another, and none for a reader who has left', async () => {
  const asked: string[] = [];
  const answers: ServerResponse[] = [];
  const listener = await listenHttp(
    local,
    (request, response) => {
      asked.push(request.url ?? '');
      answers.push(response);
    },
    systemClock,
  );
  const socket = connect(listener.port, '127.0.0.1');
  socket.on('error', () => {}).resume();
  socket.write(['/1', '/2', '/3', '/4'].map((url) => `GET ${url} HTTP/1.1\r\nHost: a\r\n\r\n`).join(''));
  await eventually('the first is asked', () => answers[0]);
  await systemClock.after(0);
  assert.deepEqual(asked, ['/1']);
  const [first] = answers;
  first?.end('answer');
  const second = await eventually('the second is asked', () => answers[1]);
  await systemClock.after(0);
  assert.deepEqual(asked, ['/1', '/2']);
  const gone = once(second, 'close');
  socket.resetAndDestroy();
  await gone;
  await systemClock.after(0);
  assert.deepEqual(asked, ['/1', '/2'], 'what was not begun is forgotten');
  await listener.close(now);
});

test('where there are no bodies nobody is asked for one, and CONNECT is told what there is', async () => {
  const refused: number[] = [];
  const listener = await listenHttp(
    local,
    ({ headers }, response) => response.writeHead(405, { Connection: 'close' }).end(headers.expect),
    systemClock,
    {},
    { readOnlyMethods: 'GET, HEAD', countRefusal: (status) => refused.push(status) },
  );
  const send = async (text: string): Promise<string> => {
    const socket = connect(listener.port, '127.0.0.1');
    let received = '';
    socket.setEncoding('latin1').on('data', (part: string) => {
      received += part;
    });
    socket.write(text);
    await once(socket, 'close');
    return received;
  };
  for (const expected of ['100-continue', 'x']) {
    const fields = `Host: a\r\nExpect: ${expected}\r\nContent-Length: 5\r\n\r\n`;
    const answer = await send(`POST / HTTP/1.1\r\n${fields}`);
    assert.match(answer, /^HTTP\/1\.1 405 /);
    assert.ok(answer.includes(expected));
  }
  const answer = await send('CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n');
  assert.match(answer, /^HTTP\/1\.1 405 Method Not Allowed\r\nAllow: GET, HEAD\r\n/);
  await send('NONSENSE\r\n\r\n');
  assert.deepEqual(refused, [405, 400]);
  await listener.close(now);
});

test('a tunnel that is asked for and reset at once ends nobody but itself', async () => {
  const listener = await listenHttp(
    local,
    (_request, response) => response.end('ok'),
    systemClock,
    {},
    { readOnlyMethods: 'GET, HEAD' },
  );
  for (let at = 0; at < 60; at += 1) {
    const socket = connect(listener.port, '127.0.0.1').on('error', () => {});
    socket.write('CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n');
    await systemClock.after(at % 3);
    socket.resetAndDestroy();
  }
  assert.equal(await (await fetch(listener.url)).text(), 'ok');
  await listener.close(now);
});

test('a tunnel that is asked for behind a request never lands in the answer that is being sent', async () => {
  const arrived = Promise.withResolvers<ServerResponse>();
  const listener = await listenHttp(
    local,
    (_request, response) => {
      response.writeHead(200, { 'Content-Length': 8 });
      response.write('half');
      arrived.resolve(response);
    },
    systemClock,
    {},
    { readOnlyMethods: 'GET, HEAD' },
  );
  const socket = connect(listener.port, '127.0.0.1').on('error', () => {});
  let received = '';
  socket.setEncoding('latin1').on('data', (text: string) => {
    received += text;
  });
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  const answer = await arrived.promise;
  socket.write('CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n');
  await once(socket, 'close');
  answer.end('done');
  assert.doesNotMatch(received, /405/);
  await listener.close(now);
});

test('a part of a request does not hold up the end', async () => {
  const listener = await listenHttp(local, () => {}, endlessGrace);
  const socket = connect(listener.port, '127.0.0.1').on('error', () => {});
  socket.resume().write('GET / HT');
  await once(socket, 'connect');
  // The server has the part once an answer to somebody who came later is out.
  await fetch(listener.url, { signal: AbortSignal.timeout(200) }).catch(() => {});
  await listener.close(now);
  socket.destroy();
});

test('a reader that takes nothing is cut although it sends a byte now and then', async () => {
  let isClosed = false;
  const arrived = Promise.withResolvers<void>();
  const listener = await listenHttp(
    local,
    (_request, response) => {
      response.once('close', () => {
        isClosed = true;
      });
      response.end(Buffer.alloc(32 * 1024 * 1024));
      cutStalledReader(response, 100, systemClock);
      arrived.resolve();
    },
    systemClock,
  );
  const socket = connect(listener.port, '127.0.0.1').on('error', () => {});
  socket.pause().write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  await arrived.promise;
  await eventually(
    'it is cut',
    () => {
      socket.write('G');
      return isClosed ? true : undefined;
    },
    { everyMs: 10 },
  );
  socket.destroy();
  await listener.close(now);
});

test('behind a last answer nothing more is parsed, however much a client goes on sending', async () => {
  const unread = createUnreadBytes(16 * 1024 * 1024, {
    socketMemory: async () => 0,
    socketQueues: async () => new Map(),
    clock: systemClock,
  });
  const handler: RequestListener = (_request, response) => {
    response.writeHead(400, { Connection: 'close', 'Content-Length': 2 }).end('no');
  };
  const listener = await listenHttp(local, handler, systemClock, {}, { unread });
  let parsed = 0;
  const count = (): void => {
    parsed += 1;
  };
  const request = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
  subscribe('http.server.request.start', count);
  const socket = connect({ port: listener.port, host: '127.0.0.1', allowHalfOpen: true });
  try {
    socket.on('error', () => {}).write(request);
    socket.resume();
    await once(socket, 'end');
    for (let round = 0; round < 20; round += 1) {
      await new Promise((written) => socket.write(request.repeat(1000), written));
    }
    socket.end();
    // Ends when the connection has, with all that was sent.
    await listener.close(now);
    assert.equal(parsed, 1);
  } finally {
    unsubscribe('http.server.request.start', count);
    socket.destroy();
    await listener.close(now);
  }
});
