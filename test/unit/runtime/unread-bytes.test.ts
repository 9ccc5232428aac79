// The bound on what readers hold together, over figures of a kernel that a test decides. The connections are real.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { systemClock } from '../../../src/runtime/clock.ts';
import { createUnreadBytes, type UnreadEdge, unreadLimit } from '../../../src/runtime/unread-bytes.ts';

const mib = 1024 * 1024;
let server: Server;
before(async () => {
  server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
});
after(() => server.close());

interface Connection {
  readonly socket: Socket;
  readonly key: string;
}

async function open(): Promise<Connection> {
  const address = server.address();
  const client = connect(typeof address === 'object' && address !== null ? address.port : 0, '127.0.0.1');
  client.on('error', () => {});
  const [socket]: Socket[] = await once(server, 'connection');
  assert.ok(socket);
  socket.on('error', () => {});
  socket.once('close', () => client.destroy());
  return { socket, key: `${socket.remoteAddress} ${socket.remotePort}` };
}

/** A kernel that holds what it is told to, of connections that are open. */
function edgeOver(queues: Map<string, number>): UnreadEdge {
  return {
    socketMemory: async () => [...queues.values()].reduce((sum, bytes) => sum + bytes, 0),
    socketQueues: async () => queues,
    clock: systemClock,
  };
}

test('room is there at once while readers hold little', () => {
  const unread = createUnreadBytes(16 * mib, edgeOver(new Map()));
  assert.equal(unread.tryTake(mib), true);
  assert.equal(unread.isScarce(), false);
  assert.equal(unread.tryTake(64 * mib), false);
});

test('a page has room beyond the limit, a large piece has none', () => {
  const unread = createUnreadBytes(16 * mib, edgeOver(new Map()));
  while (unread.tryTake(mib));
  assert.equal(unread.tryTake(256 * 1024 * 8), false);
  assert.equal(unread.tryTake(20 * 1024), true);
});

test('what pages have beyond the limit is two fifths of it, and 64 MiB at most', () => {
  const most: readonly (readonly [number, number])[] = [
    [16 * mib, 22.4 * mib],
    [1024 * mib, 1088 * mib],
  ];
  for (const [limitBytes, mostBytes] of most) {
    const unread = createUnreadBytes(limitBytes, edgeOver(new Map()));
    let takenBytes = 0;
    while (takenBytes <= 2 * limitBytes && unread.tryTake(64 * 1024)) takenBytes += 64 * 1024 * 1.25;
    assert.ok(takenBytes <= mostBytes && takenBytes > mostBytes - 128 * 1024, `${takenBytes}`);
  }
});

test('what was read is found by a look, and gives its room to those who wait', async () => {
  const unread = createUnreadBytes(16 * mib, edgeOver(new Map()));
  while (unread.tryTake(mib));
  assert.equal(await unread.take(4 * mib), true);
  unread.settle(4 * mib);
});

test('who holds most and takes nothing is reset; who holds little, or nothing, stays', async () => {
  const queues = new Map<string, number>();
  const unread = createUnreadBytes(16 * mib, edgeOver(queues));
  const [hog, modest, idle] = [await open(), await open(), await open()];
  for (const { socket } of [hog, modest, idle]) unread.attend(socket);
  queues.set(hog.key, 20 * mib).set(modest.key, 64 * 1024);
  hog.socket.once('close', () => queues.delete(hog.key));
  while (unread.tryTake(mib));
  assert.equal(await unread.take(4 * mib), true);
  unread.settle(4 * mib);
  assert.deepEqual(
    [hog, modest, idle].map(({ socket }) => socket.destroyed),
    [true, false, false],
  );
  for (const { socket } of [modest, idle]) socket.destroy();
});

test('what a connection makes this process keep counts until it closes', async () => {
  const unread = createUnreadBytes(16 * mib, edgeOver(new Map()));
  const { socket } = await open();
  unread.attend(socket);
  unread.keep(socket, 12 * mib);
  assert.equal(unread.isScarce(), true);
  const closed = once(socket, 'close');
  socket.destroy();
  await closed;
  while (unread.tryTake(mib));
  assert.equal(await unread.take(4 * mib), true);
  unread.settle(4 * mib);
});

test('the limit is a share of what the process may have, and never more than is of use', () => {
  assert.equal(unreadLimit(512 * mib), 160 * mib);
  assert.equal(unreadLimit(256 * mib), 80 * mib);
  assert.equal(unreadLimit(0), 160 * mib);
  assert.equal(unreadLimit(2 ** 63), 160 * mib);
});
