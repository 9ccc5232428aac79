// A run of many cases in a separate thread, watched from outside: a thread without a report for too long hangs, and is
// ended with the case named. Memory is measured throughout.

import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { z } from 'zod';
import { makeCorpus } from './corpus.ts';
import { judge, limits } from './judge.ts';
import { diceOf, mutate } from './mutation.ts';

export interface CampaignOptions {
  readonly cases: number;
  readonly seed: number;
  /** The first case; to repeat one. */
  readonly from?: number;
  readonly onProgress?: (done: number) => void;
}

const reportShape = z.object({
  /** Cases done. */
  done: z.number(),
  read: z.number(),
  rejected: z.record(z.string(), z.number()),
  wrong: z.array(z.string()),
  /** Heap and buffers of the thread. */
  peakBytes: z.number(),
  /** Resident memory of the whole process, decoders and all threads included. */
  peakResidentBytes: z.number(),
  isLast: z.boolean(),
});
export type CampaignReport = z.infer<typeof reportShape>;

/** Longer than one case takes on a slow machine. */
const hangMs = 60_000;
const reportEvery = 100;
/** Far above what any case needs, the corpus and the bombs of the mutations included; a leak passes it. */
export const maxPeakBytes = 256 * 1024 * 1024;
const mostWrong = 20;
/** Includes memory outside the heap, such as decoders and their windows. An idle process has about 100 MiB. */
export const maxResidentBytes = (jobs: number): number => (128 + 256 * jobs) * 1024 * 1024;

/** The same cases, divided among threads in runs of consecutive ones. @throws as {@link runCampaign} */
export async function runJobs(jobs: number, options: CampaignOptions): Promise<CampaignReport> {
  const { cases, from = 0, onProgress } = options;
  const done = Array.from({ length: Math.max(1, Math.min(jobs, cases)) }, () => 0);
  const share = Math.ceil(cases / done.length);
  const reports = await Promise.all(
    done.map((_, job) =>
      runCampaign({
        ...options,
        from: from + job * share,
        cases: Math.max(0, Math.min(share, cases - job * share)),
        onProgress: (own) => {
          done[job] = own;
          onProgress?.(done.reduce((sum, one) => sum + one, 0));
        },
      }),
    ),
  );
  return reports.reduce(join);
}

function join(one: CampaignReport, other: CampaignReport): CampaignReport {
  const rejected = { ...one.rejected };
  for (const [code, count] of Object.entries(other.rejected)) rejected[code] = (rejected[code] ?? 0) + count;
  return {
    done: one.done + other.done,
    read: one.read + other.read,
    rejected,
    wrong: [...one.wrong, ...other.wrong],
    peakBytes: Math.max(one.peakBytes, other.peakBytes),
    peakResidentBytes: Math.max(one.peakResidentBytes, other.peakResidentBytes),
    isLast: true,
  };
}

/** @throws Error naming seed and case when the thread hangs or crashes */
export async function runCampaign(options: CampaignOptions): Promise<CampaignReport> {
  const { cases, seed, from = 0, onProgress } = options;
  const worker = new Worker(new URL(import.meta.url), { workerData: { cases, seed, from } });
  let last = from;
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise((resolve, reject) => {
      const near = (what: string): Error => new Error(`${what} after case ${last} of seed ${seed}`);
      const watch = (): void => {
        clearTimeout(timer);
        timer = setTimeout(() => reject(near('the reader hangs')), hangMs);
      };
      watch();
      worker.on('message', (message: unknown) => {
        watch();
        const report = reportShape.parse(message);
        last = from + report.done;
        onProgress?.(report.done);
        if (report.isLast) resolve(report);
      });
      worker.on('error', (cause) => reject(new Error(near('the reader crashed').message, { cause })));
      worker.on('exit', () => reject(near('the thread ended')));
    });
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}

async function runCases(): Promise<void> {
  const { cases, seed, from } = z
    .object({ cases: z.number(), seed: z.number(), from: z.number() })
    .parse(workerData);
  const corpus = makeCorpus();
  const rejected: Record<string, number> = {};
  const wrong: string[] = [];
  let read = 0;
  let peakBytes = 0;
  let peakResidentBytes = 0;
  const report = (done: number, isLast: boolean): void =>
    parentPort?.postMessage({ done, read, rejected, wrong, peakBytes, peakResidentBytes, isLast });
  for (let done = 0; done < cases; done += 1) {
    const at = from + done;
    const dice = diceOf(Math.imul(seed, 0x9e3779b1) + at);
    const sample = corpus[dice(corpus.length)];
    if (sample === undefined) throw new Error('an empty corpus');
    const mutant = mutate(sample, dice, limits.maxFrames);
    const outcome = await judge(sample, mutant, 1 + dice(dice(2) === 0 ? 600 : 70_000));
    if (outcome.kind === 'read') read += 1;
    else if (outcome.kind === 'rejected') rejected[outcome.code] = (rejected[outcome.code] ?? 0) + 1;
    else wrong.push(`case ${at}, ${sample.name}, ${mutant.how}: ${outcome.what}`);
    const { arrayBuffers, heapUsed, rss } = process.memoryUsage();
    peakResidentBytes = Math.max(peakResidentBytes, rss);
    peakBytes = Math.max(peakBytes, arrayBuffers + heapUsed);
    if (wrong.length >= mostWrong) break;
    if (done % reportEvery === reportEvery - 1) report(done + 1, false);
  }
  report(cases, true);
}

if (!isMainThread) await runCases();
