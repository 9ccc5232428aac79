// The runner with a crawl and a pack that the test controls: order, progress, all ends of a job, the last deadline,
// stopping and recovering, and the files that stay.

import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import type {
  CrawlContext,
  CrawledFile,
  CrawlRequest,
  CrawlResult,
} from '#export-service/crawler/contract.ts';
import { defaultCrawlLimits } from '#export-service/crawler/contract.ts';
import {
  archiveFile,
  createJobRunner,
  type JobRunner,
  type JobRunnerOptions,
  mostCrawlAttempts,
} from '#export-service/job-runner.ts';
import { readOrigins } from '#export-service/origins.ts';
import { type Crawl as Crawling, exportWith } from '#export-service/site-export.ts';
import { type Database, openJobDatabase } from '#export-service/store/database.ts';
import { createJobStore, type JobStore } from '#export-service/store/jobs.ts';
import { createKeptCrawlStore } from '#export-service/store/kept-crawls.ts';
import { type Clock, systemClock } from '#platform/runtime/clock.ts';
import { silentLogger } from '#platform/runtime/logger.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';

/** A crawl under way, to be ended by the test. */
interface Crawl {
  readonly request: CrawlRequest;
  readonly edge: CrawlContext;
  readonly end: (result: CrawlResult) => void;
  readonly fail: (error: unknown) => void;
}

let directory: string;
let database: Database;
let store: JobStore;
let crawls: Crawl[];
let finished: string[];
let awaited: (() => void) | undefined;
/** What the next crawl can use of each crawl. */
let keptBytes: number;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'runner-'));
  database = await openJobDatabase(directory);
  store = createJobStore(database);
  crawls = [];
  finished = [];
  keptBytes = 0;
});
afterEach(() => {
  database.close();
  rmSync(directory, { recursive: true });
});

const home: CrawledFile = { path: 'index.html', sizeBytes: 0, sha256: 'ab', read: async function* () {} };
const site: CrawlResult = {
  files: [home],
  pageCount: 3,
  types: new Map(),
  skipped: [],
  asked: 3,
  copied: [],
  queryVariants: [],
  notes: [],
  searchIndexes: [],
  answers: { fromOrigin: 1, notModified: 0, fromJournal: 0 },
};

const heldCrawl: Crawling = (request, edge) =>
  new Promise((end, fail) => {
    crawls.push({ request, edge, end, fail });
    if (edge.signal.aborted) fail(edge.signal.reason);
    edge.signal.addEventListener('abort', () => fail(edge.signal.reason));
    awaited?.();
  });

const openNoBrowser = () => Promise.reject(new Error('no job asks for a browser'));

function createRunner(options: Partial<JobRunnerOptions> = {}): JobRunner {
  return createJobRunner({
    store,
    keptCrawls: createKeptCrawlStore(database),
    exportSite: exportWith(
      heldCrawl,
      async (_result, destination) => {
        writeFileSync(destination, 'archive');
        return { sizeBytes: 7, sha256: 'ab' };
      },
      async () => keptBytes,
      openNoBrowser,
    ),
    origins: readOrigins(
      ['docs.example.com=http://127.0.0.1:4000'],
      ['docs.example.com=Host: inside.example'],
      ['docs.example.com'],
    ),
    limits: defaultCrawlLimits,
    directory,
    concurrency: 1,
    keepJobs: 10,
    keepBytes: 1000,
    keepUsedMs: 0,
    clock: systemClock,
    logger: silentLogger,
    onFinished: (outcome) => {
      finished.push(outcome);
      awaited?.();
    },
    onAnswers: () => {},
    ...options,
  });
}

function queue(...ids: readonly string[]): void {
  for (const id of ids) store.start({ id, domain: 'docs.example.com', now: 1000, maxQueued: 100 });
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) {
    await new Promise<void>((resolve) => {
      awaited = resolve;
    });
  }
}

