// The watch over the source, with every port faked and time moved by hand: what it fetches, serves, writes
// down and reports when things go well and when they do not.

import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import type { ServedBundle } from '#bundle/published-bundle.ts';
import { oddAnswer } from '#bundle/refusal.ts';
import { bundleDamaged, createRunningCheck, type RunningCheck } from '#bundle/store/pending-check.ts';
import type { BundleStore } from '#bundle/store/store.ts';
import { storeFull } from '#bundle/store/store-fault.ts';
import type { Activation } from '#bundle/store/stored-bundle.ts';
import { silentLogger } from '#platform/runtime/logger.ts';
import { Link } from '#platform/wire/link.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { createLiveSite, type LiveSite } from '#server/content/live-site.ts';
import { pathsPerSlice } from '#server/content/route-table.ts';
import { createRoutesAhead } from '#server/content/routes-ahead.ts';
import type { Peers } from '#server/peers/peers.ts';
import { diskSource, peerSource, type WrittenBundle } from '#server/source/bundle-source.ts';
import { linkSource, type PrepareBundle } from '#server/source/link-source.ts';
import { createServedRecord } from '#server/source/served-record.ts';
import type { SourceReading } from '#server/source/source-decision.ts';
import { createSourceWatch, type SourceWatch } from '#server/source/source-watch.ts';
import { readText } from '../../../support/store-builder.ts';
import { type MemoryBundle, storedBundle } from '../fixtures.ts';
import { type ManualClock, manualClock } from '../manual-clock.ts';

const pollMs = 5000;
const startupTimeoutMs = 30_000;

/** A store in memory that writes down what is done to it. */
class FakeStore implements BundleStore {
  readonly log: string[] = [];
  readonly bundles = new Map<string, () => MemoryBundle>();
  pointer: string | undefined;
  facts: Activation | undefined;
  failure: Error | undefined;
  readFailure: Error | undefined;
  openFailure: Error | undefined;
  /** A damaged copy that only a start serves. */
  setAside: string | undefined;
  /** Of the files of what is served at the start. */
  check: RunningCheck | undefined;

  put(version: string): string {
    const make = (): MemoryBundle => storedBundle({ 'index.html': version }, this.facts);
    const { digest } = make().index;
    this.bundles.set(digest, make);
    return digest;
  }

  readonly searches: boolean[] = [];

  async lastGood(passesFaults = false): Promise<MemoryBundle | undefined> {
    this.searches.push(passesFaults);
    if (this.readFailure !== undefined) throw this.readFailure;
    return this.pointer === undefined ? undefined : this.open(this.pointer);
  }

  async lastGoodAtStart(passesFaults = false): Promise<MemoryBundle | undefined> {
    const { check } = this;
    const found = (await this.lastGood(passesFaults)) ?? (await this.open(this.setAside ?? ''));
    return found && check ? { ...found, proven: () => check.end } : found;
  }

  async open(digest: string): Promise<MemoryBundle | undefined> {
    if (this.openFailure !== undefined) throw this.openFailure;
    return this.bundles.get(digest)?.();
  }

  former: () => Promise<readonly string[]> = async () => [];

  async activate(digest: string, facts: Activation): Promise<void> {
    if (this.failure !== undefined) throw this.failure;
    this.log.push(`activate ${facts.version}`);
    this.pointer = digest;
  }

  async dropFormer(neededDigests: readonly string[]): Promise<number> {
    const gone = [...this.bundles.keys()].filter(
      (digest) => digest !== this.pointer && !neededDigests.includes(digest),
    );
    for (const digest of gone) this.bundles.delete(digest);
    this.log.push(`drop ${gone.length}`);
    return gone.length;
  }

  async forgetDamaged(provenDigest: string): Promise<void> {
    if (provenDigest === this.pointer) this.setAside = undefined;
  }

  async sweep(): Promise<void> {
    this.log.push('sweep');
  }
}

let clock: ManualClock;
let store: FakeStore;
let site: LiveSite;
let watch: SourceWatch;
let reading: SourceReading;
/** Of the store's disk. */
let freeBytes: number | undefined;
let fetches: ServedBundle[];
let outcomes: string[];
let warnings: string[];
/** What the next fetches do; the last one stays. */
let answer: (
  published: ServedBundle,
  signal: AbortSignal,
) => Promise<{ readonly digest: string } | WrittenBundle>;
let stop: AbortController;
let running: Promise<void>;
let peers: Peers | undefined;
let fixedBasePath: string | undefined;

beforeEach(() => {
  clock = manualClock(Date.parse('2026-11-21T10:00:00Z'));
  store = new FakeStore();
  site = createLiveSite(2);
  reading = { kind: 'absent' };
  freeBytes = undefined;
  fetches = [];
  outcomes = [];
  warnings = [];
  answer = async (published) => ({ digest: store.put(published.version ?? 'unnamed') });
  stop = new AbortController();
  running = Promise.resolve();
  peers = undefined;
  fixedBasePath = undefined;
});
afterEach(async () => {
  stop.abort(new Error('stopped'));
  await clock.pass(0);
  await running;
});

async function start(): Promise<void> {
  const prepare: PrepareBundle = async (published, { isWantedUnstored }, signal) => {
    fetches.push(published);
    const prepared = await answer(published, signal);
    return 'digest' in prepared || isWantedUnstored() ? prepared : { digest: await prepared.committed };
  };
  const link = linkSource(prepare, (outcome) => outcomes.push(outcome));
  const logger = { ...silentLogger, warn: (_fields: object, words: string) => warnings.push(words) };
  watch = createSourceWatch({
    content: { kind: 'bundle-file', read: async () => reading },
    sources: [diskSource, ...(peers === undefined ? [] : [peerSource(peers)]), link],
    store,
    record: createServedRecord(store, site, { clock, logger }),
    routes: createRoutesAhead(async () => {}),
    site,
    clock,
    random: { uuid: () => '', bytes: () => new Uint8Array(), fraction: () => 0.5 },
    logger,
    freeBytes: async () => freeBytes,
    pollMs,
    startupTimeoutMs,
    fixedBasePath,
  });
  running = watch.run(stop.signal);
  await clock.pass(0);
}

