// Jobs as rows, on a real SQLite file: transitions, idempotency, recovery, retention, one process at a time.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { type Database, openJobDatabase } from '#export-service/store/database.ts';
import { createJobStore, type JobStore } from '#export-service/store/jobs.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';

let folder: string;
let database: Database;
let store: JobStore;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'store-'));
  await reopen();
});
afterEach(() => {
  database.close();
  rmSync(folder, { recursive: true });
});

async function reopen(): Promise<void> {
  database = await openJobDatabase(folder);
  store = createJobStore(database);
}

const once = { credential: 'c1', key: 'k1' };
const exported = { pageCount: 3, sizeBytes: 10, sha256: 'ab' };

function start(id: string, more: Partial<Parameters<JobStore['start']>[0]> = {}) {
  return store.start({ id, domain: 'docs.example.com', now: 1000, maxQueued: 10, ...more });
}

function finish(id: string, now: number): void {
  start(id);
  store.claimNext(now);
  store.complete(id, exported, now);
}

test('jobs go from queued to running to completed, the oldest first', () => {
  start('a');
  start('b', { now: 1001 });
  assert.equal(store.find('a')?.status, 'queued');
  assert.equal(store.claimNext(2000)?.id, 'a');
  const running = store.find('a');
  assert.deepEqual([running?.status, running?.attempts, running?.updatedAt], ['running', 1, 2000]);
  assert.equal(store.complete('a', exported, 3000), true);
  assert.deepEqual(store.find('a'), {
    id: 'a',
    domain: 'docs.example.com',
    basePath: null,
    status: 'completed',
    attempts: 1,
    pageCount: 3,
    error: null,
    archiveBytes: 10,
    archiveSha256: 'ab',
    createdAt: 1000,
    updatedAt: 3000,
  });
  assert.equal(store.claimNext(3000)?.id, 'b');
  assert.equal(store.claimNext(3000), undefined);
  assert.equal(store.fail('b', 'NoPages: none', 0, 4000), true);
  assert.deepEqual([store.find('b')?.status, store.find('b')?.error], ['failed', 'NoPages: none']);
});

test('only a running job can complete, fail or be released', () => {
  start('a');
  assert.equal(store.complete('a', exported, 1), false);
  assert.equal(store.fail('a', 'x', 0, 1), false);
  assert.equal(store.release('a', 1), false);
  store.claimNext(1);
  store.complete('a', exported, 2);
  assert.equal(store.fail('a', 'late', 0, 3), false);
  assert.equal(store.find('a')?.status, 'completed');
  assert.equal(store.find('absent'), undefined);
});

test('the same key of the same credential finds its job; another credential or key starts one', () => {
  assert.equal(start('a', { once }).kind, 'started');
  const again = start('b', { once });
  assert.ok(again.kind === 'replayed' && again.job.id === 'a');
  assert.equal(store.find('b'), undefined);
  assert.equal(start('c', { once: { ...once, credential: 'c2' } }).kind, 'started');
  assert.equal(start('d', { once: { ...once, key: 'k2' } }).kind, 'started');
  assert.equal(start('e', { once, domain: 'other.example.com' }).kind, 'mismatch');
});

const hourMs = 3_600_000;

function startOfProject(id: string, more: Partial<Parameters<JobStore['startOfProject']>[0]> = {}) {
  return store.startOfProject({
    ...{ id, domain: 'docs.example.com', basePath: null, now: 1000, maxQueued: 10, startsPerHour: undefined },
    ...more,
  });
}

function runToEnd(now: number): void {
  const id = store.claimNext(now)?.id ?? '';
  assert.ok(store.fail(id, 'NoPages: none', 0, now));
}

test('a project has one job at a time, whichever form started the other; other domains do not count', () => {
  start('a');
  assert.equal(startOfProject('b').kind, 'anotherRuns');
  assert.equal(startOfProject('c', { domain: 'other.example.com' }).kind, 'started');
  store.claimNext(1001);
  assert.equal(startOfProject('b').kind, 'anotherRuns', 'a running job counts');
  store.complete('a', exported, 1002);
  assert.equal(startOfProject('b', { basePath: '/docs' }).kind, 'started');
  assert.equal(store.find('b')?.basePath, '/docs');
  assert.equal(startOfProject('d').kind, 'anotherRuns');
  assert.equal(start('e').kind, 'started', 'the first form queues behind it');
});

