// How fast and how large the operator is, beside a controller-runtime operator that does the same reads and
// writes, on a real API server. To be run alone on a quiet machine:
//   node test/bench/operator/run.ts [resources=1000] [rounds=3] [idle seconds=30]
// Prints one line of JSON per round and the medians at the end. Judges nothing.

import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../support/eventually.ts';
import { type BenchCluster, startBenchCluster } from './bench-cluster.ts';
import { type Contestant, findContestants, type Running } from './contestants.ts';
import { type InstantVendor, startInstantVendor } from './instant-vendor.ts';

const [resources = 1000, rounds = 3, idleSeconds = 30] = process.argv.slice(2).map(Number);
const editsPerRound = 50;
type Figures = Readonly<Record<string, number>>;

const passes = (running: Running): Promise<number> => running.sum('controller_runtime_reconcile_total');
const writes = async (running: Running): Promise<number> =>
  (await running.sum('rest_client_requests_total', 'method="PATCH"')) +
  (await running.sum('rest_client_requests_total', 'method="POST"'));

async function untilPasses(running: Running, count: number): Promise<void> {
  await eventually(`${count} passes`, async () => ((await passes(running)) >= count ? true : undefined), {
    timeoutMs: 600_000,
    everyMs: 50,
  });
}

/** From nothing to everything published: three calls of the API and their passes for each resource. */
async function publishAll(
  contestant: Contestant,
  cluster: BenchCluster,
  vendor: InstantVendor,
): Promise<Figures> {
  const calls = vendor.calls();
  const startedAt = performance.now();
  const running = await contestant.start(cluster.kubeconfig, vendor.url);
  const emptyRss = await running.rssMegabytes();
  await eventually('all published', () => (vendor.calls() - calls >= 3 * resources ? true : undefined), {
    timeoutMs: 900_000,
    everyMs: 50,
  });
  const seconds = (performance.now() - startedAt) / 1000;
  const done = await passes(running);
  await running.child.stop();
  return { emptyRss, publishSeconds: seconds, passesPerSecond: done / seconds };
}

/** Over resources that are published: how soon all have been looked at, how large it is, and what it does then. */
async function restart(
  contestant: Contestant,
  cluster: BenchCluster,
  vendor: InstantVendor,
): Promise<Figures> {
  const startedAt = performance.now();
  const running = await contestant.start(cluster.kubeconfig, vendor.url);
  await untilPasses(running, resources);
  const classifiedSeconds = (performance.now() - startedAt) / 1000;
  // What the end of the start still writes does not belong to the idle time.
  await sleep(3_000);
  const [writesBefore, callsBefore] = [await writes(running), vendor.calls()];
  await sleep(idleSeconds * 1000);
  const perHour = 3600 / idleSeconds;
  const figures = {
    classifiedSeconds,
    rss: await running.rssMegabytes(),
    idleWritesPerHour: ((await writes(running)) - writesBefore) * perHour,
    idleCallsPerHour: (vendor.calls() - callsBefore) * perHour,
  };
  await running.child.stop();
  return figures;
}

/** Edits while the first list is being worked off, one after the other, of resources from its end. */
async function editDuringStart(
  contestant: Contestant,
  cluster: BenchCluster,
  vendor: InstantVendor,
): Promise<Figures> {
  const running = await contestant.start(cluster.kubeconfig, vendor.url);
  await untilPasses(running, 1);
  const latencies: number[] = [];
  let whileQueued = 0;
  for (let edit = 0; edit < editsPerRound; edit += 1) {
    latencies.push(await cluster.editAndWait(`docs-${resources - 1 - edit}`));
    if ((await running.sum('workqueue_depth')) > 0) whileQueued = edit + 1;
  }
  await running.child.stop();
  const queued = latencies.slice(0, Math.max(1, whileQueued));
  return {
    editP50Ms: quantile(queued, 0.5),
    editP99Ms: quantile(queued, 0.99),
    editsWhileQueued: whileQueued,
  };
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

async function measure(contestant: Contestant): Promise<Figures> {
  const vendor = await startInstantVendor();
  const cluster = await startBenchCluster();
  try {
    await cluster.fill(resources);
    const published = await publishAll(contestant, cluster, vendor);
    const restarted = await restart(contestant, cluster, vendor);
    const edited = await editDuringStart(contestant, cluster, vendor);
    return { ...published, ...restarted, ...edited };
  } finally {
    await cluster.stop();
    await vendor.close();
  }
}

const print = (facts: object): void => {
  process.stdout.write(
    `${JSON.stringify(facts, (_name, value) => (typeof value === 'number' ? Math.round(value * 100) / 100 : value))}\n`,
  );
};
const medians: { readonly name: string; readonly figures: Figures }[] = [];
for (const contestant of await findContestants()) {
  const all: Figures[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const figures = await measure(contestant);
    all.push(figures);
    print({ name: contestant.name, resources, round, ...figures });
  }
  const names = Object.keys(all[0] ?? {});
  const figures = Object.fromEntries(
    names.map((name) => [
      name,
      quantile(
        all.map((one) => one[name] ?? Number.NaN),
        0.5,
      ),
    ]),
  );
  medians.push({ name: contestant.name, figures });
}
for (const { name, figures } of medians) print({ median: name, resources, rounds, ...figures });