function publish(version: string, link = 'first', digest?: string): void {
  const parsed = Link.parse(`https://storage.example.com/${link}`) ?? assert.fail();
  reading = {
    kind: 'published',
    published: {
      version,
      digest,
      jobId: `job-${version}`,
      link: parsed,
      issuedAt: undefined,
      expiresAt: undefined,
    },
  };
}

/** Reads a file of every bundle that may be asked for one: fails if a pack was closed under it. */
async function readAll(): Promise<readonly string[]> {
  const view = site.view() ?? assert.fail('nothing is served');
  return [view.active, ...view.previous].map(({ bundle: { stored } }) =>
    readText(stored, stored.index.files[0] ?? assert.fail()),
  );
}

const servedVersion = (): string | undefined => site.view()?.active.version;
const fails = (error: unknown) => (): Promise<never> => Promise.reject(error);
const expired = new PublishableError('LinkExpired', 'the link expired', { kind: 'wait' });
const transient = new PublishableError('StorageUnavailable', 'the storage is busy', { kind: 'retry' });
const full = storeFull();
const maintenance = oddAnswer('HtmlInsteadOfArchive');
const refused = new PublishableError('NotAnArchive', 'this is no archive', { kind: 'refused' });

test('a first start waits for bundle.json, downloads, serves, and only then records the version', async () => {
  await start();
  assert.equal(watch.progress().state, 'waiting-for-bundle-json');
  publish('v1');
  await clock.pass(pollMs);
  assert.equal(servedVersion(), 'v1');
  assert.deepEqual(store.log, ['activate v1', 'sweep']);
  assert.equal(watch.progress().state, 'in-sync');
  assert.deepEqual(outcomes, ['ok']);
});

/** Content that can be read while it is being stored. @param committed settles when it is stored, or could not be */
function writtenBundle(
  version: string,
  committed: Promise<void>,
): WrittenBundle & { readonly stored: MemoryBundle } {
  const stored = storedBundle({ 'index.html': version });
  return { stored, committed: committed.then(() => store.put(version)) };
}

test('the first content is served while it is being stored, and recorded once it is there', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  publish('v1');
  answer = async () => writtenBundle('v1', promise);
  await start();
  assert.equal(servedVersion(), 'v1');
  assert.deepEqual(await readAll(), ['v1']);
  assert.deepEqual([store.log, outcomes, watch.progress().state], [[], [], 'preparing']);
  resolve();
  await clock.pass(0);
  assert.deepEqual([store.log, outcomes], [['activate v1', 'sweep'], ['ok']]);
  assert.equal(watch.progress().state, 'in-sync');
});

for (const [what, error, kind, waitMs] of [
  ['a disk that fails', transient, 'transient', 60_000],
  ['a full disk', full, 'transient', 20 * 60_000],
] as const) {
  test(`${what} after content is served is reported, and the content is obtained again after its wait`, async () => {
    publish('v1');
    answer = async () => writtenBundle('v1', Promise.reject(error));
    await start();
    assert.equal(servedVersion(), 'v1');
    assert.deepEqual(await readAll(), ['v1'], 'what can be read is served meanwhile');
    assert.deepEqual(store.log, what === 'a full disk' ? ['drop 0'] : []);
    assert.deepEqual(outcomes, [kind]);
    assert.equal(watch.progress().state, error === full ? 'store-full' : 'backing-off');
    assert.equal(watch.progress().lastError?.code, error.code);
    await clock.pass(10 * waitMs);
    assert.equal(watch.progress().lastError?.code, error.code);
    assert.ok(fetches.length > 1 && fetches.length <= 20, `${fetches.length} downloads`);
    answer = async () => ({ digest: store.put('v1') });
    await clock.pass(waitMs * 2);
    assert.equal(watch.progress().state, 'in-sync');
    assert.equal(site.view()?.active.bundle.isUnreadable(), false);
    assert.equal(store.log.at(-1), 'sweep');
  });
}

test('new content for a site that is up is served once it is stored, and costs nothing if it cannot be', async () => {
  publish('v1');
  await start();
  answer = async () => writtenBundle('v2', Promise.reject(transient));
  publish('v2');
  await clock.pass(pollMs);
  assert.deepEqual([servedVersion(), await readAll(), site.swaps()], ['v1', ['v1'], 0]);
  assert.equal(watch.progress().lastError?.code, transient.code);
  const { promise, resolve } = Promise.withResolvers<void>();
  answer = async () => writtenBundle('v2', promise);
  await clock.pass(60_000);
  assert.equal(servedVersion(), 'v1', 'it waits for the disk');
  resolve();
  await clock.pass(0);
  assert.deepEqual([servedVersion(), watch.progress().state], ['v2', 'in-sync']);
});

test('where new content could not be stored, the last good version is served until it is obtained again', async () => {
  store.pointer = store.put('v1');
  store.facts = { version: 'v1', activatedAt: 1 };
  publish('v2');
  answer = async () => writtenBundle('v2', Promise.reject(transient));
  await start();
  assert.equal(servedVersion(), 'v1');
  const { length } = fetches;
  answer = async () => ({ digest: store.put('v2') });
  await clock.pass(60_000);
  assert.ok(fetches.length > length, 'it is obtained again');
  assert.equal(servedVersion(), 'v2');
});

test('new content that could not be stored is served until the version of the disk has proven better', async () => {
  publish('v2');
  answer = async () => writtenBundle('v2', Promise.reject(transient));
  const check = await startInCheck();
  assert.equal(servedVersion(), 'v2');
  damage();
  answer = fails(expired);
  check.fail(bundleDamaged());
  await clock.pass(0);
  assert.equal(servedVersion(), 'v0', 'v1 is damaged and never takes its place');
  assert.equal(site.view()?.active.bundle.isUnreadable(), false);
});

