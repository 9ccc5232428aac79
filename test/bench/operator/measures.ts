// What is measured of one contestant on one API server, phase after phase: empty, all due at once, started anew
// over what is published, idle, edited while a first list is worked off. Each phase ends or fails in bounded time
// and says how far it came. Judges nothing.

import { setTimeout as sleep } from 'node:timers/promises';
import { type BenchCluster, startBenchCluster } from './bench-cluster.ts';
import type { Contestant, Running } from './contestants.ts';
import { type InstantVendor, startInstantVendor } from './instant-vendor.ts';
import type { Progress } from './progress.ts';
import { quantile } from './quantile.ts';

export type Figures = Readonly<Record<string, number>>;

export interface Sizes {
  readonly resources: number;
  readonly edits: number;
  readonly idleSeconds: number;
  /** A phase that takes longer has failed. */
  readonly phaseSeconds: number;
}

interface Round extends Sizes {
  readonly contestant: Contestant;
  readonly cluster: BenchCluster;
  readonly vendor: InstantVendor;
  readonly progress: Progress;
}

/** What a program does after its start, and the collector after that, is not yet its size. */
const settleMs = 5_000;
const lookEveryMs = 100;
/** Start, poll, issue. */
const callsPerResource = 3;

/** One round, on a cluster of its own. */
export async function measure(contestant: Contestant, sizes: Sizes, progress: Progress): Promise<Figures> {
  const roundAt = performance.now();
  const vendor = await startInstantVendor();
  const cluster = await startBenchCluster();
  const round: Round = { ...sizes, contestant, cluster, vendor, progress };
  try {
    const empty = await measureEmpty(round);
    progress.begin('make', sizes.resources);
    const startedAt = performance.now();
    await cluster.fill(sizes.resources, progress.reach);
    const made = { makeSeconds: (performance.now() - startedAt) / 1000 };
    const published = await measurePublishing(round);
    const restarted = await measureRestart(round);
    const edited = await measureEdits(round);
    const roundSeconds = (performance.now() - roundAt) / 1000;
    return { ...empty, ...made, ...published, ...restarted, ...edited, roundSeconds };
  } finally {
    progress.end();
    await cluster.stop();
    await vendor.close();
  }
}

async function measureEmpty({ contestant, cluster, vendor, progress }: Round): Promise<Figures> {
  progress.begin('empty', 1);
  const running = await contestant.start(cluster.kubeconfig, vendor.url);
  await sleep(settleMs);
  await running.scrape();
  const figures = { emptyRss: await running.rssMegabytes() };
  await running.child.stop();
  return figures;
}

/** From nothing to everything published: three calls of the export API and their passes for each resource. */
async function measurePublishing(round: Round): Promise<Figures> {
  const { contestant, cluster, vendor, resources } = round;
  const calls = vendor.calls();
  const startedAt = performance.now();
  const running = await contestant.start(cluster.kubeconfig, vendor.url);
  await reach(round, 'publish', callsPerResource * resources, () => vendor.calls() - calls);
  const seconds = (performance.now() - startedAt) / 1000;
  const figures = {
    publishSeconds: seconds,
    passesPerSecond: (await passes(running)) / seconds,
    publishProcessorSeconds: await running.processorSeconds(),
    requestsPerResource: (await running.sum('rest_client_requests_total')) / resources,
    peakRss: await running.peakRssMegabytes(),
  };
  // The last passes write what they issued.
  await sleep(2_000);
  const { ready, tookMs } = await cluster.countReady();
  await running.child.stop();
  return { ...figures, ready, kubectlGetMs: tookMs };
}

/** Over resources that are published: how soon all have been looked at, how large it is, and what it does then. */
async function measureRestart(round: Round): Promise<Figures> {
  const { contestant, cluster, vendor, resources, idleSeconds, progress } = round;
  const startedAt = performance.now();
  const running = await contestant.start(cluster.kubeconfig, vendor.url);
  await reach(round, 'restart', resources, () => passes(running));
  const classifiedSeconds = (performance.now() - startedAt) / 1000;
  const processorSeconds = await running.processorSeconds();
  progress.begin('idle', 1);
  // What the end of the start still writes does not belong to the idle time.
  await sleep(settleMs);
  await running.scrape();
  const [writesBefore, callsBefore] = [await writes(running), vendor.calls()];
  await sleep(idleSeconds * 1000);
  const perHour = 3600 / idleSeconds;
  const figures = {
    classifiedSeconds,
    classifyProcessorSeconds: processorSeconds,
    rss: await running.rssMegabytes(),
    restartPeakRss: await running.peakRssMegabytes(),
    idleWritesPerHour: ((await writes(running)) - writesBefore) * perHour,
    idleCallsPerHour: (vendor.calls() - callsBefore) * perHour,
  };
  await running.child.stop();
  return figures;
}

/** Edits while the first list is being worked off, one after the other, of resources from its end. */
async function measureEdits({
  contestant,
  cluster,
  vendor,
  resources,
  edits,
  progress,
}: Round): Promise<Figures> {
  cluster.observe();
  const running = await contestant.start(cluster.kubeconfig, vendor.url);
  progress.begin('edit', edits);
  while ((await passes(running)) < 1) await sleep(lookEveryMs / 10);
  const latencies: number[] = [];
  for (let edit = 0; edit < edits; edit += 1) {
    const tookMs = await cluster.editAndWait(`docs-${resources - 1 - edit}`);
    if ((await running.sum('workqueue_depth')) === 0) break;
    latencies.push(tookMs);
    progress.reach(edit + 1);
  }
  await running.child.stop();
  return {
    editP50Ms: quantile(latencies, 0.5),
    editP99Ms: quantile(latencies, 0.99),
    editsWhileQueued: latencies.length,
  };
}

/** @throws Error saying how far it came */
async function reach(
  { progress, phaseSeconds }: Round,
  phase: string,
  goal: number,
  look: () => Promise<number> | number,
): Promise<void> {
  progress.begin(phase, goal);
  const end = performance.now() + phaseSeconds * 1000;
  for (;;) {
    const now = await look();
    progress.reach(Math.min(now, goal));
    if (now >= goal) return;
    if (performance.now() > end) throw new Error(`${phase}: ${now} of ${goal} after ${phaseSeconds} s`);
    await sleep(lookEveryMs);
  }
}

const passes = (running: Running): Promise<number> => running.sum('controller_runtime_reconcile_total');

async function writes(running: Running): Promise<number> {
  const methods = ['PATCH', 'POST'].map((method) =>
    running.sum('rest_client_requests_total', `method="${method}"`),
  );
  return (await Promise.all(methods)).reduce((sum, count) => sum + count, 0);
}
