// The worker's side without its thread: a full disk, a slow disk, and the one last word.

import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { defaultLimits } from '../../../../src/bundle/limits.ts';
import type { PreparationOrder } from '../../../../src/bundle/prepare/preparation-message.ts';
import { type PreparationEdge, runPreparation } from '../../../../src/bundle/prepare/preparation-run.ts';
import { createCountingSink, createPackWriter } from '../../../../src/bundle/store/pack.ts';
import { type StoreDisk, systemDisk } from '../../../../src/bundle/store/store-disk.ts';
import { storeFault } from '../../../../src/bundle/store/store-fault.ts';
import type { ThreadReport } from '../../../../src/bundle/thread/thread-message.ts';
import { systemClock } from '../../../../src/runtime/clock.ts';
import { tarOf } from '../../../support/tar-builder.ts';

let dir = '';
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'preparation-run-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const noSpace = Object.assign(new Error('no space left on device, write'), { code: 'ENOSPC' });

async function run(edge: Partial<PreparationEdge> = {}): Promise<readonly ThreadReport[]> {
  const archive = join(dir, 'site.tar');
  await writeFile(archive, tarOf({ 'index.html': 'home' }));
  const order: PreparationOrder = {
    link: pathToFileURL(archive).href,
    storeDir: join(dir, 'store'),
    workDir: join(dir, 'store', '.incoming-1'),
    expectedDigest: undefined,
    limits: defaultLimits,
    allowPrivateLinks: false,
    allowFileLinks: true,
    extraCaPem: undefined,
    userAgent: 'test',
  };
  const reports: ThreadReport[] = [];
  const proxy = { httpProxy: undefined, httpsProxy: undefined, noProxy: undefined };
  await runPreparation(order, { clock: systemClock, proxy, report: (one) => reports.push(one), ...edge });
  return reports;
}

test('the last word is the only one of its kind', async () => {
  const reports = await run();
  assert.deepEqual(
    reports.map(({ type }) => type).filter((type) => type !== 'progress'),
    ['done'],
  );
  assert.equal(reports.at(-1)?.type, 'done');
});

for (const step of ['writeText', 'rename', 'syncFolder', 'makeFolder'] as const) {
  test(`no room at ${step} is StoreFull and leaves nothing`, async () => {
    const disk: StoreDisk = { ...systemDisk, [step]: () => Promise.reject(noSpace) };
    const last = (await run({ disk })).at(-1);
    assert.ok(last?.type === 'failed');
    assert.deepEqual([last.kind, last.code], ['transient', 'StoreFull']);
    const left = await readdir(join(dir, 'store'), { recursive: true });
    assert.deepEqual(
      left.filter((name) => name !== 'bundles'),
      [],
    );
  });
}

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
    assert.deepEqual([error.kind, error.code], ['transient', fault]);
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

test('while a slow disk is synced, the starter hears of it', async () => {
  const slow = Promise.withResolvers<void>();
  let elapsed = 0;
  let beats = 0;
  const clock = {
    ...systemClock,
    monotonic: () => elapsed,
    after: async (ms: number, signal?: AbortSignal) => {
      signal?.throwIfAborted();
      elapsed += ms;
      beats += 1;
      if (beats === 4) slow.resolve();
      if (beats > 4) await new Promise((_resolve, reject) => signal?.addEventListener('abort', reject));
    },
  };
  const disk: StoreDisk = {
    ...systemDisk,
    syncFolder: async (path) => {
      await slow.promise;
      await systemDisk.syncFolder(path);
    },
  };
  const reports = await run({ clock, disk });
  assert.equal(reports.at(-1)?.type, 'done');
  const progress = reports.filter(({ type }) => type === 'progress');
  assert.ok(progress.length >= 4, `${progress.length}`);
  const last = progress.at(-1);
  assert.ok(last?.type === 'progress' && last.receivedBytes > 0);
});

test('an archive larger than what is free is not fetched, and what is not known stops nothing', async () => {
  const asked: string[] = [];
  const free = (bytes: number | undefined) => async (folder: string) => {
    asked.push(folder);
    return bytes;
  };
  const reports = await run({ freeBytes: free(10) });
  const last = reports.at(-1);
  assert.ok(last?.type === 'failed');
  assert.deepEqual([last.kind, last.code], ['transient', 'StoreFull']);
  assert.ok(reports.every((one) => one.type !== 'progress' || one.receivedBytes === 0));
  assert.deepEqual(asked, [join(dir, 'store')]);
  for (const bytes of [undefined, 1_000_000]) {
    assert.equal((await run({ freeBytes: free(bytes) })).at(-1)?.type, 'done');
  }
});