/** v2 is served and could not be stored, v3 is published and being obtained, and v1 of the disk is in its check. */
async function startWithLostBundle(obtained: Promise<{ readonly digest: string }>): Promise<RunningCheck> {
  const { promise, reject } = Promise.withResolvers<never>();
  answer = async () => writtenBundle('v2', promise);
  publish('v2');
  const check = await startInCheck();
  publish('v3');
  await clock.pass(pollMs);
  answer = () => obtained;
  reject(transient);
  await clock.pass(startupTimeoutMs);
  assert.deepEqual([servedVersion(), fetches.length], ['v2', 2]);
  return check;
}

test('a copy of the disk that proves good after other content has come does not take its place', async () => {
  const { promise, resolve } = Promise.withResolvers<{ readonly digest: string }>();
  const check = await startWithLostBundle(promise);
  resolve({ digest: store.put('v3') });
  await clock.pass(0);
  assert.equal(servedVersion(), 'v3');
  check.finish();
  await clock.pass(0);
  assert.deepEqual([servedVersion(), site.swaps(), fetches.length], ['v3', 1, 2]);
});

test('a full store keeps what may be the last one while the copy of the disk is not proven', async () => {
  const { promise, reject } = Promise.withResolvers<{ readonly digest: string }>();
  const check = await startWithLostBundle(promise);
  reject(full);
  answer = fails(full);
  await clock.pass(0);
  damage();
  check.fail(bundleDamaged());
  await clock.pass(0);
  assert.equal(servedVersion(), 'v0');
});

test('a full store keeps the former versions while what is served is not recorded', async () => {
  publish('v1');
  await start();
  store.failure = new Error('disk');
  publish('v2');
  await clock.pass(pollMs);
  site.view()?.previous[0]?.bundle.reportUnreadable();
  answer = fails(full);
  publish('v3');
  await clock.pass(pollMs);
  assert.ok(!store.log.some((line) => line.startsWith('drop')), store.log.join());
});

for (const failure of [expired, full, refused]) {
  test(`a disk that cannot give the published content for a moment is asked again, also after ${failure.code}`, async () => {
    publish('v1', 'first', store.put('v1'));
    store.openFailure = new PublishableError('StoreUnavailable', 'too many open files', { kind: 'retry' });
    answer = fails(failure);
    await start();
    assert.deepEqual(
      [watch.progress().state, watch.progress().lastError?.code],
      ['backing-off', 'StoreUnavailable'],
    );
    store.openFailure = undefined;
    await clock.pass(2000);
    assert.deepEqual([servedVersion(), fetches.length], ['v1', 1]);
  });
}

test('a failure of other content does not count: the disk is asked again after a momentary fault', async () => {
  publish('v2');
  answer = fails(expired);
  await start();
  publish('v1', 'first', store.put('v1'));
  store.openFailure = new PublishableError('StoreUnavailable', 'too many open files', { kind: 'retry' });
  answer = fails(refused);
  await clock.pass(pollMs);
  assert.equal(watch.progress().state, 'backing-off');
  store.openFailure = undefined;
  await clock.pass(2000);
  assert.equal(servedVersion(), 'v1');
});

test('an archive that is refused while the disk cannot give the content is not fetched again and again', async () => {
  publish('v1', 'first', store.put('v1'));
  store.openFailure = new PublishableError('StoreUnavailable', 'the file system is broken', {
    kind: 'retry',
  });
  answer = fails(refused);
  await start();
  await clock.pass(5 * 60_000);
  assert.deepEqual([watch.progress().state, fetches.length], ['rejected', 2]);
});

test('what was set aside stays while what is served could not be recorded, which is tried again', async () => {
  store.setAside = store.put('v0');
  store.failure = new Error('disk');
  publish('v1');
  await start();
  assert.equal(servedVersion(), 'v1');
  assert.ok(store.setAside !== undefined);
  store.failure = undefined;
  await clock.pass(60_000 + pollMs);
  assert.deepEqual(store.log, ['activate v1', 'sweep']);
});

test('other content that is published meanwhile waits until what is served is stored', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const signals: AbortSignal[] = [];
  publish('v1');
  answer = async (published, signal) => {
    signals.push(signal);
    return published.version === 'v1' ? writtenBundle('v1', promise) : { digest: store.put('v2') };
  };
  await start();
  publish('v2');
  await clock.pass(2 * pollMs);
  assert.equal(servedVersion(), 'v1');
  assert.equal(signals[0]?.aborted, false, 'it goes on being stored');
  resolve();
  await clock.pass(0);
  assert.equal(servedVersion(), 'v2');
  assert.deepEqual(store.log, ['activate v1', 'sweep', 'activate v2', 'sweep']);
});

test('content without a name and without pages is refused, although it can be read before it is stored', async () => {
  publish('v1');
  const stored = storedBundle({ 'a.css': 'a' });
  let isStored = false;
  answer = async () => {
    isStored = true;
    store.bundles.set(stored.index.digest, () => storedBundle({ 'a.css': 'a' }));
    return { stored, committed: Promise.resolve(stored.index.digest) };
  };
  await start();
  assert.ok(isStored);
  assert.equal(servedVersion(), undefined);
  assert.equal(watch.progress().lastError?.code, 'NoPages');
});

test('a new link for the same version costs only the check', async () => {
  publish('v1');
  await start();
  for (const link of ['second', 'third', 'fourth']) {
    publish('v1', link);
    await clock.pass(pollMs);
  }
  assert.equal(fetches.length, 1);
  assert.equal(site.swaps(), 0);
});

test('the same content under another version is written down and not fetched', async () => {
  publish('v1');
  await start();
  publish('v2', 'second', site.view()?.active.bundle.digest);
  await clock.pass(pollMs);
  assert.equal(servedVersion(), 'v2');
  assert.equal(fetches.length, 1);
  assert.deepEqual(store.log, ['activate v1', 'sweep', 'activate v2', 'sweep']);
});

