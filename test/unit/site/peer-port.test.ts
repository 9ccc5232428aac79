// The port that hands copies to other servers, over real sockets: readers that take nothing, or only a little, do not
// shut it to the others.

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { openBundleStore } from '../../../src/bundle/store.ts';
import { type Clock, systemClock } from '../../../src/runtime/clock.ts';
import { peerPort } from '../../../src/site/peer-port.ts';
import { eventually } from '../../support/eventually.ts';
import { portOf } from '../../support/storage-server.ts';
import { putBundle } from '../../support/store-builder.ts';

let storeDir: string;
let digest: string;
let server: Server;
let readers: Socket[];
let deadlines: { readonly ms: number; readonly end: () => void }[];

const clock: Clock = {
  ...systemClock,
  deadline: (ms) => {
    const one = new AbortController();
    deadlines.push({ ms, end: () => one.abort(new DOMException('too long', 'TimeoutError')) });
    return one.signal;
  },
};

beforeEach(async () => {
  storeDir = await mkdtemp(join(tmpdir(), 'peer-port-'));
  await openBundleStore(storeDir, { keep: 1 });
  // More than the system buffers of a connection take.
  ({ digest } = await putBundle(storeDir, { 'index.html': 'home', 'large.bin': Buffer.alloc(16 * 2 ** 20) }));
  readers = [];
  deadlines = [];
});
afterEach(async () => {
  for (const one of readers) one.destroy();
  await new Promise((resolve) => server.close(resolve));
  await rm(storeDir, { recursive: true, force: true });
});

async function listen(readerIdleMs: number): Promise<void> {
  const facts = { id: 'me', storeDir, intent: () => undefined, readerIdleMs, clock };
  server = createServer(peerPort(facts, (_request, response) => response.writeHead(404).end()));
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
}

/** Asks and never reads a byte of the answer. @returns once it is under way */
async function readNothing(part: string): Promise<void> {
  const socket = connect(portOf(server), '127.0.0.1');
  readers.push(socket);
  socket.on('error', () => {});
  const asked = deadlines.length;
  socket.pause();
  socket.write(`GET /peers/${digest}/${part} HTTP/1.1\r\nHost: a\r\n\r\n`);
  await eventually('the copy is under way', async () => (deadlines.length > asked ? true : undefined));
}

const statusOf = async (part: string): Promise<number> => {
  const answer = await fetch(`http://127.0.0.1:${portOf(server)}/peers/${digest}/${part}`);
  await answer.arrayBuffer();
  return answer.status;
};

test('four that read nothing are let go', async () => {
  await listen(1500);
  for (let at = 0; at < 4; at += 1) await readNothing('pack');
  await eventually('a place is free again', async () =>
    (await statusOf('pack')) === 200 ? true : undefined,
  );
});

test('places for packs are few, and those that read too slowly are let go by the measure that readers have', async () => {
  await listen(600_000);
  for (let at = 0; at < 4; at += 1) await readNothing('pack');
  assert.equal(await statusOf('index'), 200, 'an index takes no place of a pack');
  assert.equal(await statusOf('pack'), 503);
  assert.deepEqual([...new Set(deadlines.slice(0, 4).map(({ ms }) => Math.round(ms)))], [26_000]);
  for (const { end } of deadlines) end();
  await eventually('a place is free again', async () =>
    (await statusOf('pack')) === 200 ? true : undefined,
  );
});
