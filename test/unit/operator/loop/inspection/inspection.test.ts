// Inspections between reconciles: a stopped inspection has no outcome, an unneeded one stops, and the end of an
// inspection starts the next reconcile.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ReconcileContext } from '#operator/loop/context.ts';
import { createMemory } from '#operator/loop/memory.ts';
import { reconcile } from '#operator/loop/reconcile.ts';
import { resource, Simulation } from '../../../../simulation/simulation.ts';

const minuteMs = 60_000;

interface Readings {
  readonly signals: AbortSignal[];
  readonly bend: (context: ReconcileContext) => ReconcileContext;
}

/** Every started inspection, by the signal that may stop it. */
function watchReadings(): Readings {
  const signals: AbortSignal[] = [];
  return {
    signals,
    bend: (context) => ({
      ...context,
      bundles: {
        ...context.bundles,
        inspect: (link, signal) => {
          signals.push(signal);
          return context.bundles.inspect(link, signal);
        },
      },
    }),
  };
}

async function readingWorld(
  readMs: number,
): Promise<{ readonly simulation: Simulation; readonly signals: AbortSignal[] }> {
  const { signals, bend } = watchReadings();
  const simulation = new Simulation({ bend });
  simulation.vendor.readMs = readMs;
  simulation.vendor.linkLifetimeMs = 60 * minuteMs;
  await simulation.until(() => signals.length === 1);
  return { simulation, signals };
}

test('a stopping process records no failure of the archive under inspection', async () => {
  const { simulation } = await readingWorld(minuteMs);
  const process = new AbortController();
  const context = simulation.context(createMemory(process.signal));
  const pass = () => simulation.clock.finish(reconcile(resource, context, new AbortController().signal));
  await pass();
  await pass();
  assert.ok(context.memory.candidates.get('docs/site')?.inspection);
  process.abort();
  await simulation.clock.pass(1000);
  await pass();
  assert.equal(simulation.status().failures, undefined);
  assert.equal(simulation.condition('Exported'), 'Unknown/Pending');
  assert.deepEqual(
    simulation.events.filter(({ type }) => type === 'Warning'),
    [],
  );
});

test('an inspection stops when the resource is pinned to another version, suspended or deleted', async () => {
  const happenings: readonly ((simulation: Simulation) => void)[] = [
    (simulation) =>
      simulation.editSpec({ pin: { jobId: simulation.vendor.startElsewhere('docs.example.com') } }),
    (simulation) => simulation.editSpec({ suspend: true }),
    (simulation) => {
      simulation.cluster.remove(resource);
      simulation.prompt();
    },
  ];
  for (const happen of happenings) {
    const { simulation, signals } = await readingWorld(10 * minuteMs);
    happen(simulation);
    await simulation.step();
    assert.deepEqual(
      signals.map(({ aborted }) => aborted),
      [true],
    );
    assert.equal(simulation.context().memory.candidates.size, 0);
  }
});

test('an inspection continues while its job is to be published, and its end starts the reconcile', async () => {
  const { simulation, signals } = await readingWorld(9 * minuteMs);
  const begunAt = simulation.clock.monotonic();
  let turns = 0;
  await simulation.run(8 * minuteMs, () => {
    turns += 1;
  });
  assert.ok(turns <= 10, `${turns} looks at an archive that is being read`);
  await simulation.until(() => simulation.condition('Ready') === 'True/Published');
  assert.equal(signals.length, 1);
  const tookMs = simulation.clock.monotonic() - begunAt;
  assert.ok(tookMs <= 9 * minuteMs + 2000, `published ${tookMs} ms after the reading began`);
});

test('the published link is refreshed in time during an inspection', async () => {
  const simulation = new Simulation();
  await simulation.until(() => simulation.condition('Ready') === 'True/Published');
  simulation.vendor.readMs = 9 * minuteMs;
  simulation.annotate({ 'staticexport.dev/requestedAt': 'new' });
  await simulation.run(50 * minuteMs, () => assert.ok(simulation.isLinkValid()));
});

test('an archive is inspected within the limits of its resource, and again when they change meanwhile', async () => {
  const limits: (number | undefined)[] = [];
  const simulation = new Simulation({
    spec: { promotion: { maxBundleSize: '2Gi' } },
    bend: (context) => ({
      ...context,
      bundles: {
        ...context.bundles,
        inspect: (link, signal, maxBytes) => {
          limits.push(maxBytes);
          return context.bundles.inspect(link, signal, maxBytes);
        },
      },
    }),
  });
  simulation.vendor.readMs = 5 * minuteMs;
  simulation.vendor.linkLifetimeMs = 60 * minuteMs;
  await simulation.until(() => limits.length === 1);
  simulation.editSpec({ promotion: { maxBundleSize: '1Gi' } });
  await simulation.until(() => simulation.condition('Ready') === 'True/Published');
  assert.deepEqual(
    limits,
    [2 * 1024 ** 3, 1024 ** 3],
    'an inspection under the former limit is not promoted',
  );
});