test('after a restart with the published content on disk nothing is fetched', async () => {
  store.pointer = store.put('v1');
  store.facts = { version: 'v1', activatedAt: 1 };
  publish('v1');
  await start();
  assert.equal(servedVersion(), 'v1');
  assert.equal(site.view()?.active.provenance, 'disk');
  assert.equal(fetches.length, 0);
  assert.deepEqual(await readAll(), ['v1']);
});

test('after a restart with an expired link the last good version is served until a new link arrives', async () => {
  store.pointer = store.put('v1');
  store.facts = { version: 'v1', activatedAt: 1 };
  publish('v2');
  answer = fails(expired);
  await start();
  assert.equal(servedVersion(), 'v1');
  assert.equal(watch.progress().state, 'waiting-for-link');
  assert.equal(watch.progress().lastError?.code, 'LinkExpired');
  await clock.pass(60_000);
  assert.equal(fetches.length, 1, 'an expired link is not requested again at every check');
  answer = async () => ({ digest: store.put('v2') });
  publish('v2', 'second');
  await clock.pass(pollMs);
  assert.equal(servedVersion(), 'v2');
});

for (const place of ['pointer', 'setAside'] as const)
  test(`a disk that is unreadable for a moment at start is read again, and its last version is served: ${place}`, async () => {
    store[place] = store.put('v1');
    store.facts = { version: 'v1', activatedAt: 1 };
    store.readFailure = new PublishableError('StoreUnavailable', 'too many open files', { kind: 'retry' });
    publish('v2');
    answer = fails(expired);
    await start();
    await clock.pass(3 * pollMs);
    assert.equal(servedVersion(), undefined);
    assert.equal(warnings.filter((words) => words.startsWith('could not open the stored bundle')).length, 1);
    store.readFailure = undefined;
    await clock.pass(pollMs);
    assert.equal(servedVersion(), 'v1');
  });

/** What is served at the start, while its files are being checked; a former version lies behind it. */
async function startInCheck(): Promise<RunningCheck> {
  store.former = async () => [...store.bundles.keys()].filter((digest) => digest !== store.pointer);
  store.put('v0');
  store.pointer = store.put('v1');
  store.facts = { version: 'v1', activatedAt: 1 };
  const check = createRunningCheck();
  store.check = check;
  await start();
  return check;
}

/** As the store does: the damaged copy goes at its next check, and the one before it is the last good one. */
function damage(): void {
  store.bundles.delete(store.pointer ?? '');
  store.pointer = [...store.bundles.keys()][0];
  store.facts = { version: 'v0', activatedAt: 0 };
}

test('a stored bundle is served while its files are checked; former ones come when they are', async () => {
  publish('v1');
  const check = await startInCheck();
  assert.equal(servedVersion(), 'v1');
  assert.equal(watch.progress().state, 'starting');
  assert.equal(site.view()?.previous.length, 0);
  check.finish();
  await clock.pass(0);
  assert.equal(watch.progress().state, 'in-sync');
  assert.equal(site.view()?.previous.length, 1);
  assert.deepEqual([fetches.length, warnings], [0, []]);
});

test('a stored bundle that proves damaged is fetched again, and answers what it can until then', async () => {
  publish('v1');
  const { promise, resolve } = Promise.withResolvers<{ digest: string }>();
  answer = () => promise;
  const check = await startInCheck();
  const damaged = site.view()?.active.bundle ?? assert.fail();
  damage();
  check.fail(bundleDamaged());
  await clock.pass(1000);
  assert.equal(site.view()?.active.bundle, damaged);
  assert.equal(watch.progress().state, 'preparing');
  resolve({ digest: store.put('v1') });
  await clock.pass(0);
  assert.notEqual(site.view()?.active.bundle, damaged);
  assert.deepEqual([servedVersion(), site.swaps(), fetches.length], ['v1', 0, 1]);
  assert.equal(site.view()?.active.bundle.isUnreadable(), false);
});

const withoutVendor: readonly { readonly name: string; readonly publish: () => void }[] = [
  { name: 'with an expired link', publish: () => publish('v1') },
  { name: 'without bundle.json', publish: () => {} },
];
for (const { name, publish } of withoutVendor) {
  test(`${name}, the version before one that proves damaged is served`, async () => {
    publish();
    answer = fails(expired);
    const check = await startInCheck();
    assert.equal(servedVersion(), 'v1');
    damage();
    check.fail(bundleDamaged());
    await clock.pass(0);
    assert.equal(servedVersion(), 'v0');
    assert.equal(site.view()?.active.bundle.isUnreadable(), false);
  });
}

test('a check that the machine could not do to its end is done again, and the bundle stays served', async () => {
  publish('v1');
  const check = await startInCheck();
  const failure = new PublishableError('StoreUnavailable', 'too many open files', { kind: 'retry' });
  store.readFailure = failure;
  check.fail(failure);
  answer = fails(expired);
  await clock.pass(pollMs);
  assert.equal(servedVersion(), 'v1');
  assert.equal(warnings.filter((one) => /^could not check the stored bundle/.test(one)).length, 1);
  store.readFailure = undefined;
  await clock.pass(pollMs);
  assert.deepEqual([servedVersion(), site.view()?.active.bundle.isUnreadable()], ['v1', false]);
});

test('a full store keeps the former versions until the last good one has proven whole', async () => {
  publish('v2');
  answer = fails(full);
  const check = await startInCheck();
  const drops = (): number => store.log.filter((line) => line.startsWith('drop')).length;
  assert.equal(drops(), 0);
  check.fail(bundleDamaged());
  await clock.pass(0);
  assert.equal(drops(), 0);
});

