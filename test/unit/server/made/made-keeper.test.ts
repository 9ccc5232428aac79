// Made files are prepared for the active bundle alone, by one thread at a time, and appear with one swap of the view. Whatever
// the thread does, the bundle goes on as it is.

import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, test } from 'node:test';
import { createRunningCheck } from '#bundle/store/pending-check.ts';
import { bundleFolder } from '#bundle/store/store-layout.ts';
import { systemClock } from '#platform/runtime/clock.ts';
import { silentLogger } from '#platform/runtime/logger.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { packAdditions } from '#server/content/additions.ts';
import { goLive, type LiveBundle } from '#server/content/live-bundle.ts';
import { createLiveSite, type LiveSite } from '#server/content/live-site.ts';
import { createMadeKeeper, type MadeKeeper, type PrepareFiles } from '#server/made/made-keeper.ts';
import type { MadeTask, PreparedFiles } from '#server/made/made-task.ts';
import { createVariantKeeper } from '#server/variants/variant-keeper.ts';
import type { VariantTask } from '#server/variants/variant-task.ts';
import { readText } from '../../../support/store-builder.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { storedBundle } from '../fixtures.ts';

let storeDir: string;
beforeEach((t) => {
  storeDir = temporaryFolder(t);
});

async function bundle(
  text: string,
  options: Parameters<typeof storedBundle>[2] = undefined,
): Promise<LiveBundle> {
  const stored = storedBundle({ 'index.html': `<head></head>${text}` }, undefined, options);
  const folder = bundleFolder(storeDir, stored.index.digest);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'made'), 'index');
  return goLive(stored);
}

interface Job {
  readonly task: MadeTask;
  readonly signal: AbortSignal;
  readonly end: (prepared: PreparedFiles) => void;
  readonly crash: (error: Error) => void;
}

interface Kept {
  readonly jobs: Job[];
  readonly keeper: MadeKeeper;
  readonly site: LiveSite;
}

function keep(search = true): Kept {
  const jobs: Job[] = [];
  const make: PrepareFiles = (task, signal) =>
    new Promise((end, crash) => {
      signal.addEventListener('abort', () => crash(new Error('given up')));
      jobs.push({ task, signal, end, crash });
    });
  const settings = { store: storeDir, search, encodingCpu: 50, maxBundleSize: 5000, serveDotfiles: [] };
  const site = createLiveSite(2, (active, basePath) => void keeper.prepareFor(active, basePath));
  const ports = { make, site, clock: systemClock, logger: silentLogger, pause: async () => {} };
  const keeper = createMadeKeeper(settings, ports);
  return { jobs, keeper, site };
}

