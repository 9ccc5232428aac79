// The thread that checks a stored bundle, as the program runs it: what it answers, in which portions, and what a
// thread that is lost means.

import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, test } from 'node:test';
import { sliceRows } from '#bundle/bundle-task.ts';
import { beginCheckInWorker, checkInWorker, rememberWritten } from '#bundle/store/checking.ts';
import { openBundleStore } from '#bundle/store/store.ts';
import { bundleFolder } from '#bundle/store/store-layout.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { putBundle } from '../../../support/store-builder.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const worker = new URL('../../../../src/bin/check-worker.ts', import.meta.url);

let dir = '';
beforeEach((t) => {
  dir = temporaryFolder(t);
});

const manyFiles = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`page-${at}.html`, `page ${at}`]));
const isCheckFailed = (error: unknown): boolean =>
  error instanceof PublishableError && error.code === 'CheckFailed' && error.kind === 'retry';

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

test('a check that is begun hands the index out first, and says later what the files are', async () => {
  const index = await putBundle(dir, manyFiles(sliceRows + 1));
  const ahead: unknown[] = [];
  const { signal } = new AbortController();
  const begin = beginCheckInWorker(
    worker,
    async () => {},
    (one) => void ahead.push(one),
    signal,
  );
  const folder = bundleFolder(dir, index.digest);
  const begun = (await begin(folder, index.digest)) ?? assert.fail();
  assert.deepEqual(begun.index, index);
  assert.equal(ahead[0], begun.index);
  await begun.check.end;
  assert.ok(begun.check.isProven(index.sizeBytes - 1));

  const pack = join(folder, 'pack');
  const bytes = await readFile(pack);
  bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1);
  await writeFile(pack, bytes);
  const damaged = (await begin(folder, index.digest)) ?? assert.fail();
  await assert.rejects(damaged.check.end, { code: 'BundleDamaged', kind: 'retry' });

  await writeFile(pack, bytes.subarray(1));
  assert.equal(await begin(folder, index.digest), undefined, 'a pack of another size is bad at once');
  await writeFile(join(folder, 'index'), 'no index');
  assert.equal(await begin(folder, index.digest), undefined);
});

test('a check that is begun fails as one to the end where its thread is lost, and ends with its signal', async () => {
  const program = join(dir, 'lost.mjs');
  await writeFile(program, 'process.exit(1)');
  const { digest } = await putBundle(dir, manyFiles(3));
  const stop = new AbortController();
  const lost = beginCheckInWorker(
    new URL(`file://${program}`),
    async () => {},
    () => {},
    stop.signal,
  );
  await assert.rejects(lost(bundleFolder(dir, digest), digest), isCheckFailed);
  const begun = beginCheckInWorker(
    worker,
    async () => {},
    () => {},
    stop.signal,
  )(bundleFolder(dir, digest), digest);
  stop.abort(new Error('stopped'));
  await assert.rejects(begun, { message: 'stopped' });
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
