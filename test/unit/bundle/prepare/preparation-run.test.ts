// The thread's side of a preparation without its thread: a full disk, a slow disk, and what comes back.

import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { BundleProgress, OnWritten } from '#bundle/bundle-task.ts';
import { defaultLimits } from '#bundle/limits.ts';
import type { PrepareTask } from '#bundle/prepare/preparation.ts';
import { type PrepareContext, runPreparation } from '#bundle/prepare/preparation-run.ts';
import { createCountingSink, createPackWriter } from '#bundle/store/pack.ts';
import { type StoreDisk, systemDisk } from '#bundle/store/store-disk.ts';
import { storeFault } from '#bundle/store/store-fault.ts';
import { openPack } from '#bundle/store/stored-bundle.ts';
import { systemClock } from '#platform/runtime/clock.ts';
import { readText } from '../../../support/store-builder.ts';
import { tarOf } from '../../../support/tar-builder.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { zip } from '../../../support/zip-builder.ts';

let dir = '';
beforeEach((t) => {
  dir = temporaryFolder(t);
});

const noSpace = Object.assign(new Error('no space left on device, write'), { code: 'ENOSPC' });

/** @param reports gets each progress report */
async function run(
  context: Partial<PrepareContext> = {},
  reports: BundleProgress[] = [],
  bytes = tarOf({ 'index.html': 'home' }),
  expectedDigest?: string,
) {
  const archive = join(dir, 'site.archive');
  await writeFile(archive, bytes);
  const task: PrepareTask = {
    task: 'prepare',
    link: pathToFileURL(archive).href,
    storeDir: join(dir, 'store'),
    workDir: join(dir, 'store', '.incoming-1'),
    expectedDigest,
    limits: defaultLimits,
    allowPrivateLinks: false,
    allowFileLinks: true,
    extraCaPem: undefined,
    userAgent: 'test',
    wantsFiles: true,
  };
  const proxy = { httpProxy: undefined, httpsProxy: undefined, noProxy: undefined };
  const onProgress = (progress: BundleProgress): void => {
    reports.push(progress);
  };
  return runPreparation(task, { clock: systemClock, proxy, onProgress, ...context });
}

test('a preparation returns the index of the stored copy', async () => {
  const { files } = await run();
  assert.deepEqual(
    files.map(({ path }) => path),
    ['index.html'],
  );
});

test('each file of a zip is progress, because it is unpacked after its last byte has arrived', async () => {
  const names = Array.from({ length: 50 }, (_, at) => `${at}.html`);
  const reports: BundleProgress[] = [];
  let now = 0;
  const clock = { ...systemClock, monotonic: () => (now += 1000) };
  await run({ clock }, reports, zip(names.map((name) => ({ name, content: 'page' }))));
  assert.equal(new Set(reports.map(({ files }) => files)).size, names.length);
});

for (const step of ['writeText', 'rename', 'syncFolder', 'makeFolder'] as const) {
  test(`no room at ${step} is StoreFull and leaves nothing`, async () => {
    const disk: StoreDisk = { ...systemDisk, [step]: () => Promise.reject(noSpace) };
    await assert.rejects(run({ disk }), { kind: 'retry', code: 'StoreFull' });
    const left = await readdir(join(dir, 'store'), { recursive: true });
    assert.deepEqual(
      left.filter((name) => name !== 'bundles'),
      [],
    );
  });
}

/** What an offer saw: the pack, and the names in the store at that moment. */
function watchOffers() {
  const offers: { pack: string; names: readonly string[] }[] = [];
  const offer: OnWritten = async (index, packPath) => {
    const bundle = await openPack(packPath, index, undefined);
    const pack = index.files.map((file) => readText(bundle, file)).join();
    await bundle.close();
    offers.push({ pack, names: await readdir(join(dir, 'store'), { recursive: true }) });
  };
  return { offers, offer };
}

