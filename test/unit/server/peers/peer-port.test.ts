// The port that hands copies to other servers, over real sockets: clients that take nothing, or only a little, do not
// shut it to the servers of the site.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, readdir, readlink, rm } from 'node:fs/promises';
import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { openBundleStore } from '#bundle/store/store.ts';
import { type Clock, systemClock } from '#platform/runtime/clock.ts';
import { peerPort } from '#server/peers/peer-port.ts';
import { eventually } from '../../../support/eventually.ts';
import { portOf } from '../../../support/storage-server.ts';
import { putBundle } from '../../../support/store-builder.ts';

let storeDir: string;
let digest: string;
let server: Server;
let readers: Socket[];
let nowMs: number;

/** Its instants are the test's; its waits are short ones. */
const clock: Clock = {
  ...systemClock,
  monotonic: () => nowMs,
  after: (_ms, signal) => systemClock.after(10, signal),
};

beforeEach(async () => {
  storeDir = await mkdtemp(join(tmpdir(), 'peer-port-'));
  await openBundleStore(storeDir, { keep: 1 });
  // More than the system buffers of a connection take.
  ({ digest } = await putBundle(storeDir, { 'index.html': 'home', 'large.bin': Buffer.alloc(16 * 2 ** 20) }));
  readers = [];
  nowMs = 0;
});
afterEach(async () => {
  for (const one of readers) one.destroy();
  await new Promise((resolve) => server.close(resolve));
  await rm(storeDir, { recursive: true, force: true });
});

async function listen(): Promise<void> {
  const isPeer = (address: string): boolean => address === '127.0.0.1';
  const facts = { id: 'me', storeDir, intent: () => undefined, isPeer, clock };
  server = createServer(peerPort(facts, (_request, response) => response.writeHead(404).end()));
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
}

/** Asks and reads nothing beyond the first line of the answer. @returns the status */
async function readNothing(localAddress: string): Promise<number> {
  const socket = connect({ port: portOf(server), host: '127.0.0.1', localAddress });
  readers.push(socket);
  socket.on('error', () => {});
  socket.write(`GET /peers/${digest}/pack HTTP/1.1\r\nHost: a\r\n\r\n`);
  const [first] = await once(socket, 'data');
  socket.pause();
  return Number(/^HTTP\/1\.1 (\d+)/.exec(String(first))?.[1]);
}

/** Takes all of it. */
async function statusOf(part: string, localAddress = '127.0.0.1'): Promise<number | undefined> {
  const options = { port: portOf(server), path: `/peers/${digest}/${part}`, localAddress, agent: false };
  const [answer]: IncomingMessage[] = await once(get(options), 'response');
  answer?.resume();
  if (answer !== undefined) await once(answer, 'end');
  return answer?.statusCode;
}

test('a client that has gone before the answer leaves no file open', async () => {
  await listen();
  server.prependListener('request', (_request, response) => void response.destroy());
  for (const part of ['index', 'pack', 'pack', 'pack']) await assert.rejects(statusOf(part));
  const openFiles = async (): Promise<readonly string[]> => {
    const descriptors = await readdir('/proc/self/fd');
    const paths = descriptors.map((one) => readlink(`/proc/self/fd/${one}`).catch(() => ''));
    return (await Promise.all(paths)).filter((path) => path.startsWith(storeDir));
  };
  await eventually('no file of the store is open', async () =>
    (await openFiles()).length === 0 ? true : undefined,
  );
});

test('a client that reads nothing, or less than the least pace, loses its slot', async () => {
  await listen();
  assert.deepEqual([await readNothing('127.0.0.1'), await readNothing('127.0.0.1')], [200, 200]);
  assert.equal(await statusOf('pack'), 503);
  // The system's buffers took some megabytes: a second for each 4 MiB, and 5 s.
  nowMs = 9000;
  await eventually('a slot is free again', async () => ((await statusOf('pack')) === 200 ? true : undefined));
});

test('one address gets two slots for packs, whatever it asks; an index takes none of them', async () => {
  await listen();
  for (const address of ['127.0.0.1', '127.0.0.2']) {
    const statuses: number[] = [];
    for (let at = 0; at < 12; at += 1) statuses.push(await readNothing(address));
    assert.deepEqual(statuses, [200, 200, ...Array.from({ length: 10 }, () => 503)], address);
  }
  assert.equal(await statusOf('index'), 200);
  assert.equal(await statusOf('pack', '127.0.0.3'), 200);
});

test('clients from many addresses take no slot of the servers of the site', async () => {
  await listen();
  const statuses: number[] = [];
  for (let at = 0; at < 30; at += 1) statuses.push(await readNothing(`127.0.1.${1 + (at % 10)}`));
  assert.equal(statuses.filter((status) => status === 200).length, 4);
  assert.equal(await statusOf('pack', '127.0.0.2'), 503);
  assert.equal(await statusOf('pack'), 200);
});