test('a full store keeps the former versions too while the last good one is served and not proven', async () => {
  publish('v2');
  const { promise, reject } = Promise.withResolvers<never>();
  answer = () => promise;
  const check = await startInCheck();
  await clock.pass(startupTimeoutMs);
  assert.equal(servedVersion(), 'v1');
  const drops = (): number => store.log.filter((line) => line.startsWith('drop')).length;
  reject(full);
  await clock.pass(0);
  assert.equal(drops(), 0);
  check.fail(bundleDamaged());
  await clock.pass(0);
  assert.equal(drops(), 0);
});

test('a full store keeps the former versions while what is served, or is behind it, proved damaged', async () => {
  publish('v1');
  await start();
  store.put('v0');
  const isDamaged = site.view()?.active.bundle.reportUnreadable();
  assert.ok(isDamaged);
  publish('v2');
  for (const isOffered of [false, true]) {
    answer = isOffered ? async () => writtenBundle('v2', Promise.reject(full)) : fails(full);
    await clock.pass(30 * 60_000);
    assert.equal(servedVersion(), isOffered ? 'v2' : 'v1');
    assert.deepEqual(
      store.log.filter((line) => line.startsWith('drop')),
      [],
    );
  }
});

test('a full store drops a former version that cannot be read, if what is served is whole and stored', async () => {
  publish('v1');
  await start();
  publish('v2');
  await clock.pass(pollMs);
  site.view()?.previous[0]?.bundle.reportUnreadable();
  answer = fails(full);
  publish('v3');
  await clock.pass(pollMs);
  assert.ok(store.log.includes('drop 1'), store.log.join());
});

test('what was set aside goes once another bundle of the disk is proven', async () => {
  store.setAside = store.put('v0');
  const check = await startInCheck();
  await clock.pass(startupTimeoutMs);
  assert.ok(store.setAside !== undefined);
  check.finish();
  await clock.pass(0);
  assert.equal(store.setAside, undefined);
});

test('published content that the disk cannot give is asked of the other sources', async () => {
  publish('v1', 'first', store.put('v1'));
  store.openFailure = new PublishableError('StoreUnavailable', 'the file system is broken', {
    kind: 'retry',
  });
  answer = async () => {
    store.openFailure = undefined;
    return { digest: store.put('v1') };
  };
  await start();
  assert.deepEqual([servedVersion(), fetches.length], ['v1', 1]);
});

test('a fault of the disk that lasts ten seconds no longer hides the version behind it', async () => {
  store.readFailure = new PublishableError('StoreUnavailable', 'the file system is broken', {
    kind: 'retry',
  });
  await start();
  await clock.pass(2 * pollMs);
  assert.equal(store.searches.at(-1), true);
  assert.ok(!store.searches.slice(0, -1).includes(true), store.searches.join());
});

test('a disk that keeps failing is searched less and less often, and at least every half minute', async () => {
  store.readFailure = new PublishableError('StoreUnavailable', 'the file system is broken', {
    kind: 'retry',
  });
  await start();
  await clock.pass(60 * 60_000);
  const searches = store.searches.filter((passesFaults) => passesFaults).length;
  assert.ok(searches >= 120 && searches < 135, `${searches} searches`);
  store.readFailure = undefined;
  store.facts = { version: 'v1', activatedAt: 1 };
  store.pointer = store.put('v1');
  await clock.pass(30_000 + 3 * pollMs);
  assert.equal(servedVersion(), 'v1');
});

test('a search that waits is forgotten once something is served, and a full store drops former versions', async () => {
  store.readFailure = new PublishableError('StoreUnavailable', 'the file system is broken', {
    kind: 'retry',
  });
  await start();
  await clock.pass(10 * 60_000);
  publish('v1');
  await clock.pass(pollMs);
  assert.equal(servedVersion(), 'v1');
  answer = fails(full);
  publish('v2');
  await clock.pass(pollMs);
  assert.ok(
    store.log.some((line) => line.startsWith('drop')),
    store.log.join(),
  );
});

test('a full store keeps the last good version, also behind one that the disk cannot give', async () => {
  const [former, current] = [store.put('v0'), store.put('v1')];
  store.pointer = current;
  store.lastGood = async () => store.bundles.get(former)?.();
  publish('v2');
  answer = fails(full);
  await start();
  assert.ok(store.log.some((line) => line.startsWith('drop')));
  assert.ok(store.bundles.has(former));
});

test('a stop does not wait for the check of what is served', async () => {
  publish('v1');
  await startInCheck();
  stop.abort(new Error('stopped'));
  await running;
  assert.deepEqual(warnings, []);
});

/** Another server of the site, as far as it is asked here. */
function peersThat(copy: () => Promise<boolean>): Peers {
  return { bring: async () => false, copy, report: () => {}, release: () => {} };
}

test('a peer that says it has the bundle and sends none changes nothing about an expired or refused link', async () => {
  for (const [error, ms] of [
    [expired, 4 * 60_000],
    [refused, 9 * 60_000],
  ] as const) {
    let asked = 0;
    peers = peersThat(async () => {
      asked += 1;
      return false;
    });
    publish('v1', 'first', store.put('v1'));
    store.bundles.clear();
    answer = fails(error);
    fetches = [];
    await start();
    await clock.pass(ms);
    assert.equal(fetches.length, 1, error.code);
    assert.ok(asked >= ms / pollMs - 2, 'the peer is asked all along');
    stop.abort(new Error('stopped'));
    await running;
    stop = new AbortController();
  }
});

test('with an expired link a peer’s copy is served as soon as it exists, under the published version', async () => {
  const digest = store.put('v1');
  store.bundles.clear();
  let hasIt = false;
  peers = peersThat(async () => {
    if (hasIt) store.put('v1');
    return hasIt;
  });
  publish('v1', 'first', digest);
  answer = fails(expired);
  await start();
  await clock.pass(3 * pollMs);
  assert.equal(servedVersion(), undefined);
  hasIt = true;
  await clock.pass(pollMs);
  assert.equal(servedVersion(), 'v1');
  assert.equal(site.view()?.active.provenance, 'peer');
  assert.deepEqual([watch.progress().state, watch.progress().lastError], ['in-sync', undefined]);
  assert.equal(fetches.length, 1);
});