test('the budget of starts counts those of the last hour, over restarts, and no refused one', async () => {
  const at = (id: string, now: number) => startOfProject(id, { now, startsPerHour: 2 });
  assert.equal(at('a', 1000).kind, 'started');
  assert.equal(at('refused', 1001).kind, 'anotherRuns');
  runToEnd(1002);
  assert.equal(at('b', 5000).kind, 'started');
  runToEnd(5001);
  database.close();
  await reopen();
  store.evictBeyond(0, 0, 9000);
  assert.deepEqual(at('c', 6000), { kind: 'budgetUsed', freeAt: 1000 + hourMs });
  assert.equal(startOfProject('d', { now: 6000, startsPerHour: 3 }).kind, 'started');
  runToEnd(6001);
  assert.deepEqual(
    at('e', 6002),
    { kind: 'budgetUsed', freeAt: 5000 + hourMs },
    'a smaller budget waits longer',
  );
  assert.deepEqual(at('e', 4999 + hourMs), { kind: 'budgetUsed', freeAt: 5000 + hourMs });
  assert.equal(at('e', 5000 + hourMs).kind, 'started');
  runToEnd(5001 + hourMs);
  const rows = database.connection.prepare('SELECT count(*) AS n FROM project_starts').get()?.['n'];
  assert.equal(rows, 2, 'starts that left the window are removed');
});

test('a clock that was set back does not close the budget', () => {
  assert.equal(startOfProject('a', { now: 90 * hourMs, startsPerHour: 1 }).kind, 'started');
  runToEnd(90 * hourMs);
  assert.equal(startOfProject('b', { now: hourMs, startsPerHour: 1 }).kind, 'started');
});

test('a start of a project that finds the queue full does not count', () => {
  start('a', { domain: 'other.example.com' });
  assert.equal(startOfProject('b', { maxQueued: 1, startsPerHour: 1 }).kind, 'queueFull');
  assert.equal(startOfProject('b', { maxQueued: 2, startsPerHour: 1 }).kind, 'started');
});

test('a replay is answered even while the queue is full; a new job is not', () => {
  start('a', { once });
  assert.equal(start('b', { maxQueued: 1 }).kind, 'queueFull');
  assert.equal(start('b', { maxQueued: 1, once }).kind, 'replayed');
  assert.equal(start('b', { maxQueued: 2 }).kind, 'started');
});

test('committed changes are present after the file is opened again', async () => {
  start('a', { once });
  store.claimNext(1);
  database.close();
  await reopen();
  assert.equal(store.find('a')?.status, 'running');
  assert.equal(start('b', { once }).kind, 'replayed');
});

test('recovery queues interrupted jobs, and fails those that were interrupted too often', () => {
  start('a');
  for (const attempt of [1, 2, 3]) {
    assert.equal(store.claimNext(attempt)?.attempts, attempt);
    const outcome = store.recover(3, attempt);
    assert.deepEqual(outcome, attempt < 3 ? { failed: 0, requeued: 1 } : { failed: 1, requeued: 0 });
  }
  assert.equal(store.find('a')?.status, 'failed');
  assert.match(store.find('a')?.error ?? '', /interrupted 3 times/);
});

test('a job released on purpose does not lose an attempt', () => {
  start('a');
  for (let stop = 0; stop < 5; stop += 1) {
    assert.equal(store.claimNext(1)?.attempts, 1);
    assert.equal(store.release('a', 1), true);
  }
});

