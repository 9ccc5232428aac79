// A copy from a peer in its thread, as the program runs it: what comes over and in which portions, and what a stop
// or a lost thread leaves.

import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import type { BundleIndex } from '#bundle/bundle-index.ts';
import { sliceRows } from '#bundle/bundle-task.ts';
import { defaultLimits } from '#bundle/limits.ts';
import { copyInWorker, type TakeCopy } from '#bundle/peer/copying.ts';
import { openBundleStore } from '#bundle/store/store.ts';
import { bundleFolder } from '#bundle/store/store-layout.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { type Storage, type StorageAnswer, startStorage } from '../../../support/storage-server.ts';
import { putBundle } from '../../../support/store-builder.ts';

const worker = new URL('../../../../src/bin/bundle-worker.ts', import.meta.url);

let folder: string;
let storeDir: string;
let theirs: BundleIndex;
let parts: Readonly<Record<string, Buffer>>;
let peer: Storage;
let answer: StorageAnswer;
let noted: BundleIndex[];
let pauses: number;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'copying-'));
  const other = join(folder, 'other');
  const files = Array.from({ length: 2 * sliceRows + 1 }, (_, at) => [`page-${at}.html`, `page ${at}`]);
  theirs = await putBundle(other, Object.fromEntries(files));
  const lying = bundleFolder(other, theirs.digest);
  parts = { index: await readFile(join(lying, 'index')), pack: await readFile(join(lying, 'pack')) };
  storeDir = join(folder, 'ours');
  await openBundleStore(storeDir, { keep: 1 });
  answer = (request, response) => response.end(parts[request.url?.split('/').at(-1) ?? '']);
  peer = await startStorage((request, response, count) => answer(request, response, count));
  noted = [];
  pauses = 0;
});
afterEach(async () => {
  await peer.close();
  await rm(folder, { recursive: true, force: true });
});

const takeWith = (program: URL): TakeCopy =>
  copyInWorker(program, {
    storeDir,
    limits: defaultLimits,
    userAgent: 'test',
    pause: async () => {
      pauses += 1;
    },
    note: (_dir, index) => noted.push(index),
  });
const take = (program = worker, signal = new AbortController().signal, received: number[] = []) =>
  takeWith(program)(peer.origin, theirs.digest, 'one', {
    signal,
    onProgress: ({ receivedBytes }) => received.push(receivedBytes),
  });
const withCode = (code: string) => (error: unknown) =>
  error instanceof PublishableError && error.code === code;

test('the thread takes, verifies and commits; the index comes over a slice at a time', async () => {
  const received: number[] = [];
  await take(worker, undefined, received);
  assert.deepEqual(noted, [theirs]);
  assert.equal(pauses, 3);
  assert.ok((received[0] ?? 0) > 0);
  assert.deepEqual(await readdir(storeDir), ['bundles']);
  const stored = await (await openBundleStore(storeDir, { keep: 1 })).open(theirs.digest);
  assert.deepEqual(stored?.index, theirs);
  await stored?.close();
});

test('a copy that is not what its index says is refused, and nothing is noted', async () => {
  const pack = Buffer.from(parts['pack'] ?? '');
  pack.writeUInt8(pack.readUInt8(3) ^ 1, 3);
  parts = { ...parts, pack };
  await assert.rejects(take(), withCode('CopyRefused'));
  assert.deepEqual([noted, await readdir(storeDir)], [[], ['bundles']]);
});

test('an abort ends the thread, and its files are removed', async () => {
  const stop = new AbortController();
  const reason = new Error('stopped');
  const isReceiving = Promise.withResolvers<void>();
  answer = (request, response) => {
    if (request.url?.endsWith('/index')) return response.end(parts['index']);
    response.writeHead(200);
    response.write(parts['pack']?.subarray(0, 10), () => isReceiving.resolve());
    return response;
  };
  const taking = take(worker, stop.signal);
  taking.catch(() => {});
  await isReceiving.promise;
  stop.abort(reason);
  await assert.rejects(taking, reason);
  assert.deepEqual(await readdir(storeDir), ['bundles']);
});

test('a thread that ended unexpectedly is a fault of this machine, not of the peer', async () => {
  const program = join(folder, 'lost.mjs');
  await writeFile(program, 'process.exit(1)');
  await assert.rejects(take(new URL(`file://${program}`)), withCode('CopyFailed'));
});

test('an abort ends the wait for a silent peer', async () => {
  const stop = new AbortController();
  const isAsked = Promise.withResolvers<void>();
  answer = () => isAsked.resolve();
  const taking = take(worker, stop.signal);
  taking.catch(() => {});
  await isAsked.promise;
  stop.abort();
  await assert.rejects(taking, { name: 'AbortError' });
});
