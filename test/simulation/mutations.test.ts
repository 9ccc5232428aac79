// Tests of the oracles. Each mutation is a bug between the reconcile and its ports, and the rule that it breaks must
// catch it within a day. A mutation that is not caught shows a gap in the oracles.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ReconcileContext } from '#operator/loop/context.ts';
import { faultAt } from './faults.ts';
import { Oracles } from './oracles.ts';
import { resource, Simulation, type SimulationOptions, type Step } from './simulation.ts';

interface Mutation {
  readonly bend: (context: ReconcileContext, simulation: Simulation) => ReconcileContext;
  readonly caught: RegExp;
  readonly faults?: NonNullable<SimulationOptions['faults']>;
}

const mutations: Readonly<Record<string, Mutation>> = {
  'the link is copied into status': {
    bend: (context, simulation) => ({
      ...context,
      cluster: {
        ...context.cluster,
        writeStatus: (object, next, signal) =>
          context.cluster.writeStatus(
            object,
            { ...next, lastHandledRequest: simulation.output()?.['bundleUrl'] },
            signal,
          ),
      },
    }),
    caught: /a link is shown/,
  },
  'the key is logged': {
    bend: (context, simulation) => {
      context.logger.info({ used: simulation.vendor.validKey }, 'calling');
      return context;
    },
    caught: /a key is shown/,
  },
  'the believed lifetime is three times the real one': {
    bend: (context) => ({
      ...context,
      exportApi: {
        connect: (address, key) => {
          const api = context.exportApi.connect(address, key);
          return {
            ...api,
            issueLink: async (request, signal) => {
              const issued = await api.issueLink(request, signal);
              const { expiresAt = 0, serverDate = 0 } = issued;
              return { ...issued, expiresAt: serverDate + 3 * (expiresAt - serverDate) };
            },
          };
        },
      },
    }),
    caught: /an expired link is published/,
  },
  'the operator’s clock runs at half speed': {
    bend: (context, simulation) => {
      const startedAt = Date.UTC(2026, 0, 5, 12);
      return {
        ...context,
        clock: {
          ...simulation.clock,
          now: () => startedAt + (simulation.clock.now() - startedAt) / 2,
          monotonic: () => simulation.clock.monotonic() / 2,
        },
      };
    },
    caught: /a link is not replaced at its time/,
  },
  'the ConfigMap is never seen as written': {
    bend: (context) => ({
      ...context,
      cluster: {
        ...context.cluster,
        readConfigMap: async (key, signal) => {
          const found = await context.cluster.readConfigMap(key, signal);
          return found && { ...found, data: {} };
        },
      },
    }),
    caught: /ConfigMap was written without a change/,
  },
  'the inspection returns another digest': {
    bend: (context) => ({
      ...context,
      bundles: {
        ...context.bundles,
        inspect: async (link, signal) => ({
          ...(await context.bundles.inspect(link, signal)),
          digest: 'f'.repeat(64),
        }),
      },
    }),
    caught: /published digest is not that of its job/,
  },
  'all calls have the same Idempotency-Key': {
    bend: (context) => ({
      ...context,
      random: { ...context.random, uuid: () => '00000000-0000-4000-a000-000000000000' },
    }),
    caught: /two link requests with one Idempotency-Key/,
  },
  'the start record is not stored': {
    bend: (context) => ({
      ...context,
      cluster: {
        ...context.cluster,
        writeStatus: (object, next, signal) =>
          context.cluster.writeStatus(object, { ...next, start: undefined }, signal),
      },
    }),
    // The answer to the one start is lost: with the start record, the same key finds the same job.
    faults: { next: lostOnce('api.startJob') },
    caught: /before its start record was stored/,
  },
  'a running job is reported as failed': {
    bend: (context) => ({
      ...context,
      exportApi: {
        connect: (address, key) => {
          const api = context.exportApi.connect(address, key);
          return {
            ...api,
            readJob: async (jobId, signal) => {
              const report = await api.readJob(jobId, signal);
              return report.outcome === 'unfinished' ? { ...report, outcome: 'failed' } : report;
            },
          };
        },
      },
    }),
    caught: /a job that did not fail is called failed/,
  },
  'a status is written incompletely': {
    bend: (context) => ({
      ...context,
      cluster: {
        ...context.cluster,
        writeStatus: (object, next, signal) =>
          context.cluster.writeStatus(object, { ...next, history: undefined, job: { id: 7 } }, signal),
      },
    }),
    caught: /the API server would refuse this status/,
  },
};

function lostOnce(name: string): (call: string) => 'lost' | 'none' {
  let isLost = false;
  return (call) => {
    if (call !== name || isLost) return 'none';
    isLost = true;
    return 'lost';
  };
}

/** A day of a resource with a nightly schedule, without faults other than the mutation. */
async function playDay(options: SimulationOptions): Promise<void> {
  const simulation = new Simulation({ spec: { schedule: '0 3 * * *' }, ...options });
  const oracles = new Oracles(simulation);
  await simulation.run(24 * 3_600_000, async (step: Step) => oracles.check(step));
  oracles.checkSettled();
}

test('an ordinary day breaks no rule', async () => {
  await playDay({});
});

test('a lost answer to the start leaves no untracked job', async () => {
  await playDay({ faults: { next: lostOnce('api.startJob') } });
});

for (const [name, { bend, caught, faults }] of Object.entries(mutations)) {
  test(`the oracles catch it when ${name}`, async () => {
    await assert.rejects(playDay({ bend, ...(faults && { faults }) }), caught);
  });
}

test('the oracles catch it when work continues for a deleted resource', async () => {
  const simulation = new Simulation();
  await simulation.until(() => simulation.condition('Ready') === 'True/Published');
  const oracles = new Oracles(simulation);
  const known = simulation.object();
  simulation.cluster.remove(resource);
  simulation.bend = (context) => ({
    ...context,
    cluster: { ...context.cluster, readStaticExport: async () => known },
  });
  simulation.prompt();
  await assert.rejects(async () => oracles.check(await simulation.step()), /for a deleted resource/);
});

test('a crash before and after every call of a first export costs at most one job', async () => {
  const calls: string[] = [];
  const untouched = new Simulation({ faults: faultAt(-1, 'none', calls) });
  await untouched.until(() => untouched.condition('Ready') === 'True/Published');
  for (const fault of ['crash-before', 'crash-after', 'lost', 'refused'] as const) {
    for (let index = 0; index < calls.length; index += 1) {
      const simulation = new Simulation({ faults: faultAt(index, fault, []) });
      await simulation.until(() => simulation.condition('Ready') === 'True/Published');
      assert.ok(
        simulation.vendor.jobs.size <= 2,
        `${fault} at ${calls[index]}: ${simulation.vendor.jobs.size} jobs`,
      );
      assert.equal(
        simulation.vendor.jobs.size,
        1,
        `${fault} at ${calls[index]}: with idempotency keys no job is spare`,
      );
      assert.ok(simulation.isLinkValid());
    }
  }
});
