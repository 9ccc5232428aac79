// Reading an archive between passes: what is stopped is no outcome, nobody reads what nobody wants, and its end is
// what brings the next pass.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ReconcileContext } from '../../../src/loop/context.ts';
import { createMemory } from '../../../src/loop/memory.ts';
import { reconcile } from '../../../src/loop/reconcile.ts';
import { resource, World } from '../../simulation/world.ts';

const minuteMs = 60_000;

interface Readings {
  readonly signals: AbortSignal[];
  readonly bend: (context: ReconcileContext) => ReconcileContext;
}

/** Every reading that was begun, by the signal that may end it. */
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
): Promise<{ readonly world: World; readonly signals: AbortSignal[] }> {
  const { signals, bend } = watchReadings();
  const world = new World({ bend });
  world.vendor.readMs = readMs;
  world.vendor.linkLifetimeMs = 60 * minuteMs;
  await world.until(() => signals.length === 1);
  return { world, signals };
}

test('a process that stops notes no failure of the archive it was reading', async () => {
  const { world } = await readingWorld(minuteMs);
  const process = new AbortController();
  const context = world.context(createMemory(process.signal));
  const pass = () => world.clock.finish(reconcile(resource, context, new AbortController().signal));
  await pass();
  await pass();
  assert.ok(context.memory.candidates.get('docs/site')?.inspection);
  process.abort();
  await world.clock.pass(1000);
  await pass();
  assert.equal(world.status().failures, undefined);
  assert.equal(world.condition('Exported'), 'Unknown/Pending');
  assert.deepEqual(
    world.events.filter(({ type }) => type === 'Warning'),
    [],
  );
});

test('a reading ends when the resource is pinned elsewhere, suspended or deleted', async () => {
  const happenings: readonly ((world: World) => void)[] = [
    (world) => world.editSpec({ pin: { jobId: world.vendor.startElsewhere('docs.example.com') } }),
    (world) => world.editSpec({ suspend: true }),
    (world) => {
      world.cluster.remove(resource);
      world.prompt();
    },
  ];
  for (const happen of happenings) {
    const { world, signals } = await readingWorld(10 * minuteMs);
    happen(world);
    await world.turn();
    assert.deepEqual(
      signals.map(({ aborted }) => aborted),
      [true],
    );
    assert.equal(world.context().memory.candidates.size, 0);
  }
});

test('a reading goes on while its job is what shall be published, and its end brings the pass', async () => {
  const { world, signals } = await readingWorld(9 * minuteMs);
  const begunAt = world.clock.monotonic();
  let turns = 0;
  await world.run(8 * minuteMs, () => {
    turns += 1;
  });
  assert.ok(turns <= 10, `${turns} looks at an archive that is being read`);
  await world.until(() => world.condition('Ready') === 'True/Published');
  assert.equal(signals.length, 1);
  const tookMs = world.clock.monotonic() - begunAt;
  assert.ok(tookMs <= 9 * minuteMs + 2000, `published ${tookMs} ms after the reading began`);
});

test('the published link is refreshed in time while an archive is read', async () => {
  const world = new World();
  await world.until(() => world.condition('Ready') === 'True/Published');
  world.vendor.readMs = 9 * minuteMs;
  world.annotate({ 'staticexport.dev/requestedAt': 'new' });
  await world.run(50 * minuteMs, () => assert.ok(world.isLinkLive()));
});

test('an archive is read within what the resource says, and read anew when that changes meanwhile', async () => {
  const limits: (number | undefined)[] = [];
  const world = new World({
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
  world.vendor.readMs = 5 * minuteMs;
  world.vendor.linkLifetimeMs = 60 * minuteMs;
  await world.until(() => limits.length === 1);
  world.editSpec({ promotion: { maxBundleSize: '1Gi' } });
  await world.until(() => world.condition('Ready') === 'True/Published');
  assert.deepEqual(
    limits,
    [2 * 1024 ** 3, 1024 ** 3],
    'what was read under the former limit is not promoted',
  );
});