function done(line = '<line>'): PreparedFiles {
  const sha256 = 'f'.repeat(64);
  const rows = {
    pages: [{ ordinal: 0, at: 6, lineAt: 0, lineSize: line.length, sha256 }],
    files: [{ path: '_sx/search/0123456789abcdef.js', offset: 0, size: 5, sha256 }],
    lines: line,
    packBytes: 5,
  };
  return { additions: packAdditions(rows), isFound: false };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function ready({ keeper }: Kept): Promise<void> {
  while (keeper.state() === 'making') await settled();
}

function show({ site }: Kept, live: LiveBundle, basePath?: string): void {
  site.swap({ bundle: live, version: undefined, basePath, activatedAt: 0, provenance: 'link' });
}

/** What a request for the path gets now. */
function answer({ site }: Kept, path: string): string | undefined {
  const view = site.view();
  const route = view?.find(path);
  if (route?.kind !== 'file') return undefined;
  const pack = view?.bundleOf(route)?.packOf(undefined);
  return pack && readText(pack, route.file);
}

test('pages get their line and made files are found in one step, without a change of the bundle’s digest', async () => {
  const kept = keep();
  const live = await bundle('a');
  show(kept, live);
  await settled();
  assert.equal(kept.keeper.state(), 'making');
  assert.equal(kept.jobs[0]?.task.maxBytes, 5000 - live.stored.index.sizeBytes);
  assert.equal(answer(kept, '/'), '<head></head>a');
  const before = kept.site.view();
  const plainTag = before?.find('/');
  kept.jobs[0]?.end(done());
  await ready(kept);
  assert.equal(kept.keeper.state(), 'ready');
  assert.notEqual(kept.site.view(), before, 'what was decided before is forgotten');
  assert.equal(answer(kept, '/'), '<head><line></head>a');
  assert.equal(answer(kept, '/_sx/search/0123456789abcdef.js'), 'index');
  const tag = kept.site.view()?.find('/');
  assert.ok(tag?.kind === 'file' && plainTag?.kind === 'file');
  assert.notEqual(tag.entityTag, plainTag.entityTag);
  assert.equal(tag.digest, live.digest);
  assert.deepEqual(live.extension()?.counts, { files: 1, pages: 1, sizeBytes: 5 });
});

test('files with a hash in their name stay reachable when the next version has others', async () => {
  const kept = keep();
  show(kept, await bundle('a'));
  await settled();
  kept.jobs[0]?.end(done());
  await ready(kept);
  show(kept, await bundle('b'));
  assert.equal(answer(kept, '/'), '<head></head>b');
  assert.equal(answer(kept, '/_sx/search/0123456789abcdef.js'), 'index');
});

test('a swap gives up the work for the version before', async () => {
  const kept = keep();
  const former = await bundle('a');
  show(kept, former);
  await settled();
  const next = await bundle('b');
  show(kept, next);
  await settled();
  await settled();
  assert.equal(kept.jobs[0]?.signal.aborted, true);
  assert.equal(kept.jobs[1]?.task.digest, next.digest);
  kept.jobs[1]?.end(done());
  await ready(kept);
  assert.equal(former.extension(), undefined);
  assert.equal(answer(kept, '/'), '<head><line></head>b');
});

test('another base path removes the lines at once, and new ones are made', async () => {
  const kept = keep();
  const live = await bundle('a');
  show(kept, live, '/docs');
  await settled();
  kept.jobs[0]?.end(done());
  await ready(kept);
  kept.site.relabel({ version: '2', basePath: '/docs' }, 1);
  await settled();
  assert.equal(kept.jobs.length, 1, 'a version of the same content under the same path');
  kept.site.relabel({ version: '2', basePath: '/guide' }, 2);
  assert.equal(answer(kept, '/'), '<head></head>a');
  await settled();
  assert.equal(kept.jobs[1]?.task.basePath, '/guide');
  kept.jobs[1]?.end(done('<line to guide>'));
  await ready(kept);
  assert.equal(answer(kept, '/'), '<head><line to guide></head>a');
  await live.retire();
});

test('made files wait for the check of the bundle, because pages with lines are read without one', async () => {
  const kept = keep();
  const check = createRunningCheck();
  show(kept, await bundle('a', check));
  await settled();
  assert.equal(kept.jobs.length, 0);
  check.finish();
  await settled();
  assert.equal(kept.jobs.length, 1);
  kept.jobs[0]?.end(done());
  await ready(kept);
});

test('a thread that fails, crashes or lies leaves the site as it is', async () => {
  const outcomes: readonly ((job: Job) => void)[] = [
    ({ crash }) => crash(new PublishableError('StoreFull', 'full')),
    ({ crash }) => crash(new Error('out of memory')),
    ({ end }) => {
      const { additions } = done();
      assert.ok(additions);
      end({ additions: { ...additions, hashes: new Uint8Array(1) }, isFound: false });
    },
  ];
  for (const outcome of outcomes) {
    const kept = keep();
    show(kept, await bundle('a'));
    await settled();
    assert.ok(kept.jobs[0]);
    outcome(kept.jobs[0]);
    await ready(kept);
    assert.equal(kept.keeper.state(), 'failed');
    assert.equal(answer(kept, '/'), '<head></head>a');
  }
});

test('a bundle with a search of its own is served as it is', async () => {
  const kept = keep();
  show(kept, await bundle('a'));
  await settled();
  kept.jobs[0]?.end({ additions: undefined, isFound: false });
  await ready(kept);
  assert.equal(kept.keeper.state(), 'own');
  assert.equal(answer(kept, '/'), '<head></head>a');
});

test('with the search off no thread starts', async () => {
  const kept = keep(false);
  show(kept, await bundle('a'));
  await settled();
  assert.equal(kept.jobs.length, 0);
  assert.equal(kept.keeper.state(), 'off');
});

test('variants are made once it is settled what is served, of the made files where there are some', async () => {
  for (const isMade of [true, false]) {
    const kept = keep();
    const tasks: VariantTask[] = [];
    const settings = { store: storeDir, encodings: ['br'] as const, encodingCpu: 50, maxBundleSize: 5000 };
    const variants = createVariantKeeper(settings, {
      make: async (task) => {
        tasks.push(task);
        throw new PublishableError('StoreFull', 'full');
      },
      clock: systemClock,
      logger: silentLogger,
    });
    const live = await bundle('a');
    variants.prepareFor(live, kept.keeper.prepareFor(live, ''));
    await settled();
    assert.equal(tasks.length, 0);
    if (isMade) kept.jobs[0]?.end(done());
    else kept.jobs[0]?.crash(new Error('out of memory'));
    while (variants.state() === 'making') await settled();
    assert.equal(tasks.length, 1);
    assert.equal(tasks[0]?.additions !== undefined, isMade);
  }
});

test('a retired bundle closes the pack of its made files with its own', async () => {
  const kept = keep();
  const live = await bundle('a');
  show(kept, live);
  await settled();
  kept.jobs[0]?.end(done());
  await ready(kept);
  const pack = live.packOf(undefined);
  const route = kept.site.view()?.find('/_sx/search/0123456789abcdef.js');
  assert.ok(route?.kind === 'file');
  live.hold();
  const retired = live.retire();
  assert.equal(readText(pack, route.file), 'index', 'a reader still has it');
  live.release();
  await retired;
  assert.throws(() => readText(pack, route.file), /closed/);
});
