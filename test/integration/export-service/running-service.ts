// A running export service for tests, with a real port, store and archives. The test controls the crawl and the wall
// clock.

import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after } from 'node:test';
import type { ExportApi } from '#export-api/answers.ts';
import {
  type CrawlContext,
  type CrawledFile,
  type CrawlRequest,
  type CrawlResult,
  defaultCrawlLimits,
} from '#export-service/crawler/contract.ts';
import { packSite } from '#export-service/crawler/pack.ts';
import { type ExportServiceOptions, startExportService } from '#export-service/service.ts';
import { exportWith } from '#export-service/site-export.ts';
import { type Clock, systemClock } from '#platform/runtime/clock.ts';
import { createLogger } from '#platform/runtime/logger.ts';
import { systemRandom } from '#platform/runtime/random.ts';
import { createWholeClient, type WholeClient } from '../../support/export-api-client.ts';
import { workerFile } from '../../support/program-file.ts';

export const key = 'svc_integration';
export const readerKey = 'svc_reader';
export const otherKey = 'svc_other';
export const domain = 'docs.example.com';
export const never = new AbortController().signal;

export interface Crawl {
  readonly request: CrawlRequest;
  readonly edge: CrawlContext;
  readonly end: (result: CrawlResult) => void;
  readonly fail: (error: unknown) => void;
}

export interface RunningService {
  readonly url: string;
  readonly adminUrl: string;
  readonly folder: string;
  readonly client: WholeClient;
  readonly clientWith: (key: string) => WholeClient;
  /** All that was logged so far. */
  readonly log: () => string;
  /** The next crawl to begin. */
  readonly nextCrawl: () => Promise<Crawl>;
  readonly moveClock: (ms: number) => void;
  /** Stops and starts again on the same folder and another port. */
  readonly restart: () => Promise<RunningService>;
  readonly close: () => Promise<void>;
}

/** A site of one page, as a crawl gives it back. */
export function siteOf(html: string): CrawlResult {
  const bytes = Buffer.from(html);
  const file: CrawledFile = {
    path: 'index.html',
    sizeBytes: bytes.byteLength,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    read: () => Readable.from([bytes]),
  };
  return {
    files: [file],
    pageCount: 1,
    types: new Map(),
    skipped: [],
    asked: 1,
    copied: [],
    queryVariants: [],
    notes: [],
    searchIndexes: [],
    answers: { fromOrigin: 1, notModified: 0, fromJournal: 0 },
  };
}

/** Whatever a test file leaves running, a failed test's service for one, is closed at its end. */
const open = new Set<RunningService>();
after(() => Promise.all([...open].map((service) => service.close())));

export async function startService(options: Partial<ExportServiceOptions> = {}): Promise<RunningService> {
  const folder = mkdtempSync(join(tmpdir(), 'export-service-'));
  writeFileSync(join(folder, 'keys'), `# test\n${key}\n${otherKey}\nread:${readerKey}\n`);
  try {
    return await startIn(folder, options);
  } catch (error) {
    rmSync(folder, { recursive: true });
    throw error;
  }
}

async function startIn(folder: string, options: Partial<ExportServiceOptions>): Promise<RunningService> {
  let offsetMs = 0;
  const clock: Clock = { ...systemClock, now: () => systemClock.now() + offsetMs };
  const lines: string[] = [];
  const begun: Crawl[] = [];
  const waiting: ((crawl: Crawl) => void)[] = [];
  const service = await startExportService({
    exportSite: exportWith(
      (request, edge) =>
        new Promise((end, fail) => {
          const crawl = { request, edge, end, fail };
          if (edge.signal.aborted) fail(edge.signal.reason);
          edge.signal.addEventListener('abort', () => fail(edge.signal.reason));
          const first = waiting.shift();
          if (first === undefined) begun.push(crawl);
          else first(crawl);
        }),
      packSite,
      async () => 0,
      () => Promise.reject(new Error('no job asks for a browser')),
    ),
    limits: defaultCrawlLimits,
    concurrency: 1,
    keepJobs: 20,
    keepBytes: 1024 ** 3,
    directory: join(folder, 'data'),
    originMappings: [`${domain}=http://127.0.0.1:9`, 'other.example.com=http://127.0.0.1:9'],
    keysFile: join(folder, 'keys'),
    listen: { host: '127.0.0.1', port: 0 },
    adminListen: { host: '127.0.0.1', port: 0 },
    linkLifetimeMs: 900_000,
    maxQueued: 100,
    projectMappings: [],
    defaultProject: 'default',
    conversationsProgram: workerFile('conversations'),
    clock,
    random: systemRandom,
    logger: createLogger('debug', (line) => lines.push(line)),
    ...options,
  });
  const clientWith = (apiKey: string): WholeClient =>
    createWholeClient({
      baseUrl: options.publicUrl ?? service.url,
      key: apiKey,
      clock: systemClock,
      timeoutMs: 10_000,
      userAgent: 'test',
    });
  const running: RunningService = {
    url: service.url,
    adminUrl: service.adminUrl ?? '',
    folder,
    client: clientWith(key),
    clientWith,
    log: () => lines.join(''),
    nextCrawl: () => {
      const first = begun.shift();
      return first === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(first);
    },
    moveClock: (ms) => {
      offsetMs += ms;
    },
    restart: async () => {
      open.delete(running);
      await service.stop(0);
      return startIn(folder, options);
    },
    close: async () => {
      open.delete(running);
      await service.stop(0);
      rmSync(folder, { recursive: true });
    },
  };
  open.add(running);
  return running;
}

let nextKey = 0;

/** Starts a job, lets its crawl end with the given page, and waits until it is completed. */
export async function exportPage(service: RunningService, html: string): Promise<string> {
  nextKey += 1;
  const { jobId } = await service.client.startJob({ domain, idempotencyKey: `page-${nextKey}` }, never);
  const crawl = await service.nextCrawl();
  crawl.end(siteOf(html));
  await untilFinished(service.client, jobId);
  return jobId;
}

/** Asks until the job is completed or failed. Every answer is a round trip, so this does not spin. */
export async function untilFinished(client: ExportApi, jobId: string): Promise<string> {
  for (;;) {
    const { outcome, state } = await client.readJob(jobId, never);
    if (outcome !== 'unfinished') return state;
  }
}
