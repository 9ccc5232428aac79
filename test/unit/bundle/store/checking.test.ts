// The thread that checks a stored bundle, as the program runs it: what it answers, in which portions, and what a
// thread that is lost means.

import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { BundleError } from '../../../../src/bundle/bundle-error.ts';
import { sliceRows } from '../../../../src/bundle/bundle-task.ts';
import { checkInWorker, rememberWritten } from '../../../../src/bundle/store/checking.ts';
import { openBundleStore } from '../../../../src/bundle/store/store.ts';
import { bundleFolder } from '../../../../src/bundle/store/store-layout.ts';
import { putBundle } from '../../../support/store-builder.ts';

const worker = new URL('../../../../src/bin/bundle-worker.ts', import.meta.url);

let dir = '';
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'checking-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const manyFiles = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`page-${at}.html`, `page ${at}`]));
const isCheckFailed = (error: unknown): boolean =>
  error instanceof BundleError && error.code === 'CheckFailed' && error.kind === 'transient';

test('the whole index comes over, a slice at a time, and others may run after each', async () => {
  const index = await putBundle(dir, manyFiles(2 * sliceRows + 1));
  let pauses = 0;
  const check = checkInWorker(worker, async () => {
    pauses += 1;
  });
  assert.deepEqual(await check(bundleFolder(dir, index.digest), index.digest), index);
  assert.equal(pauses, 3);
});

test('nothing of a damaged copy is handed out, although its index came before the damage was found', async () => {
  const index = await putBundle(dir, manyFiles(sliceRows + 1));
  const pack = join(bundleFolder(dir, index.digest), 'pack');
  const bytes = await readFile(pack);
  bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1);
  await writeFile(pack, bytes);
  let slices = 0;
  const check = checkInWorker(worker, async () => {
    slices += 1;
  });
  assert.equal(await check(bundleFolder(dir, index.digest), index.digest), undefined);
  assert.equal(slices, 2);
});

test('a store loads through it, and removes what it found damaged', async () => {
  const check = checkInWorker(worker, async () => {});
  const store = await openBundleStore(dir, { keep: 2, check });
  const index = await putBundle(dir, manyFiles(3));
  const stored = await store.open(index.digest);
  assert.deepEqual(stored?.index, index);
  await stored?.close();
  await writeFile(join(bundleFolder(dir, index.digest), 'pack'), 'other bytes');
  assert.equal(await store.open(index.digest), undefined);
  assert.deepEqual(await readdir(join(dir, 'bundles')), []);
});

test('a thread that ended unexpectedly is a fault of the machine, and the copy stays', async () => {
  const program = join(dir, 'lost.mjs');
  await writeFile(program, 'process.exit(1)');
  const check = checkInWorker(new URL(`file://${program}`), async () => {});
  const store = await openBundleStore(join(dir, 'store'), { keep: 2, check });
  const { digest } = await putBundle(join(dir, 'store'), manyFiles(3));
  await assert.rejects(store.open(digest), isCheckFailed);
  assert.deepEqual(await readdir(join(dir, 'store', 'bundles')), [digest]);
});

test('only a copy that was just written is trusted, and only once', async () => {
  const [first, second] = [await putBundle(dir, manyFiles(1)), await putBundle(dir, manyFiles(2))];
  const looked: string[] = [];
  const { note, check } = rememberWritten(async (_folder, digest) => {
    looked.push(digest);
    return undefined;
  });
  const ask = (digest: string) => check(bundleFolder(dir, digest), digest);
  note(dir, first);
  assert.equal(await ask(first.digest), first);
  assert.deepEqual(looked, []);
  await ask(first.digest);
  note(dir, first);
  await ask(second.digest);
  await ask(first.digest);
  note(join(dir, 'another'), first);
  await ask(first.digest);
  assert.deepEqual(
    looked,
    [first, second, first, first].map(({ digest }) => digest),
  );
});