test('each job has the form of archive that the service was started with', async () => {
  const profiles: unknown[] = [];
  const runner = createRunner({
    profile: 'portable',
    exportSite: async ({ profile }) => {
      profiles.push(profile);
      return { pageCount: 1, answers: site.answers, keptBytes: 0, sizeBytes: 7, sha256: 'ab' };
    },
  });
  queue('a', 'b');
  await runner.start();
  await until(() => finished.length === 2);
  assert.deepEqual(profiles, ['portable', 'portable']);
  await runner.stop();
});

test('jobs run one at a time, oldest first, and leave an archive and no spool', async () => {
  const runner = createRunner();
  queue('a', 'b');
  await runner.start();
  await until(() => crawls.length === 1);
  assert.deepEqual([store.find('a')?.status, store.find('b')?.status], ['running', 'queued']);
  assert.equal(crawls[0]?.request.origin.href, 'http://127.0.0.1:4000/');
  assert.equal(crawls[0]?.request.isOriginConsented, true);
  assert.equal(crawls[0]?.request.ignoresRobots, true);
  assert.deepEqual(crawls[0]?.request.originHeaders, { host: 'inside.example' });
  assert.ok(existsSync(crawls[0]?.request.spoolDirectory ?? ''));
  crawls[0]?.end(site);
  await until(() => crawls.length === 2);
  assert.deepEqual([store.find('a')?.archiveBytes, store.find('a')?.archiveSha256], [7, 'ab']);
  assert.deepEqual([store.find('a')?.status, store.find('a')?.pageCount], ['completed', 3]);
  assert.ok(existsSync(archiveFile(directory, 'a')));
  crawls[1]?.end(site);
  await until(() => finished.length === 2);
  await runner.stop();
  assert.deepEqual(readdirSync(join(directory, 'spool')), []);
});

test('as many jobs run at once as allowed', async () => {
  const runner = createRunner({ concurrency: 2 });
  await runner.start();
  // Made by the start: jobs that begin together would make it against each other, and one of them would fail.
  assert.deepEqual(readdirSync(join(directory, 'spool')), []);
  queue('a', 'b', 'c');
  runner.wake();
  await until(() => crawls.length === 2);
  assert.equal(runner.runningCount(), 2);
  assert.equal(store.find('c')?.status, 'queued');
  await runner.stop();
});

test('progress is live, never falls, shows its last change, and stays below 100 until the job is completed', async () => {
  let now = 1000;
  const runner = createRunner({ clock: { ...systemClock, now: () => now } });
  queue('a');
  await runner.start();
  await until(() => crawls.length === 1);
  assert.deepEqual(runner.progressOf('a'), { percent: 0, pageCount: 0, updatedAt: 1000 });
  const seen = [
    [1, 2],
    [2, 10],
    [2, 10],
    [9, 10],
    [10, 10],
  ].map(([pageCount = 0, discovered = 0]) => {
    now += 1000;
    crawls[0]?.edge.onProgress({ pageCount, discovered });
    return runner.progressOf('a');
  });
  assert.deepEqual(seen, [
    { percent: 49, pageCount: 1, updatedAt: 2000 },
    { percent: 49, pageCount: 2, updatedAt: 3000 },
    { percent: 49, pageCount: 2, updatedAt: 3000 },
    { percent: 89, pageCount: 9, updatedAt: 5000 },
    { percent: 99, pageCount: 10, updatedAt: 6000 },
  ]);
  now = 500;
  crawls[0]?.edge.onProgress({ pageCount: 11, discovered: 11 });
  assert.equal(runner.progressOf('a')?.updatedAt, 6000);
  assert.equal(store.find('a')?.updatedAt, 1000, 'progress is not written');
  crawls[0]?.end(site);
  await until(() => finished.length === 1);
  await runner.stop();
  assert.equal(runner.progressOf('a'), undefined);
});