test('a full store is filled once there is room, and not asked again before', async () => {
  const room = { folder: '/store', neededBytes: 2000, freeBytes: 1000, isJudgedByFree: true };
  freeBytes = 1000;
  answer = fails(storeFull(room));
  publish('v1');
  await start();
  await clock.pass(10 * 60_000);
  assert.deepEqual([fetches.length, watch.progress().state], [1, 'store-full']);
  assert.match(
    watch.progress().lastError?.message ?? '',
    /\/store has no room: .* 2 KiB, and 1000 bytes are free/,
  );
  freeBytes = 2000;
  answer = async () => ({ digest: store.put('v1') });
  await clock.pass(pollMs);
  assert.equal(servedVersion(), 'v1');
});

test('a link that the storage refuses is tried again within a minute, and a new one at once', async () => {
  answer = fails(new PublishableError('LinkRefused', 'Storage s3.example.com returned 403'));
  publish('v1', 'first');
  await start();
  assert.equal(watch.progress().state, 'link-refused');
  await clock.pass(5 * 60_000);
  assert.ok(fetches.length >= 8 && fetches.length < 20, `${fetches.length}`);
  const tries = fetches.length;
  publish('v1', 'second');
  await clock.pass(pollMs);
  assert.equal(fetches.length, tries + 1);
});

test('a link that is not valid yet is tried when it is', async () => {
  answer = fails(new PublishableError('LinkNotYetValid', 'said', { kind: 'wait', retryAfterMs: 120_000 }));
  publish('v1');
  await start();
  assert.equal(watch.progress().state, 'link-not-yet-valid');
  await clock.pass(119_000);
  assert.equal(fetches.length, 1);
  answer = async () => ({ digest: store.put('v1') });
  await clock.pass(1000 + pollMs);
  assert.equal(servedVersion(), 'v1');
});

test('a full store does not cause repeated copies', async () => {
  let copies = 0;
  peers = peersThat(async () => {
    copies += 1;
    throw full;
  });
  publish('v1', 'first', store.put('v1'));
  store.bundles.clear();
  answer = fails(expired);
  await start();
  await clock.pass(10 * 60_000);
  assert.equal(copies, 1);
  assert.equal(watch.progress().lastError?.code, 'StoreFull');
});

test('what was served before a restart stays behind the version that was fetched after it', async () => {
  store.pointer = store.put('v1');
  store.facts = { version: 'v1', activatedAt: 1 };
  publish('v2');
  await start();
  assert.equal(servedVersion(), 'v2');
  assert.equal(site.swaps(), 0);
  assert.deepEqual(await readAll(), ['v2', 'v1']);
});

test('a fetch that hangs at start gives way to the last good version, and goes on', async () => {
  store.pointer = store.put('v1');
  store.facts = { version: 'v1', activatedAt: 1 };
  publish('v2');
  const { promise, resolve } = Promise.withResolvers<{ digest: string }>();
  answer = () => promise;
  await start();
  assert.equal(servedVersion(), undefined);
  await clock.pass(startupTimeoutMs);
  assert.equal(servedVersion(), 'v1');
  resolve({ digest: store.put('v2') });
  await clock.pass(0);
  assert.equal(servedVersion(), 'v2');
  assert.equal(site.swaps(), 1);
  assert.deepEqual(await readAll(), ['v2', 'v1']);
});

test('content that the disk no longer gives is obtained again while the old view answers, at most once a minute', async () => {
  publish('v1');
  await start();
  const first = site.view()?.active.bundle ?? assert.fail();
  store.bundles.clear();
  assert.deepEqual([first.reportUnreadable(), first.reportUnreadable()], [true, false]);
  answer = fails(expired);
  await clock.pass(pollMs);
  assert.equal(site.view()?.active.bundle, first, 'what can be answered still is');
  assert.equal(watch.progress().state, 'waiting-for-link');
  answer = async () => ({ digest: store.put('v1') });
  publish('v1', 'second');
  await clock.pass(pollMs);
  const second = site.view()?.active.bundle ?? assert.fail();
  assert.notEqual(second, first);
  assert.equal(watch.progress().state, 'in-sync');
  second.reportUnreadable();
  store.bundles.clear();
  const before = fetches.length;
  await clock.pass(30_000);
  assert.equal(fetches.length, before);
  await clock.pass(30_000);
  assert.equal(fetches.length, before + 1);
  assert.equal(site.view()?.active.bundle.isUnreadable(), false);
});

test('content that a temporary disk fault made unreadable is served from the disk again, although its link has expired', async () => {
  publish('v1');
  await start();
  const { bundle: first, activatedAt } = site.view()?.active ?? assert.fail();
  first.reportUnreadable();
  answer = fails(expired);
  await clock.pass(pollMs);
  const { bundle: second, activatedAt: since, provenance } = site.view()?.active ?? assert.fail();
  assert.notEqual(second, first);
  assert.deepEqual([second.isUnreadable(), provenance, fetches.length], [false, 'disk', 1]);
  assert.deepEqual([since, site.swaps()], [activatedAt, 0], 'it is the same version as before');
});

test('an archive without a page never replaces a site, unless it was inspected', async () => {
  publish('v1');
  await start();
  const pageless = storedBundle({ 'readme.txt': 'no page' });
  store.bundles.set(pageless.index.digest, () => pageless);
  answer = async () => ({ digest: pageless.index.digest });
  publish('v2');
  await clock.pass(pollMs);
  assert.equal(servedVersion(), 'v1');
  assert.deepEqual(
    [watch.progress().state, watch.progress().lastError?.code, pageless.isClosed()],
    ['rejected', 'NoPages', true],
  );
  const inspected = storedBundle({ 'readme.txt': 'meant so' });
  store.bundles.set(inspected.index.digest, () => inspected);
  answer = async () => ({ digest: inspected.index.digest });
  publish('v3', 'third', inspected.index.digest);
  await clock.pass(pollMs);
  assert.equal(servedVersion(), 'v3');
});