test("a link's Idempotency-Key gives the same expiry while more than half of a new lifetime is left", () => {
  finish('a', 1000);
  const issue = (now: number, key?: typeof once) =>
    store.issue({ jobId: 'a', freshUntil: now + 100_000, now, once: key });
  assert.equal(issue(0, once), 100_000);
  assert.equal(issue(40_000, once), 100_000);
  assert.equal(issue(40_000, { ...once, key: 'k2' }), 140_000);
  assert.equal(issue(40_000), 140_000);
  assert.equal(issue(50_000, once), 150_000);
  assert.equal(issue(500_000, once), 600_000);
});

test('keys of expired links are removed in slices', () => {
  finish('a', 1000);
  for (let at = 0; at < 1200; at += 1) {
    store.issue({ jobId: 'a', freshUntil: 2000, now: 1000, once: { ...once, key: `k${at}` } });
  }
  const left = (): number =>
    Number(database.connection.prepare('SELECT count(*) AS n FROM issue_keys').get()?.['n']);
  assert.equal(left(), 1200);
  store.issue({ jobId: 'a', freshUntil: 9000, now: 5000, once });
  assert.equal(left(), 701);
  assert.equal(store.sweepExpired(5000), true);
  assert.equal(store.sweepExpired(5000), false);
  assert.equal(left(), 1);
});

test('retention keeps the most recently used finished jobs of a domain, and every job used recently', () => {
  for (const [index, id] of ['a', 'b', 'c', 'd'].entries()) finish(id, 1000 + index);
  start('waiting');
  // Issuing a link is a use: the oldest job becomes the most recent.
  store.issue({ jobId: 'a', freshUntil: 9000, now: 5000, once });
  assert.deepEqual(store.evict('other.example.com', 1, 9999), []);
  assert.deepEqual(store.evict('docs.example.com', 2, 1002).toSorted(), ['b']);
  assert.deepEqual(store.evict('docs.example.com', 1, 9999).toSorted(), ['c', 'd']);
  assert.equal(store.find('a')?.status, 'completed');
  assert.equal(store.find('waiting')?.status, 'queued');
  assert.deepEqual(store.completedIds(), ['a']);
});

test('a key whose job was removed starts a new job', () => {
  start('a', { once });
  store.claimNext(1);
  store.complete('a', exported, 1);
  finish('b', 2);
  assert.deepEqual(store.evict('docs.example.com', 1, 9999), ['a']);
  assert.equal(start('c', { once }).kind, 'started');
});

test('a second process on the same folder is refused', async () => {
  await assert.rejects(
    () => openJobDatabase(folder),
    (error) =>
      error instanceof PublishableError && error.code === 'StoreBusy' && /another/.test(error.message),
  );
});

test('a data folder of a newer version, and a path that is not a folder, are refused', async () => {
  database.connection.exec('PRAGMA user_version = 99');
  database.close();
  await assert.rejects(
    () => openJobDatabase(folder),
    (error) => error instanceof PublishableError && error.code === 'StoreTooNew',
  );
  await assert.rejects(
    () => openJobDatabase('/dev/null/data'),
    (error) => error instanceof PublishableError && error.code === 'StoreUnusable',
  );
  await assert.rejects(
    () => openJobDatabase('/proc/data'),
    (error) => error instanceof PublishableError && error.code === 'StoreUnusable',
  );
  rmSync(join(folder, 'state.sqlite'));
  await reopen();
});

test('above the limits of all domains the least recently used finished jobs are removed, but none in use', () => {
  for (const [index, id] of ['a', 'b', 'c', 'd'].entries()) finish(id, 1000 + index);
  start('waiting');
  store.issue({ jobId: 'a', freshUntil: 9000, now: 5000 });
  assert.deepEqual(store.evictBeyond(40, 4, 6000), []);
  assert.deepEqual(store.evictBeyond(30, 4, 1001), [], 'b has been used since');
  assert.deepEqual(store.evictBeyond(30, 4, 6000), ['b']);
  assert.deepEqual(store.evictBeyond(1000, 2, 6000), ['c']);
  assert.deepEqual(store.evictBeyond(0, 0, 1500), ['d']);
  assert.equal(store.find('a')?.status, 'completed');
  assert.equal(store.find('waiting')?.status, 'queued');
});
