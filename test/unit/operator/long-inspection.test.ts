// `--inspect-timeout` is longer than `--reconcile-timeout`, and meant so: an archive is read beside the passes, whose
// deadlines end nothing but themselves.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMemory } from '../../../src/loop/memory.ts';
import { reconcile } from '../../../src/loop/reconcile.ts';
import { operatorProgram, reconcileTimeoutOf } from '../../../src/operator/flags.ts';
import { readInvocation } from '../../../src/runtime/flags/flags.ts';
import { resource, World } from '../../simulation/world.ts';

const minuteMs = 60_000;

test('an archive that takes longer than --reconcile-timeout is inspected once and published', async () => {
  const invocation = readInvocation(operatorProgram, '0', [], {});
  assert.ok(invocation.outcome === 'run');
  const { inspectTimeout } = invocation.values;
  const reconcileTimeout = reconcileTimeoutOf(invocation.values);
  assert.ok(inspectTimeout > reconcileTimeout);

  let readings = 0;
  const world = new World({
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
  world.vendor.readMs = reconcileTimeout + 4 * minuteMs;
  world.vendor.linkLifetimeMs = 60 * minuteMs;
  const context = world.context(createMemory(new AbortController().signal));
  const startedAt = world.clock.monotonic();
  for (let turn = 0; turn < 200 && world.condition('Ready') !== 'True/Published'; turn += 1) {
    const pass = new AbortController();
    await world.clock.finish(reconcile(resource, context, pass.signal));
    // As its deadline does, and later than any pass lasted.
    pass.abort(new DOMException('too late', 'TimeoutError'));
    await world.clock.pass(15_000);
  }
  assert.equal(world.condition('Ready'), 'True/Published');
  assert.ok(world.clock.monotonic() - startedAt > reconcileTimeout);
  assert.equal(readings, 1);
});
