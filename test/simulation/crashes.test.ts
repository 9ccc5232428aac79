// A crash before and after every single call of a port, a lost answer or refusal at each, a stale read, and a second
// process that reconciles in between, during a new version, a refresh, a lost output, a lost copy, other rules and a pin.
// Every interrupted task must be completed. SIMULATION_CRASHES=all plays each fault at each call; without it the faults
// other than crashes come at two calls of seven.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mirrorSpec } from './fake-mirror.ts';
import { faultAt } from './faults.ts';
import { Oracles } from './oracles.ts';
import { Simulation } from './simulation.ts';

const minuteMs = 60_000;
const isWhole = process.env['SIMULATION_CRASHES'] === 'all';
const faults = ['crash-before', 'crash-after', 'lost', 'refused', 'stale', 'replayed', 'overtaken'] as const;

interface Moment {
  readonly spec?: Record<string, unknown>;
  readonly arrange: (simulation: Simulation) => void;
  readonly isOver: (simulation: Simulation) => boolean;
  /** Where no link brings an earlier reconcile, a stale read is corrected by the hourly check; a copy is looked at daily. */
  readonly withinMs?: number;
  /** Jobs that exist afterwards; with idempotency keys no interruption may add one. */
  readonly jobs: number;
}

const repairBy = (name: string) => ({ transform: { repair: { rules: [{ name }] } } });

const isReady = (simulation: Simulation): boolean => simulation.condition('Ready').startsWith('True/');

const aNewVersion: Moment = {
  arrange: (simulation) => {
    simulation.vendor.jobMs = 5000;
    simulation.vendor.contents.set('docs.example.com', { name: 'second', pages: 20 });
    simulation.annotate({ 'staticexport.dev/requestedAt': 'now' });
  },
  isOver: (simulation) => simulation.status().history?.length === 2 && isReady(simulation),
  jobs: 2,
};

const moments: Readonly<Record<string, Moment>> = {
  'a new version': aNewVersion,
  'a refresh': {
    arrange: () => {},
    isOver: (simulation) => simulation.clock.monotonic() > 25 * minuteMs && isReady(simulation),
    jobs: 1,
  },
  'a lost output': {
    arrange: (simulation) => {
      simulation.cluster.secrets.delete('docs/site-bundle');
      simulation.prompt();
    },
    isOver: (simulation) => simulation.output() !== undefined && isReady(simulation),
    jobs: 1,
  },
  'a new version with a mirror': { ...aNewVersion, spec: { mirror: mirrorSpec } },
  'a new version with a mirror and without a link': {
    ...aNewVersion,
    spec: { mirror: mirrorSpec, output: { link: 'Never' } },
    withinMs: 120 * minuteMs,
  },
  'a lost copy': {
    spec: { mirror: mirrorSpec, output: { link: 'Never' } },
    withinMs: 26 * 60 * minuteMs,
    arrange: (simulation) => simulation.mirror.copies.clear(),
    isOver: (simulation) => simulation.mirror.copies.size > 0 && isReady(simulation),
    jobs: 1,
  },
  'other rules of a repair': {
    spec: { mirror: mirrorSpec, ...repairBy('sitemap') },
    withinMs: 120 * minuteMs,
    arrange: (simulation) => simulation.editSpec(repairBy('folder-index')),
    isOver: (simulation) =>
      simulation.status().active?.repair === 'folder-index' &&
      simulation.status().job?.verdict !== undefined &&
      isReady(simulation),
    jobs: 1,
  },
  'a lost copy under other revisions of the rules': {
    spec: { mirror: mirrorSpec, ...repairBy('sitemap') },
    withinMs: 26 * 60 * minuteMs,
    arrange: (simulation) => {
      simulation.update({ sitemap: 2 });
      simulation.mirror.copies.clear();
    },
    isOver: (simulation) =>
      simulation.status().active?.repairRevision === 'sitemap:2' &&
      simulation.status().job?.verdict !== undefined &&
      isReady(simulation),
    jobs: 1,
  },
  'a pinned job from elsewhere': {
    arrange: (simulation) => {
      simulation.vendor.jobMs = 5000;
      simulation.vendor.contents.set('docs.example.com', { name: 'elsewhere', pages: 20 });
      simulation.editSpec({ pin: { jobId: simulation.vendor.startElsewhere('docs.example.com') } });
    },
    isOver: (simulation) => simulation.status().history?.length === 2 && isReady(simulation),
    jobs: 2,
  },
};

async function publishedSimulation(spec: Record<string, unknown> = {}): Promise<Simulation> {
  const simulation = new Simulation({ spec: { linkRefresh: { minInterval: '5s' }, ...spec } });
  simulation.vendor.jobMs = 5000;
  await simulation.until(() => isReady(simulation));
  return simulation;
}

/** A crash comes at every call; of the other faults, two or fewer at each, and others at the call after it. */
const isPlayed = (index: number, order: number): boolean =>
  isWhole || order < 2 || [0, 3].includes((index + order) % faults.length);

/** Plays the moment for its calls and each fault. */
async function interrupt(
  { spec, arrange, isOver, withinMs = 60 * minuteMs }: Moment,
  check: (simulation: Simulation, words: string) => void,
  isIdempotent = true,
): Promise<void> {
  const calls: string[] = [];
  const plain = await publishedSimulation(spec);
  plain.faults = faultAt(-1, 'none', calls);
  arrange(plain);
  await plain.until(() => isOver(plain), withinMs);
  for (const [order, fault] of faults.entries()) {
    for (let index = 0; index < calls.length; index += 1) {
      if (!isPlayed(index, order)) continue;
      const simulation = await publishedSimulation(spec);
      simulation.vendor.isIdempotent = isIdempotent;
      simulation.faults = faultAt(index, fault, []);
      arrange(simulation);
      await simulation.until(() => isOver(simulation), withinMs);
      check(simulation, `${fault} at ${calls[index]} (${index})`);
    }
  }
}

for (const [name, moment] of Object.entries(moments)) {
  test(`${name} is completed after an interruption at any call`, async () => {
    await interrupt(moment, (simulation, words) => {
      const oracles = new Oracles(simulation);
      oracles.checkSecrets();
      oracles.checkStatus('any');
      assert.equal(simulation.vendor.jobs.size, moment.jobs, words);
      const { output, transform } = moment.spec ?? {};
      if (output === undefined && transform === undefined) assert.ok(simulation.isLinkValid(), words);
      const { ref } = simulation.status().active ?? {};
      if (moment.spec?.['mirror'] !== undefined)
        assert.ok(simulation.mirror.copies.has(ref ?? ''), `${words}: no copy`);
      assert.equal(simulation.status().active?.version, simulation.output()?.['version']);
    });
  });
}

test('without idempotency keys an interruption costs at most one job', async () => {
  let spare = 0;
  const count = (simulation: Simulation, words: string): void => {
    const jobs = simulation.vendor.jobs.size - aNewVersion.jobs;
    assert.ok(jobs === 0 || jobs === 1, `${words}: ${jobs} spare jobs`);
    spare += jobs;
  };
  await interrupt(aNewVersion, count, false);
  // With idempotency keys there would be no second job.
  assert.ok(spare > 0);
});
