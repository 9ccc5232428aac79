// Runs queued jobs, a bounded number at a time: exports, then records the result. Owns live progress (in memory; a
// restart starts it again at 0), the archives' files, retention, and what an interruption does to a job. Invariant: a
// claimed job ends as completed, failed, or back in the queue, whatever the export does. One that is back in the queue keeps
// what it crawled.

import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, hasWaited } from '#platform/runtime/clock.ts';
import { makeFolder } from '#platform/runtime/folder.ts';
import type { Logger } from '#platform/runtime/logger.ts';
import { PublishableError, publishableCode, publishableMessage } from '#platform/wire/publishable-error.ts';
import { defaultVerificationLimits } from '#site/browser/verification.ts';
import { createCrawlFolders } from './crawl-folders.ts';
import type { AnswerCounts, CrawlLimits, CrawlProgress, SiteProfile } from './crawler/contract.ts';
import { type Origins, originOf } from './origins.ts';
import type { Exported, SiteExport, SiteExportRequest } from './site-export.ts';
import type { JobRow, JobStore } from './store/jobs.ts';
import type { KeptCrawlStore } from './store/kept-crawls.ts';

/** A job that is interrupted this often fails, because the job itself may end the process. */
export const mostCrawlAttempts = 3;

/** Finished jobs kept of all domains. A failed job has no archive, but their number has no bound if any domain is allowed. */
const maxFinishedJobs = 10_000;

/** Wait before the next attempt to write to the store, for example on a full disk. */
const storeRetryMs = 5000;

/** Packing and everything else that comes on top of the crawl's own time limit. */
const packingAllowanceMs = 10 * 60 * 1000;
/** The same with pages that a browser opens. */
const browserAllowanceMs = packingAllowanceMs + defaultVerificationLimits.totalMs;

export interface LiveProgress {
  /** Whole percent, below 100; never falls while the job runs. */
  readonly percent: number;
  readonly pageCount: number;
  /** Epoch ms of the last change of either. */
  readonly updatedAt: number;
}

export interface JobRunnerOptions {
  readonly store: JobStore;
  readonly keptCrawls: KeptCrawlStore;
  readonly exportSite: SiteExport;
  readonly origins: Origins;
  readonly limits: CrawlLimits;
  /** Form of each site in its archive. Absent: `rooted`. */
  readonly profile?: SiteProfile | undefined;
  /** Path of a Chromium that opens every page of an export; `undefined`: none does. */
  readonly browser?: string | undefined;
  /** The data folder; `archives/` in it is this module's. */
  readonly directory: string;
  readonly concurrency: number;
  /** Finished jobs kept per domain; one used within `keepUsedMs` is kept in any case. */
  readonly keepJobs: number;
  readonly keepUsedMs: number;
  /**
   * All archives together; the least recently used go first, whichever domain's they are. Kept crawls have the room that
   * archives leave.
   */
  readonly keepBytes: number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly onFinished: (outcome: 'completed' | 'failed', seconds: number) => void;
  /** Of a completed job. */
  readonly onAnswers: (counts: AnswerCounts) => void;
}

export interface JobRunner {
  /** Recovers what an earlier process left, then takes from the queue. Call once, before a client can queue a job. */
  start(): Promise<void>;
  /** A job was queued. Does nothing before the start is done, because recovery would requeue a claimed job. */
  wake(): void;
  progressOf(jobId: string): LiveProgress | undefined;
  readonly runningCount: () => number;
  /** Ends what runs and puts it back into the queue; resolves when nothing runs any more. */
  stop(): Promise<void>;
}

export const archiveFile = (directory: string, jobId: string): string =>
  join(directory, 'archives', `${jobId}.tar.gz`);

/** Percent of the known pages, 0 while none is known. Stays below 100: more pages may be found, and packing follows. */
function percentOf({ pageCount, discovered }: CrawlProgress, earlier: number): number {
  const share = discovered > 0 ? pageCount / discovered : 0;
  return Math.max(earlier, Math.min(99, Math.floor(share * 99)));
}