test('a failed job shows the code and message of its error, and only the code of an unknown error', async () => {
  const foreign = Object.assign(new Error('secret path /x'), { code: 'EIO' });
  const rows: readonly (readonly [unknown, string])[] = [
    [new PublishableError('OriginUnreachable', 'no answer'), 'OriginUnreachable: no answer'],
    [foreign, 'unexpected EIO'],
    ['text', 'unexpected UnknownError'],
  ];
  const runner = createRunner();
  await runner.start();
  for (const [index, [error, text]] of rows.entries()) {
    queue(`j${index}`);
    runner.wake();
    await until(() => crawls.length === index + 1);
    crawls[index]?.edge.onProgress({ pageCount: 2, discovered: 4 });
    crawls[index]?.fail(error);
    await until(() => finished.length === index + 1);
    const job = store.find(`j${index}`);
    assert.deepEqual([job?.status, job?.error, job?.pageCount], ['failed', text, 2]);
  }
  await runner.stop();
});

test('a site without pages, a failed pack and a domain without origin are failed jobs', async () => {
  const runner = createRunner({
    exportSite: exportWith(
      heldCrawl,
      () => Promise.reject(Object.assign(new Error('full'), { code: 'ENOSPC' })),
      async () => 0,
      openNoBrowser,
    ),
  });
  await runner.start();
  queue('empty', 'full');
  store.start({ id: 'gone', domain: 'gone.example.com', now: 1, maxQueued: 100 });
  runner.wake();
  await until(() => crawls.length === 1);
  crawls[0]?.end({ ...site, pageCount: 0 });
  await until(() => crawls.length === 2);
  crawls[1]?.end(site);
  await until(() => finished.length === 3);
  assert.match(store.find('empty')?.error ?? '', /^NoPages/);
  assert.equal(store.find('full')?.error, 'ENOSPC: the disk of the data folder is full');
  assert.match(store.find('gone')?.error ?? '', /^NoSuchDomain/);
  await runner.stop();
});

test('a job fails at its deadline', async () => {
  const passed = new AbortController();
  const clock: Clock = {
    ...systemClock,
    deadline: (_ms, parent) => AbortSignal.any([passed.signal, ...(parent === undefined ? [] : [parent])]),
  };
  const runner = createRunner({ clock });
  queue('a');
  await runner.start();
  await until(() => crawls.length === 1);
  passed.abort(new DOMException('passed', 'TimeoutError'));
  await until(() => finished.length === 1);
  assert.equal(store.find('a')?.status, 'failed');
  assert.match(store.find('a')?.error ?? '', /^TimedOut/);
  await runner.stop();
});

test('a stop puts running jobs back into the queue without counting the attempt, and starts no others', async () => {
  const runner = createRunner();
  queue('a', 'b');
  await runner.start();
  await until(() => crawls.length === 1);
  await runner.stop();
  assert.equal(crawls[0]?.edge.signal.aborted, true);
  assert.deepEqual(
    ['a', 'b'].map((id) => [store.find(id)?.status, store.find(id)?.attempts]),
    [
      ['queued', 0],
      ['queued', 0],
    ],
  );
  runner.wake();
  assert.equal(crawls.length, 1);
});

test('a job of a killed process starts again with what it crawled, and other files are removed', async () => {
  queue('a', 'done');
  store.claimNext(1);
  store.claimNext(1);
  store.complete('done', { pageCount: 1, sizeBytes: 1, sha256: 'cd' }, 1);
  mkdirSync(join(directory, 'archives'));
  for (const name of ['a', 'done', 'foreign', 'done.old']) {
    mkdirSync(join(directory, 'spool', name), { recursive: true });
    writeFileSync(join(directory, 'spool', name, 'body'), name);
  }
  for (const name of ['a.tar.gz', 'a.tar.gz.partial', 'done.tar.gz', 'foreign']) {
    writeFileSync(join(directory, 'archives', name), 'x');
  }
  const runner = createRunner();
  await runner.start();
  await until(() => crawls.length === 1);
  assert.deepEqual(readdirSync(join(directory, 'archives')), ['done.tar.gz']);
  assert.deepEqual(readdirSync(join(directory, 'spool')), ['a']);
  assert.ok(existsSync(join(crawls[0]?.request.spoolDirectory ?? '', 'body')), 'it goes on with what it has');
  assert.deepEqual(store.find('a')?.attempts, 2);
  crawls[0]?.end(site);
  await until(() => finished.length === 1);
  assert.equal(store.find('a')?.status, 'completed');
  await runner.stop();
});

