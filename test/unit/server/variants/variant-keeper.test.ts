// Variants are prepared for the active bundle alone, by one thread at a time. Whatever the thread does, the bundle goes
// on with its files as they are.

import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, test } from 'node:test';
import { bundleFolder } from '#bundle/store/store-layout.ts';
import { systemClock } from '#platform/runtime/clock.ts';
import { silentLogger } from '#platform/runtime/logger.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { goLive, type LiveBundle } from '#server/content/live-bundle.ts';
import { createVariantNumbers, setVariant } from '#server/content/variant-table.ts';
import {
  createVariantKeeper,
  type MakeVariants,
  type VariantKeeper,
} from '#server/variants/variant-keeper.ts';
import type { PreparedVariants, VariantTask } from '#server/variants/variant-task.ts';
import { readText } from '../../../support/store-builder.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { storedBundle } from '../fixtures.ts';

let storeDir: string;
beforeEach((t) => {
  storeDir = temporaryFolder(t);
});

async function bundle(text: string, committed?: Promise<unknown>): Promise<LiveBundle> {
  const stored = storedBundle({ 'index.html': text.repeat(600) });
  const folder = bundleFolder(storeDir, stored.index.digest);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'variants'), 'the small body');
  return goLive(stored, undefined, committed);
}

interface Job {
  readonly task: VariantTask;
  readonly signal: AbortSignal;
  readonly end: (prepared: PreparedVariants) => void;
  readonly crash: (error: Error) => void;
}

function keeper(encodings: readonly ('br' | 'gzip')[] = ['br', 'gzip']): {
  readonly jobs: Job[];
  readonly keeper: VariantKeeper;
} {
  const jobs: Job[] = [];
  const make: MakeVariants = (task, signal) =>
    new Promise((end, crash) => {
      signal.addEventListener('abort', () => crash(new Error('given up')));
      jobs.push({ task, signal, end, crash });
    });
  const settings = { store: storeDir, encodings, encodingCpu: 50, maxBundleSize: 5000 };
  return { jobs, keeper: createVariantKeeper(settings, { make, clock: systemClock, logger: silentLogger }) };
}

function done(): PreparedVariants {
  const numbers = createVariantNumbers(1);
  setVariant(numbers, 0, 'br', { offset: 4, size: 5, fingerprint: 0xabc });
  return { numbers, isPartial: false, isFound: false };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('a bundle and its variants stay below the limit together, and an abort ends the work', async () => {
  const { jobs, keeper: one } = keeper();
  const live = await bundle('a');
  one.prepareFor(live);
  await settled();
  assert.equal(one.state(), 'making');
  assert.equal(jobs[0]?.task.maxBytes, 5000 - 600, 'bundle and forms stay below the limit together');
  jobs[0]?.end(done());
  await one.stop();
  assert.equal(one.state(), 'making', 'an outcome after the stop is nobody’s');
});

test('ready once attached: the variant is found, its bytes come from the pack of variants', async () => {
  const { jobs, keeper: one } = keeper();
  const live = await bundle('a');
  one.prepareFor(live);
  await settled();
  jobs[0]?.end(done());
  while (one.state() === 'making') await settled();
  assert.equal(one.state(), 'ready');
  const route = live.routes.find('/');
  assert.ok(route?.kind === 'file');
  const form = live.findVariant(route, 'br');
  const tag = `${route.entityTag.slice(0, -1)}-br-0000000000abc"`;
  assert.deepEqual(form, { offset: 4, size: 5, tag });
  assert.equal(live.findVariant(route, 'gzip'), undefined);
  assert.ok(form);
  assert.equal(readText(live.packOf(form), form), 'small');
  one.prepareFor(live);
  await settled();
  assert.equal(jobs.length, 1, 'what it has is not made again');
  await live.retire();
  assert.throws(() => readText(live.packOf(form), form), /closed/);
});

test('variants wait for a bundle that is still being stored, and are not made of one that could not be', async () => {
  for (const isStored of [true, false]) {
    const { jobs, keeper: one } = keeper();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    one.prepareFor(await bundle('a', promise));
    await settled();
    assert.equal(jobs.length, 0);
    if (isStored) resolve();
    else reject(new Error('the disk is full'));
    await settled();
    assert.equal(jobs.length, isStored ? 1 : 0);
    if (!isStored) assert.equal(one.state(), 'failed');
    await Promise.all([jobs[0]?.end(done()), one.stop()]);
  }
});

test('a swap gives up the former job before the next begins', async () => {
  const { jobs, keeper: one } = keeper();
  const [former, next] = [await bundle('a'), await bundle('b')];
  one.prepareFor(former);
  await settled();
  one.prepareFor(next);
  await settled();
  await settled();
  assert.equal(jobs[0]?.signal.aborted, true);
  assert.equal(jobs[1]?.task.digest, next.digest);
  jobs[1]?.end(done());
  while (one.state() === 'making') await settled();
  assert.equal(one.state(), 'ready');
  assert.equal(former.variants(), undefined);
});

test('a thread that fails, crashes or lies leaves the files as they are', async () => {
  const outcomes: readonly ((job: Job) => void)[] = [
    ({ crash }) => crash(new PublishableError('StoreFull', 'full')),
    ({ crash }) => crash(new Error('out of memory')),
    ({ end }) => end({ numbers: createVariantNumbers(7), isPartial: false, isFound: false }),
  ];
  for (const outcome of outcomes) {
    const { jobs, keeper: one } = keeper();
    const live = await bundle('a');
    one.prepareFor(live);
    await settled();
    assert.ok(jobs[0]);
    outcome(jobs[0]);
    while (one.state() === 'making') await settled();
    assert.equal(one.state(), 'failed');
    assert.equal(live.variants(), undefined);
  }
});

test('with --encodings none it makes none', async () => {
  const { jobs, keeper: one } = keeper([]);
  one.prepareFor(await bundle('a'));
  await settled();
  assert.equal(jobs.length, 0);
  assert.equal(one.state(), 'off');
});