export function createJobRunner(options: JobRunnerOptions): JobRunner {
  const { store, clock, logger, directory } = options;
  const folders = createCrawlFolders(directory, options.keptCrawls, options.keepBytes, logger);
  const live = new Map<string, LiveProgress>();
  const running = new Set<Promise<void>>();
  const stopping = new AbortController();
  let isRecovered = false;

  function takeNext(): void {
    while (isRecovered && running.size < options.concurrency && !stopping.signal.aborted) {
      let job: JobRow | undefined;
      try {
        job = store.claimNext(clock.now());
      } catch (error) {
        logger.error({ error }, 'the store cannot be written; trying again');
        clock.after(storeRetryMs, stopping.signal).then(takeNext, () => {});
        return;
      }
      if (job === undefined) return;
      live.set(job.id, { percent: 0, pageCount: 0, updatedAt: job.updatedAt });
      const work = run(job).finally(() => {
        live.delete(job.id);
        running.delete(work);
        takeNext();
      });
      running.add(work);
    }
  }

  async function run(job: JobRow): Promise<void> {
    const log = logger.child({ job: job.id });
    const began = clock.monotonic();
    log.info({ domain: job.domain, attempt: job.attempts }, 'job starts');
    try {
      const exported = await exportSite(job, log);
      if (!(await record(() => store.complete(job.id, exported, clock.now()), log))) return;
      await folders.keep(job, exported.keptBytes, clock.now());
      options.onAnswers(exported.answers);
      await removeUnused(job.domain, log);
      log.info({ pages: exported.pageCount, sizeBytes: exported.sizeBytes }, 'job completed');
      options.onFinished('completed', (clock.monotonic() - began) / 1000);
    } catch (error) {
      if (stopping.signal.aborted) {
        log.info({}, 'job goes back into the queue: the service stops');
        await record(() => store.release(job.id, clock.now()), log);
        return;
      }
      log.warn({ error }, 'job failed');
      const pageCount = live.get(job.id)?.pageCount ?? 0;
      await record(() => store.fail(job.id, failureText(error), pageCount, clock.now()), log);
      await removeUnused(job.domain, log);
      options.onFinished('failed', (clock.monotonic() - began) / 1000);
    } finally {
      // The start after a stop needs that of a job which is not finished, and removes every other.
      if (!stopping.signal.aborted) await folders.removeSpool(job.id);
    }
  }

  /** In memory only, because a page is not worth a write to disk. A clock set back does not move it back. */
  function note(jobId: string, percent: number, pageCount: number): void {
    const earlier = live.get(jobId);
    if (earlier?.percent === percent && earlier.pageCount === pageCount) return;
    live.set(jobId, { percent, pageCount, updatedAt: Math.max(earlier?.updatedAt ?? 0, clock.now()) });
  }

  /** Writes until it succeeds, or gives up (false) because the service stops: the next start recovers the job. */
  async function record(write: () => void, log: Logger): Promise<boolean> {
    for (;;) {
      try {
        write();
        return true;
      } catch (error) {
        log.error({ error }, 'the outcome of a job cannot be written; trying again');
        if (!(await hasWaited(clock, storeRetryMs, stopping.signal))) return false;
      }
    }
  }

  /** A job goes with its keys, of which there may be many: those of expired links go first, some at a time. */
  async function removeUnused(domain: string, log: Logger): Promise<void> {
    let isMore = true;
    while (isMore && !stopping.signal.aborted) {
      await record(() => {
        isMore = store.sweepExpired(clock.now());
      }, log);
      if (isMore) await clock.after(0, stopping.signal).catch(() => {});
    }
    await record(() => removeEvicted(domain), log);
    await folders.evict().catch((error: unknown) => log.warn({ error }, 'kept crawls could not be removed'));
  }

  async function exportSite(job: JobRow, log: Logger): Promise<Exported> {
    const origin = originOf(options.origins, job.domain);
    if (origin === undefined)
      throw new PublishableError('NoSuchDomain', 'the domain is no longer exported here');
    // The crawl has limits of its own; this is the backstop that keeps a job from hanging whatever it does.
    const { browser } = options;
    const allowanceMs = browser === undefined ? packingAllowanceMs : browserAllowanceMs;
    const signal = clock.deadline(options.limits.timeoutMs + allowanceMs, stopping.signal);
    const spoolDirectory = folders.spoolOf(job.id);
    await makeFolder(spoolDirectory, 0o700);
    const onProgress = (progress: CrawlProgress): void =>
      note(job.id, percentOf(progress, live.get(job.id)?.percent ?? 0), progress.pageCount);
    const request: SiteExportRequest = {
      domain: job.domain,
      basePath: job.basePath ?? undefined,
      origin: origin.url,
      isOriginConsented: origin.isConsented,
      originHeaders: origin.headers,
      ignoresRobots: origin.ignoresRobots,
      spoolDirectory,
      earlierDirectory: folders.earlierOf(job.domain),
      limits: options.limits,
      profile: options.profile,
      destination: archiveFile(directory, job.id),
      browser,
    };
    return options.exportSite(request, { clock, logger: log, onProgress, onCrawled: () => {}, signal });
  }

  function removeEvicted(domain: string): void {
    const usedSince = clock.now() - options.keepUsedMs;
    const gone = [
      ...store.evict(domain, options.keepJobs, usedSince),
      ...store.evictBeyond(options.keepBytes, maxFinishedJobs, usedSince),
    ];
    for (const id of gone) {
      rmSync(archiveFile(directory, id), { force: true });
      logger.info({ job: id }, 'job removed for newer jobs');
    }
  }

  return {
    start: async () => {
      await makeFolder(join(directory, 'archives'), 0o700);
      const { failed, requeued } = store.recover(mostCrawlAttempts, clock.now());
      if (failed + requeued > 0) logger.warn({ failed, requeued }, 'jobs were interrupted by an earlier end');
      removeOrphans(directory, new Set(store.completedIds()));
      await folders.recover(new Set(store.unfinishedIds()));
      isRecovered = true;
      takeNext();
    },
    wake: takeNext,
    progressOf: (jobId) => live.get(jobId),
    runningCount: () => running.size,
    stop: async () => {
      stopping.abort();
      await Promise.allSettled(running);
    },
  };
}

/** Text of the job's `error`: code and sentence of this project's errors, the code alone of any other. */
function failureText(error: unknown): string {
  if (error instanceof DOMException && error.name === 'TimeoutError') {
    return 'TimedOut: the job took longer than --crawl-timeout and its allowance for packing';
  }
  const code = publishableCode(error);
  if (code === 'ENOSPC' || code === 'EDQUOT') return `${code}: the disk of the data folder is full`;
  const text = publishableMessage(error);
  return error instanceof PublishableError ? `${code}: ${text}` : text;
}

/** Archives that no completed job owns: of jobs interrupted between packing and recording, and half-written ones. */
function removeOrphans(directory: string, owners: ReadonlySet<string>): void {
  for (const name of readdirSync(join(directory, 'archives'))) {
    const isOwned = name.endsWith('.tar.gz') && owners.has(name.slice(0, -'.tar.gz'.length));
    if (!isOwned) rmSync(join(directory, 'archives', name), { force: true, recursive: true });
  }
}