test('a job that a stop interrupts keeps what it crawled, and the next start goes on with it', async () => {
  const first = createRunner();
  queue('a');
  await first.start();
  await until(() => crawls.length === 1);
  writeFileSync(join(crawls[0]?.request.spoolDirectory ?? '', 'body'), 'body');
  await first.stop();
  const second = createRunner();
  await second.start();
  await until(() => crawls.length === 2);
  assert.equal(readFileSync(join(crawls[1]?.request.spoolDirectory ?? '', 'body'), 'utf8'), 'body');
  crawls[1]?.end(site);
  await until(() => finished.length === 1);
  await second.stop();
  assert.deepEqual(readdirSync(join(directory, 'spool')), []);
});

test('the next crawl of a domain has what the last complete one left, and a failed job changes nothing of it', async () => {
  const runner = createRunner();
  await runner.start();
  const crawlWith = async (
    id: string,
    text: string,
    end: (crawl: Crawl | undefined) => void,
  ): Promise<string[]> => {
    queue(id);
    runner.wake();
    const count = finished.length;
    await until(() => crawls.length === count + 1);
    const { request } = crawls[count] ?? {};
    const earlier = request?.earlierDirectory ?? '';
    const found = existsSync(earlier) ? readdirSync(earlier) : [];
    writeFileSync(join(request?.spoolDirectory ?? '', text), text);
    end(crawls[count]);
    await until(() => finished.length === count + 1);
    return found;
  };
  keptBytes = 5;
  assert.deepEqual(await crawlWith('a', 'first', (crawl) => crawl?.end(site)), []);
  assert.deepEqual(await crawlWith('b', 'failed', (crawl) => crawl?.fail(new Error('failed'))), ['first']);
  assert.deepEqual(await crawlWith('c', 'second', (crawl) => crawl?.end(site)), ['first']);
  keptBytes = 0;
  assert.deepEqual(await crawlWith('d', 'third', (crawl) => crawl?.end(site)), ['second']);
  assert.deepEqual(
    await crawlWith('e', 'fourth', (crawl) => crawl?.end(site)),
    [],
    'the last one could not be asked about',
  );
  await runner.stop();
  assert.deepEqual(readdirSync(join(directory, 'spool')), []);
  assert.deepEqual(readdirSync(join(directory, 'crawls')), []);
});

test('kept crawls have the room that archives leave, and the oldest go first', async () => {
  const names = ['a', 'b', 'c'];
  const origins = readOrigins(names.map((name) => `${name}.example.com=http://x`));
  let now = 1000;
  // Three archives of 7 bytes, and two crawls of 10.
  const runner = createRunner({ origins, clock: { ...systemClock, now: () => now }, keepBytes: 45 });
  keptBytes = 10;
  await runner.start();
  for (const [index, id] of names.entries()) {
    now += 1000;
    store.start({ id, domain: `${id}.example.com`, now, maxQueued: 100 });
    runner.wake();
    await until(() => crawls.length === index + 1);
    crawls[index]?.end(site);
    await until(() => finished.length === index + 1);
  }
  await runner.stop();
  assert.equal(readdirSync(join(directory, 'archives')).length, 3);
  assert.deepEqual(readdirSync(join(directory, 'crawls')).sort(), ['b.example.com', 'c.example.com']);
});

test('a start removes a kept crawl that the database does not know, and forgets one without its folder', async () => {
  const kept = createKeptCrawlStore(database);
  for (const domain of ['gone.example.com', 'docs.example.com']) kept.keep(domain, 1, 1);
  for (const name of ['docs.example.com', 'foreign'])
    mkdirSync(join(directory, 'crawls', name), { recursive: true });
  const runner = createRunner();
  await runner.start();
  await runner.stop();
  assert.deepEqual(readdirSync(join(directory, 'crawls')), ['docs.example.com']);
  assert.deepEqual(kept.domains(), ['docs.example.com']);
});