test('what was read and verified is offered once, before it is in the store', async () => {
  const { offers, offer } = watchOffers();
  await run({ offer }, [], tarOf({ 'index.html': 'home', 'a.css': 'a' }));
  assert.deepEqual(
    offers.map(({ pack }) => pack),
    ['a,home'],
  );
  assert.deepEqual(
    offers[0]?.names.filter((name) => name.startsWith('bundles')),
    [],
  );
});

test('a bundle is not moved while its offer is being taken', async () => {
  const { promise: taken, resolve: take } = Promise.withResolvers<void>();
  const { promise: synced, resolve: noteSync } = Promise.withResolvers<void>();
  const moves: string[] = [];
  const disk: StoreDisk = {
    ...systemDisk,
    rename: async (from, to) => {
      moves.push(to);
      await systemDisk.rename(from, to);
    },
  };
  const offer: OnWritten = () => {
    noteSync();
    return taken;
  };
  const running = run({ disk, offer });
  await synced;
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(moves, []);
  take();
  await running;
  assert.equal(moves.length, 1);
});

test('content that the store has, or that is not the wanted one, is not offered', async () => {
  const { offers, offer } = watchOffers();
  await run();
  await run({ offer });
  assert.equal(offers.length, 0, 'it is in the store');
  await assert.rejects(run({ offer }, [], tarOf({ 'index.html': 'other' }), 'a'.repeat(64)), {
    code: 'DigestMismatch',
  });
  await assert.rejects(run({ offer }, [], tarOf({ 'index.html': 'cut' }).subarray(0, -1024)), {
    code: 'NoEndMark',
  });
  assert.equal(offers.length, 0, 'it was refused');
});

test('a pack overwrites nothing, and takes nothing once it is abandoned', () => {
  const path = join(dir, 'pack');
  const pack = createPackWriter(path);
  assert.throws(() => createPackWriter(path), { code: 'StoreUnavailable' });
  pack.append(Buffer.from('x'));
  pack.abandon();
  pack.abandon();
  assert.throws(() => pack.append(Buffer.alloc(2 * 1024 * 1024)), { code: 'StoreUnavailable' });
});

for (const [code, fault] of [
  ['ENOSPC', 'StoreFull'],
  ['EDQUOT', 'StoreFull'],
  ['EFBIG', 'StoreFull'],
  ['EIO', 'StoreUnavailable'],
  ['EROFS', 'StoreUnavailable'],
  ['EACCES', 'StoreUnavailable'],
] as const) {
  test(`${code} of a disk is ${fault}, and its path is not repeated`, () => {
    const error = storeFault(Object.assign(new Error(`${code}: failed, open '/secret/place'`), { code }));
    assert.deepEqual([error.kind, error.code], ['retry', fault]);
    assert.ok(!error.message.includes('secret'));
  });
}

test('a pack holds what was appended, however it came', async () => {
  const path = join(dir, 'pack');
  const pack = createPackWriter(path);
  const count = createCountingSink();
  const whole: Buffer[] = [];
  for (const [at, size] of [3, 1_048_576, 1, 700_000, 600_000, 3_000_000, 0, 5].entries()) {
    const chunk = Buffer.alloc(size, `${at}`);
    whole.push(Buffer.from(chunk));
    pack.append(chunk);
    count.append(chunk);
    chunk.fill('!'); // the caller may reuse it
  }
  await pack.commit();

  assert.ok(Buffer.concat(whole).equals(await readFile(path)));
  assert.equal(pack.position, Buffer.concat(whole).length);
  assert.equal(count.position, pack.position);
});

test('an archive larger than what is free is not fetched, and what is not known stops nothing', async () => {
  const asked: string[] = [];
  const free = (bytes: number | undefined) => async (folder: string) => {
    asked.push(folder);
    return bytes;
  };
  const reports: BundleProgress[] = [];
  await assert.rejects(run({ freeBytes: free(10) }, reports), { kind: 'wait', code: 'StoreFull' });
  assert.ok(reports.every(({ receivedBytes }) => receivedBytes === 0));
  assert.deepEqual(asked, [join(dir, 'store')]);
  for (const bytes of [undefined, 1_000_000]) {
    assert.equal((await run({ freeBytes: free(bytes) })).pages, 1);
  }
});
