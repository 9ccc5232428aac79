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
import { noCounts, packAdditions } from '#server/content/additions.ts';
import { goLive, type LiveBundle } from '#server/content/live-bundle.ts';
import { createLiveSite, type LiveSite } from '#server/content/live-site.ts';
import { isOfOneVersion } from '#server/content/markdown-twins.ts';
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

function keep({ search = true, markdown = false } = {}): Kept {
  const jobs: Job[] = [];
  const make: PrepareFiles = (task, signal) =>
    new Promise((end, crash) => {
      signal.addEventListener('abort', () => crash(new Error('given up')));
      jobs.push({ task, signal, end, crash });
    });
  const limits = { encodingCpu: 50, maxBundleSize: 5000 };
  const settings = { store: storeDir, search, markdown, ...limits, serveDotfiles: [] };
  const prepare = (active: LiveBundle, basePath: string) => void keeper.prepareFor(active, basePath);
  const site = createLiveSite(2, prepare, undefined, markdown ? isOfOneVersion : undefined);
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
  const counts = { ...noCounts, search: { files: 1, pages: 1, sizeBytes: 5 } };
  return { features: ['search'], additions: packAdditions(rows), counts, isFound: false };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function ready({ keeper }: Kept): Promise<void> {
  while (keeper.states().search === 'making') await settled();
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
  assert.equal(kept.keeper.states().search, 'making');
  assert.equal(kept.jobs[0]?.task.maxBytes, 5000 - live.stored.index.sizeBytes);
  assert.equal(answer(kept, '/'), '<head></head>a');
  const before = kept.site.view();
  const plainTag = before?.find('/');
  kept.jobs[0]?.end(done());
  await ready(kept);
  assert.equal(kept.keeper.states().search, 'ready');
  assert.notEqual(kept.site.view(), before, 'what was decided before is forgotten');
  assert.equal(answer(kept, '/'), '<head><line></head>a');
  assert.equal(answer(kept, '/_sx/search/0123456789abcdef.js'), 'index');
  const tag = kept.site.view()?.find('/');
  assert.ok(tag?.kind === 'file' && plainTag?.kind === 'file');
  assert.notEqual(tag.entityTag, plainTag.entityTag);
  assert.equal(tag.digest, live.digest);
  assert.deepEqual(live.extension()?.counts.search, { files: 1, pages: 1, sizeBytes: 5 });
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
      const prepared = done();
      assert.ok(prepared.additions);
      end({ ...prepared, additions: { ...prepared.additions, hashes: new Uint8Array(1) } });
    },
  ];
  for (const outcome of outcomes) {
    const kept = keep();
    show(kept, await bundle('a'));
    await settled();
    assert.ok(kept.jobs[0]);
    outcome(kept.jobs[0]);
    await ready(kept);
    assert.equal(kept.keeper.states().search, 'failed');
    assert.equal(answer(kept, '/'), '<head></head>a');
  }
});

test('a bundle with a search of its own is served as it is', async () => {
  const kept = keep();
  show(kept, await bundle('a'));
  await settled();
  kept.jobs[0]?.end({ features: [], additions: undefined, counts: noCounts, isFound: false });
  await ready(kept);
  assert.equal(kept.keeper.states().search, 'own');
  assert.equal(answer(kept, '/'), '<head></head>a');
});

test('with the search off no thread starts', async () => {
  const kept = keep({ search: false });
  show(kept, await bundle('a'));
  await settled();
  assert.equal(kept.jobs.length, 0);
  assert.equal(kept.keeper.states().search, 'off');
});

/** As `done`, with Markdown of the page, and without a search. */
function doneMarkdown(): PreparedFiles {
  const sha256 = 'e'.repeat(64);
  const line = '<link>';
  const rows = {
    pages: [{ ordinal: 0, at: 6, lineAt: 0, lineSize: line.length, sha256 }],
    files: [{ path: 'index.md', offset: 0, size: 5, sha256 }],
    lines: line,
    packBytes: 5,
  };
  const markdown = { files: 1, pages: 1, sizeBytes: 5, leftOutPages: 0 };
  const counts = { ...noCounts, markdown };
  return { features: ['markdown'], additions: packAdditions(rows), counts, isFound: false };
}

test('Markdown is served with the page that links to it, and never for another version', async () => {
  const kept = keep({ search: false, markdown: true });
  show(kept, await bundle('a'), '/docs');
  await settled();
  assert.deepEqual(kept.jobs[0]?.task.features, ['markdown']);
  assert.deepEqual(kept.keeper.states(), { search: 'off', markdown: 'making' });
  assert.equal(kept.site.view()?.twins, undefined);
  kept.jobs[0]?.end(doneMarkdown());
  while (kept.keeper.states().markdown === 'making') await settled();
  assert.deepEqual(kept.keeper.states(), { search: 'off', markdown: 'ready' });
  assert.equal(answer(kept, '/'), '<head><link></head>a');
  for (const path of ['/index.md', '/index.html.md']) assert.equal(answer(kept, path), 'index', path);
  const page = kept.site.view()?.find('/');
  assert.ok(page?.kind === 'file');
  assert.equal(kept.site.view()?.twins?.twinOf(page)?.address, '/docs/index.md');
  show(kept, await bundle('b'));
  assert.equal(kept.site.view()?.twins, undefined);
  assert.equal(answer(kept, '/'), '<head></head>b');
  for (const path of ['/index.md', '/index.html.md']) assert.equal(answer(kept, path), undefined, path);
});

test('a bundle with a search of its own still gets Markdown', async () => {
  const kept = keep({ markdown: true });
  const live = await bundle('a');
  show(kept, live);
  await settled();
  assert.deepEqual(kept.jobs[0]?.task.features, ['search', 'markdown']);
  kept.jobs[0]?.end(doneMarkdown());
  await ready(kept);
  const states = { search: 'own', markdown: 'ready' };
  assert.deepEqual(kept.keeper.states(), states);
  kept.site.relabel({ version: '2', basePath: undefined }, 1);
  await kept.keeper.prepareFor(live, '');
  assert.deepEqual(kept.keeper.states(), states, 'what is there is known again');
  assert.equal(kept.jobs.length, 1);
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