test('a job is completed also where its crawl cannot be kept', async () => {
  const runner = createRunner();
  queue('a');
  await runner.start();
  keptBytes = 5;
  await until(() => crawls.length === 1);
  rmSync(join(directory, 'crawls'), { recursive: true });
  crawls[0]?.end(site);
  await until(() => finished.length === 1);
  assert.equal(store.find('a')?.status, 'completed');
  await runner.stop();
  assert.deepEqual(readdirSync(join(directory, 'spool')), []);
});

test('a job queued while the runner starts runs once', async () => {
  const runner = createRunner();
  queue('a');
  const started = runner.start();
  runner.wake();
  assert.equal(store.find('a')?.status, 'queued');
  await started;
  await until(() => crawls.length === 1);
  assert.deepEqual([store.find('a')?.status, store.find('a')?.attempts], ['running', 1]);
  assert.ok(existsSync(crawls[0]?.request.spoolDirectory ?? ''));
  crawls[0]?.end(site);
  await until(() => finished.length === 1);
  assert.equal(store.find('a')?.status, 'completed');
  await runner.stop();
  assert.equal(crawls.length, 1);
});

test('a job that was interrupted too often fails and does not run', async () => {
  queue('a');
  for (let attempt = 1; attempt <= mostCrawlAttempts; attempt += 1) {
    store.claimNext(attempt);
    if (attempt < mostCrawlAttempts) store.recover(mostCrawlAttempts, attempt);
  }
  const runner = createRunner();
  await runner.start();
  assert.equal(store.find('a')?.status, 'failed');
  assert.equal(crawls.length, 0);
  await runner.stop();
});

test('jobs above the number to keep are removed with their archives', async () => {
  const runner = createRunner({ keepJobs: 1, keepUsedMs: -1000 });
  await runner.start();
  for (const [index, id] of ['a', 'b'].entries()) {
    queue(id);
    runner.wake();
    await until(() => crawls.length === index + 1);
    crawls[index]?.end(site);
    await until(() => finished.length === index + 1);
  }
  await runner.stop();
  assert.equal(store.find('a'), undefined);
  assert.deepEqual(readdirSync(join(directory, 'archives')), ['b.tar.gz']);
});

test('archives of unused domains are removed for new archives', async () => {
  const origins = readOrigins(
    ['a.example.com', 'b.example.com', 'c.example.com'].map((d) => `${d}=http://x`),
  );
  let now = 1000;
  const clock = { ...systemClock, now: () => now };
  // Two archives of 7 bytes.
  const runner = createRunner({ origins, clock, keepBytes: 15, keepUsedMs: 500 });
  await runner.start();
  for (const [index, id] of ['a', 'b', 'c'].entries()) {
    now += 1000;
    store.start({ id, domain: `${id}.example.com`, now, maxQueued: 100 });
    runner.wake();
    await until(() => crawls.length === index + 1);
    crawls[index]?.end(site);
    await until(() => finished.length === index + 1);
  }
  await runner.stop();
  assert.equal(store.find('a'), undefined);
  assert.deepEqual(readdirSync(join(directory, 'archives')).toSorted(), ['b.tar.gz', 'c.tar.gz']);
});

test('a result that cannot be written is written later, and no job is lost', async () => {
  let refusals = 2;
  const full = (): never => {
    refusals -= 1;
    throw Object.assign(new Error('database or disk is full'), { code: 'ERR_SQLITE_ERROR' });
  };
  const waits: number[] = [];
  const clock: Clock = {
    ...systemClock,
    after: (ms) => {
      waits.push(ms);
      return Promise.resolve();
    },
  };
  const frail: JobStore = {
    ...store,
    complete: (...all) => (refusals > 1 ? full() : store.complete(...all)),
    claimNext: (now) => (refusals === 1 ? full() : store.claimNext(now)),
  };
  const runner = createRunner({ store: frail, clock });
  queue('a', 'b');
  await runner.start();
  await until(() => crawls.length === 1);
  crawls[0]?.end(site);
  await until(() => crawls.length === 2);
  assert.equal(store.find('a')?.status, 'completed');
  assert.deepEqual(waits, [5000, 5000]);
  await runner.stop();
});
