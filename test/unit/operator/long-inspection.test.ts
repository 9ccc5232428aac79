// `--inspect-timeout` is longer than `--reconcile-timeout`, and meant so: an archive is read beside the passes, whose
// deadlines end nothing but themselves.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { operatorProgram, reconcileTimeoutOf } from '#operator/flags.ts';
import { createMemory } from '#operator/loop/memory.ts';
import { reconcile } from '#operator/loop/reconcile.ts';
import { readInvocation } from '#platform/runtime/flags/flags.ts';
import { resource, Simulation } from '../../simulation/simulation.ts';

const minuteMs = 60_000;

test('an archive that takes longer than --reconcile-timeout is inspected once and published', async () => {
  const invocation = readInvocation(operatorProgram, '0', [], {});
  assert.ok(invocation.outcome === 'run');
  const { inspectTimeout } = invocation.values;
  const reconcileTimeout = reconcileTimeoutOf(invocation.values);
  assert.ok(inspectTimeout > reconcileTimeout);

  let readings = 0;
  const simulation = new Simulation({
    bend: (context) => ({
      ...context,
      bundles: {
        ...context.bundles,
        inspect: (link, signal) => {
          readings += 1;
          return context.bundles.inspect(link, signal);
        },
      },
    }),
  });
  simulation.vendor.readMs = reconcileTimeout + 4 * minuteMs;
  simulation.vendor.linkLifetimeMs = 60 * minuteMs;
  const context = simulation.context(createMemory(new AbortController().signal));
  const startedAt = simulation.clock.monotonic();
  for (let turn = 0; turn < 200 && simulation.condition('Ready') !== 'True/Published'; turn += 1) {
    const pass = new AbortController();
    await simulation.clock.finish(reconcile(resource, context, pass.signal));
    // As its deadline does, and later than any pass lasted.
    pass.abort(new DOMException('too late', 'TimeoutError'));
    await simulation.clock.pass(15_000);
  }
  assert.equal(simulation.condition('Ready'), 'True/Published');
  assert.ok(simulation.clock.monotonic() - startedAt > reconcileTimeout);
  assert.equal(readings, 1);
});
