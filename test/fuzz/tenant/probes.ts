// Calls the operator's admin port as kubelets and Prometheus do, only more often, and reads its resident memory. Runs in
// a thread of its own, because other work of the test runner would count as the operator's delay.

import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { z } from 'zod';

/** The longest that an answer may take: a probe's by the rule, a scrape's as Prometheus waits for it. */
const timeoutsMs = { '/livez': 1_000, '/readyz': 1_000, '/metrics': 10_000 } as const;
const everyMs = 200;
const lookEveryMs = 20;

const figuresShape = z.object({
  path: z.string(),
  asked: z.number(),
  /** Not answered with 200 in time. */
  failed: z.number(),
  mostFailedInRow: z.number(),
  longestMs: z.number(),
  /** From a good answer to the next one, or to the report. */
  longestOutageMs: z.number(),
  p99Ms: z.number(),
});
const reportShape = z.object({
  probes: z.array(figuresShape),
  /** The most that was seen of the process and its own processes. */
  mostResidentBytes: z.number(),
});
export type ProbeReport = z.infer<typeof reportShape>;
const orderShape = z.object({ port: z.number(), pid: z.number() });

export interface Probes {
  report(): Promise<ProbeReport>;
  stop(): Promise<void>;
}

/** From now on, until stopped. */
export function startProbes(port: number, pid: number): Probes {
  const worker = new Worker(new URL(import.meta.url), { workerData: { port, pid } });
  worker.unref();
  return {
    report: () =>
      new Promise((resolve, reject) => {
        worker.once('message', (message: unknown) => resolve(reportShape.parse(message)));
        worker.once('error', reject);
        worker.postMessage('report');
      }),
    stop: async () => {
      await worker.terminate();
    },
  };
}

interface Series {
  readonly path: string;
  readonly timeoutMs: number;
  readonly durationsMs: number[];
  failed: number;
  inRow: number;
  mostInRow: number;
  goodAt: number;
  longestOutageMs: number;
}

async function probe(port: number, series: Series): Promise<void> {
  const start = performance.now();
  let isGood = false;
  try {
    const response = await fetch(`http://127.0.0.1:${port}${series.path}`, {
      signal: AbortSignal.timeout(series.timeoutMs),
    });
    await response.arrayBuffer();
    isGood = response.status === 200;
  } catch {
    // Late, or refused: not good.
  }
  series.durationsMs.push(performance.now() - start);
  if (isGood) noteOutage(series);
  series.inRow = isGood ? 0 : series.inRow + 1;
  if (!isGood) series.failed += 1;
  series.mostInRow = Math.max(series.mostInRow, series.inRow);
}

function noteOutage(series: Series): void {
  const now = performance.now();
  series.longestOutageMs = Math.max(series.longestOutageMs, now - series.goodAt - everyMs);
  series.goodAt = now;
}

/** What a container would be charged for now: the process, and what its own processes have for themselves. */
function readResident(pid: number): number {
  const kibibytes = (of: number, name: string): number => {
    try {
      const status = readFileSync(`/proc/${of}/status`, 'utf8');
      return Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);
    } catch {
      return 0;
    }
  };
  const children = childrenOf(pid).reduce((sum, child) => sum + kibibytes(child, 'RssAnon'), 0);
  return (kibibytes(pid, 'VmRSS') + children) * 1024;
}

function childrenOf(pid: number): readonly number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

async function run(): Promise<void> {
  const { port, pid } = orderShape.parse(workerData);
  const all = Object.entries(timeoutsMs).map(
    ([path, timeoutMs]): Series => ({
      path,
      timeoutMs,
      durationsMs: [],
      failed: 0,
      inRow: 0,
      mostInRow: 0,
      goodAt: performance.now(),
      longestOutageMs: 0,
    }),
  );
  let mostResidentBytes = 0;
  const look = (): void => {
    mostResidentBytes = Math.max(mostResidentBytes, readResident(pid));
  };
  parentPort?.on('message', () => {
    look();
    const now = performance.now();
    const probes = all.map(({ path, durationsMs, failed, mostInRow, goodAt, longestOutageMs }) => {
      const sorted = durationsMs.toSorted((a, b) => a - b);
      const p99Ms = sorted[Math.floor(sorted.length * 0.99)] ?? 0;
      return {
        path,
        asked: sorted.length,
        failed,
        mostFailedInRow: mostInRow,
        longestMs: sorted.at(-1) ?? 0,
        longestOutageMs: Math.max(longestOutageMs, now - goodAt - everyMs),
        p99Ms,
      };
    });
    parentPort?.postMessage({ probes, mostResidentBytes });
  });
  const ask = async (series: Series): Promise<never> => {
    for (;;) {
      await probe(port, series);
      await sleep(everyMs);
    }
  };
  setInterval(look, lookEveryMs);
  await Promise.all(all.map(ask));
}

if (!isMainThread && orderShape.safeParse(workerData).success) await run();
