// Readers who ask for much and take nothing: what the kernel holds for all of them together stays bounded, those who
// hold it longest lose it, and others get whole answers meanwhile. Bytes and connections are counted, never time.

import assert from 'node:assert/strict';
import { channel } from 'node:diagnostics_channel';
import { connect, Socket } from 'node:net';
import { test } from 'node:test';
import { z } from 'zod';
import { systemClock } from '#platform/runtime/clock.ts';
import { type HttpListener, listenHttp } from '#platform/runtime/http/http-listener.ts';
import { readSocketQueues } from '#platform/runtime/http/socket-memory.ts';
import { createUnreadBytes } from '#platform/runtime/http/unread-bytes.ts';
import { silentLogger } from '#platform/runtime/logger.ts';
import { siteHeaders } from '#server/answer/reply.ts';
import { siteHandler } from '#server/answer/site-handler.ts';
import { createBodyCache } from '#server/content/body-cache.ts';
import { goLive } from '#server/content/live-bundle.ts';
import { createLiveSite } from '#server/content/live-site.ts';
import { createReadPace } from '#server/content/read-pace.ts';
import { fastPath } from '#server/fast-path/plain-answer.ts';
import { eventually } from '../../support/eventually.ts';
import { storedBundle } from '../../unit/server/fixtures.ts';
import { ask } from './raw-client.ts';

const mib = 1024 * 1024;
const limitBytes = 16 * mib;
/** Small answers may go beyond the limit, and what is handed over between two looks counts with a delay. */
const mostBytes = limitBytes + 64 * mib;
const large = 'large '.repeat(900_000);
const medium = 'medium'.repeat(100_000);
const notLinux = process.platform !== 'linux' && 'reads /proc/net';

/** Connections that the servers of this file have closed: a client that does not read learns nothing of it. */
let closed = 0;
channel('net.server.socket').subscribe((message) => {
  const { socket } = z.object({ socket: z.instanceof(Socket) }).parse(message);
  socket.once('close', () => {
    closed += 1;
  });
});

interface Bounded {
  readonly listener: HttpListener;
  /** What the kernel holds in the connections of the port, on the server's side. */
  heldBytes(): Promise<number>;
  /** Answers with 503, to readers who waited for room and got none. Their connections may stay open. */
  refusals(): number;
}

async function serve(): Promise<Bounded> {
  const site = createLiveSite(1);
  const stored = storedBundle({ 'large.bin': large, 'medium.bin': medium, 'page.html': 'page' });
  site.swap({ bundle: goLive(stored), version: undefined, activatedAt: 0, provenance: 'disk' });
  let port = 0;
  let refused = 0;
  const heldBytes = async (): Promise<number> =>
    [...(await readSocketQueues(port)).values()].reduce((sum, bytes) => sum + bytes, 0);
  const unread = createUnreadBytes(limitBytes, {
    socketMemory: heldBytes,
    socketQueues: readSocketQueues,
    clock: systemClock,
  });
  const serving = {
    site,
    unread,
    cache: createBodyCache(8 * mib),
    pace: createReadPace(systemClock),
    always: siteHeaders('Cloud'),
    countReply: (status: number) => {
      if (status === 503) refused += 1;
    },
    clock: systemClock,
    logger: silentLogger,
  };
  const first = fastPath(serving, { stalledMs: 60_000 });
  const address = { host: '127.0.0.1', port: 0 };
  const listener = await listenHttp(address, siteHandler(serving), systemClock, {}, { unread, first });
  port = listener.port;
  return { listener, heldBytes, refusals: () => refused };
}

function read(port: number, text: string): Socket {
  const socket = connect(port, '127.0.0.1').pause();
  socket.on('error', () => {});
  socket.write(text);
  return socket;
}

const kinds: readonly (readonly [string, string])[] = [
  ['a large file', 'GET /large.bin HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['a large file, by HTTP/1.0', 'GET /large.bin HTTP/1.0\r\n\r\n'],
  ['a file that is kept in memory', 'GET /medium.bin HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['a last answer', 'GET /medium.bin HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'],
  ['many answers', 'GET /medium.bin HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(16)],
];

for (const [what, request] of kinds) {
  test(`two hundred clients that request ${what} and read nothing stay within their limit`, {
    skip: notLinux,
  }, async () => {
    const { listener, heldBytes, refusals } = await serve();
    const before = closed;
    const readers = Array.from({ length: 200 }, () => read(listener.port, request));
    let mostHeld = 0;
    let pages = 0;
    try {
      await eventually('those who hold it longest lose it, and the rest is served or refused', async () => {
        mostHeld = Math.max(mostHeld, await heldBytes());
        assert.equal((await ask(listener.port, '/page')).body, 'page');
        pages += 1;
        const cut = closed - before - pages;
        return mostHeld > mostBytes || (cut > 0 && cut + refusals() >= 100) ? true : undefined;
      });
      // Room may come after the server has given up waiting for it; then a client asks again.
      let answer = await ask(listener.port, '/large.bin');
      for (let refused = 1; answer.status === 503 && refused <= 2; refused += 1) {
        mostHeld = Math.max(mostHeld, await heldBytes());
        answer = await ask(listener.port, '/large.bin');
      }
      assert.ok(answer.body === large, 'another gets a large file whole');
      mostHeld = Math.max(mostHeld, await heldBytes());
      assert.ok(mostHeld <= mostBytes, `${Math.round(mostHeld / mib)} MiB were held`);
    } finally {
      for (const socket of readers) socket.destroy();
      await listener.close({ lingerMs: 0, graceMs: 1000 });
    }
  });
}