test('a last good version that is still coming up when the published one is there goes behind it', async () => {
  const paths = Array.from({ length: 2 * pathsPerSlice }, (_, at) => [`page-${at}.html`, 'v1']);
  const large = (): MemoryBundle => storedBundle(Object.fromEntries(paths), store.facts);
  store.pointer = large().index.digest;
  store.bundles.set(store.pointer, large);
  store.facts = { version: 'v1', activatedAt: 1 };
  publish('v2');
  answer = async () => {
    await clock.after(startupTimeoutMs);
    return { digest: store.put('v2') };
  };
  await start();
  await clock.pass(startupTimeoutMs);
  assert.equal(servedVersion(), 'v2');
  assert.deepEqual(await readAll(), ['v2', 'v1']);
});

test('a link without a name is fetched once at start, behind the last good version', async () => {
  const digest = store.put('unnamed');
  store.pointer = digest;
  reading = {
    kind: 'published',
    published: {
      version: undefined,
      digest: undefined,
      jobId: undefined,
      link: Link.parse('file:///a.tar') ?? assert.fail(),
      issuedAt: undefined,
      expiresAt: undefined,
    },
  };
  await start();
  await clock.pass(60_000);
  assert.equal(fetches.length, 1);
  assert.equal(site.view()?.active.provenance, 'disk');
  assert.equal(site.swaps(), 0);
  assert.equal(watch.progress().state, 'in-sync');
});

test('a transient failure is retried with growing waits, and the old version stays up', async () => {
  publish('v1');
  await start();
  publish('v2');
  answer = fails(transient);
  await clock.pass(60_000);
  assert.equal(servedVersion(), 'v1');
  assert.deepEqual(
    [watch.progress().state, watch.progress().lastError?.code],
    ['backing-off', 'StorageUnavailable'],
  );
  const tries = fetches.length - 1;
  assert.ok(tries >= 5 && tries <= 7, `${tries} tries in a minute`);
  answer = async () => ({ digest: store.put('v2') });
  await clock.pass(120_000);
  assert.equal(servedVersion(), 'v2');
  assert.equal(watch.progress().state, 'in-sync');
});

test('a rejected archive is tried on three links at most, until other content is published', async () => {
  publish('v1');
  await start();
  answer = fails(refused);
  for (const link of ['a', 'b', 'c', 'd', 'e']) {
    publish('v2', link);
    await clock.pass(3 * pollMs);
  }
  assert.equal(fetches.length, 1 + 3);
  assert.equal(servedVersion(), 'v1');
  assert.deepEqual([watch.progress().state, watch.progress().lastError?.code], ['rejected', 'NotAnArchive']);
  answer = async () => ({ digest: store.put('v3') });
  publish('v3');
  await clock.pass(pollMs);
  assert.equal(servedVersion(), 'v3');
});

test('one HTML page instead of the archive delays the download by a second', async () => {
  publish('v1');
  answer = fails(maintenance);
  await start();
  assert.equal(servedVersion(), undefined);
  assert.notEqual(watch.progress().retryAt, undefined);
  answer = async () => ({ digest: store.put('v1') });
  await clock.pass(2000);
  assert.equal(servedVersion(), 'v1');
  assert.equal(fetches.length, 2);
});

test('a rejected archive is retried while nothing is served, and the next attempt is shown', async () => {
  publish('v1');
  answer = fails(refused);
  await start();
  const { state, retryAt } = watch.progress();
  assert.deepEqual([state, retryAt], ['rejected', clock.now() + 600_000]);
  answer = async () => ({ digest: store.put('v1') });
  await clock.pass(600_000 - 1);
  assert.equal(fetches.length, 1);
  await clock.pass(1);
  assert.equal(servedVersion(), 'v1');
});

test('a full store drops former versions and retries at once; then it waits, whatever the link', async () => {
  publish('v1');
  await start();
  publish('v2');
  await clock.pass(pollMs);
  assert.deepEqual(await readAll(), ['v2', 'v1']);
  answer = fails(full);
  const tries = fetches.length;
  for (let at = 0; at < 15 * 60_000; at += 60_000) {
    publish('v3', `link-${at}`);
    await clock.pass(60_000);
  }
  assert.equal(fetches.length, tries + 2);
  assert.deepEqual(store.log.slice(-2), ['drop 1', 'drop 0']);
  assert.deepEqual(await readAll(), ['v2']);
  assert.deepEqual([watch.progress().state, watch.progress().lastError?.code], ['store-full', 'StoreFull']);
  answer = async () => ({ digest: store.put('v3') });
  await clock.pass(10 * 60_000);
  assert.equal(servedVersion(), 'v3');
});

test('a wall clock that is set back a day lengthens no wait', async () => {
  publish('v1');
  answer = fails(transient);
  await start();
  clock.setWall(-86_400_000);
  answer = async () => ({ digest: store.put('v1') });
  await clock.pass(2000);
  assert.equal(servedVersion(), 'v1');
});

test('content other than published is never served, even if the preparation let it pass', async () => {
  publish('v1', 'first', 'f'.repeat(64));
  await start();
  assert.equal(servedVersion(), undefined);
  assert.equal(watch.progress().lastError?.code, 'DigestMismatch');
});

test('a store that cannot write down what is served costs nothing else, and removes nothing', async () => {
  publish('v1');
  store.failure = new Error('disk');
  await start();
  assert.equal(servedVersion(), 'v1');
  assert.deepEqual(store.log, []);
});

test('a store that loses the bundle just written is retried', async () => {
  publish('v1');
  answer = async () => ({ digest: 'e'.repeat(64) });
  await start();
  assert.equal(watch.progress().lastError?.code, 'StoreUnreliable');
  answer = async () => ({ digest: store.put('v1') });
  await clock.pass(60_000);
  assert.equal(servedVersion(), 'v1');
});

test('a removed bundle.json clears its version and its error; the served bundle stays', async () => {
  publish('v1');
  await start();
  publish('v2');
  answer = fails(expired);
  await clock.pass(pollMs);
  assert.deepEqual(
    [watch.progress().published?.version, watch.progress().lastError?.code],
    ['v2', 'LinkExpired'],
  );
  reading = { kind: 'absent' };
  await clock.pass(pollMs);
  const { state, published, lastError, retryAt } = watch.progress();
  assert.deepEqual(
    { state, published, lastError, retryAt },
    { state: 'waiting-for-bundle-json', published: undefined, lastError: undefined, retryAt: undefined },
  );
  assert.equal(servedVersion(), 'v1');
});

test('a repeated refusal is logged once as a state, and once for each attempt', async () => {
  publish('v1');
  answer = fails(refused);
  await start();
  for (let at = 0; at < 3; at += 1) await clock.pass(700_000);
  assert.equal(fetches.length, 4);
  const states = warnings.filter((words) => words.startsWith('the published archive was rejected'));
  assert.deepEqual([states.length, warnings.length], [1, 1 + 4]);
});

test('a missing file of the link is read again at every poll, reported once, and served once it is there', async () => {
  publish('v1');
  const message =
    'the file of the link does not exist or cannot be read (ENOENT); check its path and its mount';
  answer = fails(new PublishableError('FileUnreadable', message, { kind: 'retry' }));
  await start();
  for (let at = 0; at < 20; at += 1) await clock.pass(pollMs);
  assert.equal(fetches.length, 21);
  assert.equal(warnings.filter((words) => words === message).length, 1);
  const { state, lastError } = watch.progress();
  assert.deepEqual([state, lastError?.code], ['backing-off', 'FileUnreadable']);
  assert.equal(outcomes.at(-1), 'transient');
  answer = async () => writtenBundle('v1', Promise.resolve());
  await clock.pass(pollMs);
  assert.equal(servedVersion(), 'v1');
});

test('an invalid bundle.json is reported once, and the served bundle stays', async () => {
  publish('v1');
  await start();
  reading = { kind: 'unreadable', code: 'InvalidBundleJson', message: 'not JSON' };
  await clock.pass(4 * pollMs);
  assert.equal(servedVersion(), 'v1');
  assert.equal(watch.progress().state, 'invalid-bundle-json');
  assert.equal(watch.progress().lastError?.at, Date.parse('2026-11-21T10:00:05Z'));
  assert.equal(warnings.length, 1);
  assert.match(warnings[0] ?? '', /bundle\.json cannot be used.*: not JSON$/);
});

test('a download of content that is no longer published is abandoned', async () => {
  const untilAborted = (_published: ServedBundle, signal: AbortSignal): Promise<never> =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
    });
  answer = untilAborted;
  publish('v1');
  await start();
  publish('v1', 'fresh');
  await clock.pass(2 * pollMs);
  assert.equal(fetches.length, 1, 'a fresh link for the same content does not stop the fetch');
  answer = async () => ({ digest: store.put('v2') });
  publish('v2');
  await clock.pass(pollMs);
  assert.equal(servedVersion(), 'v2');
  assert.deepEqual(outcomes, ['ok']);
  assert.equal(watch.progress().lastError, undefined);
});

test('a stop during a download is not a failure of the download', async () => {
  publish('v1');
  answer = () =>
    new Promise((_resolve, reject) => {
      stop.signal.addEventListener('abort', () => reject(stop.signal.reason));
    });
  await start();
  stop.abort(new Error('stopped'));
  await running;
  assert.deepEqual(outcomes, []);
  assert.equal(watch.progress().lastError, undefined);
});

/** Published for that path, with the version as its digest's name. */
function publishFor(basePath: string | undefined, version: string): void {
  publish(version);
  if (reading.kind === 'published') {
    reading = {
      ...reading,
      published: { ...reading.published, ...(basePath !== undefined && { basePath }) },
    };
  }
}
const servedAt = (): string => `${servedVersion()} at ${site.view()?.basePath || '/'}`;

test('the base path comes with its version, is recorded, and changes without a download', async () => {
  const recorded: (string | undefined)[] = [];
  const { activate } = store;
  store.activate = async (digest, facts) => {
    recorded.push(facts.basePath);
    await activate.call(store, digest, facts);
  };
  publishFor('/docs', 'v1');
  await start();
  const seen = [servedAt()];
  for (const [basePath, version] of [
    ['/documentation', 'v2'],
    ['/docs', 'v2'],
    [undefined, 'v2'],
  ] as const) {
    publishFor(basePath, version);
    await clock.pass(pollMs);
    seen.push(servedAt());
  }
  assert.deepEqual(seen, ['v1 at /docs', 'v2 at /documentation', 'v2 at /docs', 'v2 at /']);
  assert.deepEqual(recorded, ['/docs', '/documentation', '/docs', undefined]);
  assert.deepEqual([fetches.length, watch.progress().state], [2, 'in-sync']);
});

test('a bundle of the disk is served under the base path of its record while bundle.json is missing', async () => {
  store.facts = { version: 'v1', activatedAt: 0, basePath: '/docs' };
  store.pointer = store.put('v1');
  await start();
  assert.equal(servedAt(), 'v1 at /docs');
});

test('a bundle of the disk that was published for another base path is not served', async () => {
  store.facts = { version: 'v1', activatedAt: 0, basePath: '/docs' };
  store.pointer = store.put('v1');
  fixedBasePath = '';
  await start();
  await clock.pass(2 * startupTimeoutMs);
  assert.equal(site.view(), undefined);
  assert.deepEqual(warnings, [
    'not serving the stored bundle: bundle.json names basePath /docs, but --base-path is /; remove --base-path (site.basePath of the chart), or export the site for /',
  ]);
});
