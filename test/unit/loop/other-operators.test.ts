// Two installations on one resource, told by the name in its status: what is a dispute and what is not, what is said
// of it, and that neither undoes with exports what the other one does.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ReconcileContext, ReconcileOutcome } from '../../../src/loop/context.ts';
import { createMemory, type ProcessMemory } from '../../../src/loop/memory.ts';
import { calmAfterMs } from '../../../src/loop/other-operators.ts';
import { reconcile } from '../../../src/loop/reconcile.ts';
import { resource, World } from '../../simulation/world.ts';

const own = 'operators/simulated';
const other = 'elsewhere/static-export-operator';

interface Installation {
  readonly memory: ProcessMemory;
  /** One pass of this installation over the world's resource. */
  readonly turn: () => Promise<ReconcileOutcome>;
}

function install(world: World, settings: Partial<ReconcileContext['settings']> = {}): Installation {
  const memory = createMemory(new AbortController().signal);
  const turn = () => {
    const context = world.context(memory);
    const changed = { ...context, settings: { ...context.settings, ...settings } };
    return world.clock.finish(reconcile(resource, changed, new AbortController().signal));
  };
  return { memory, turn };
}

/** A published resource, and two installations of which only the first has looked at it. */
async function otherOperators(theirs: Partial<ReconcileContext['settings']> = {}) {
  const world = new World();
  // Nothing else falls due meanwhile.
  world.vendor.linkLifetimeMs = 72 * 3_600_000;
  await world.until(() => world.condition('Ready') === 'True/Published');
  const ours = install(world);
  await ours.turn();
  const second = install(world, { operatorLease: other, ...theirs });
  return { world, ours, theirs: second };
}

const overlaps = (world: World) => world.events.filter(({ reason }) => reason === 'OperatorsOverlap');

test('a status names who wrote it, and an idle look of the same installation writes nothing', async () => {
  const { world, ours } = await otherOperators();
  assert.equal(world.status().operatorLease, own);
  const writes = world.cluster.writes.length;
  assert.equal((await ours.turn()).overlapsWith, undefined);
  assert.equal(world.cluster.writes.length, writes);
});

test('a status without a name, as an older version wrote it, is nobody’s and not written for its sake', async () => {
  const { world, ours } = await otherOperators();
  const { metadata, spec, status } = world.object() ?? assert.fail();
  const { operatorLease: _own, ...nameless } = { operatorLease: '', ...(status ?? {}) };
  await world.cluster.writeStatus({ metadata, spec, status }, nameless);
  const writes = world.cluster.writes.length;
  assert.equal((await ours.turn()).overlapsWith, undefined);
  assert.equal(world.status().operatorLease, undefined);
  assert.equal(world.cluster.writes.length, writes);
  assert.deepEqual(overlaps(world), []);
});

test('a lease that was renamed takes over without an event, and says so once in the log', async () => {
  const { world, theirs } = await otherOperators();
  const events = world.events.length;
  assert.equal((await theirs.turn()).overlapsWith, undefined);
  assert.equal(world.status().operatorLease, other);
  const writes = world.cluster.writes.length;
  await theirs.turn();
  assert.equal(world.cluster.writes.length, writes);
  assert.equal(world.events.length, events);
  assert.equal(world.logs.filter((line) => line.includes('took over')).length, 1);
});

test('what another one wrote after us is told, and put right in the same pass', async () => {
  const { world, ours, theirs } = await otherOperators({ apiBaseUrl: undefined });
  await theirs.turn();
  assert.equal(world.condition('Ready'), 'False/BaseUrlMissing');
  const outcome = await ours.turn();
  assert.equal(world.condition('Ready'), 'True/Published');
  assert.equal(world.status().operatorLease, own);
  assert.equal(outcome.overlapsWith, other);
  const [note] = overlaps(world);
  assert.equal(note?.type, 'Warning');
  assert.match(note.message, new RegExp(`${other}.*${own}.*--instance`));
});

test('the log names another operator once, however often it comes back', async () => {
  const { world, ours, theirs } = await otherOperators();
  for (let round = 0; round < 3; round += 1) {
    await theirs.turn();
    await ours.turn();
  }
  const lines = world.logs.filter((line) => line.startsWith('another operator writes'));
  assert.deepEqual(
    lines.map((line) => /"otherOperatorLease":"([^"]+)"/.exec(line)?.[1]),
    [other, own],
  );
});

test('ten minutes after its last status the other one is forgotten, by a look that comes for that', async () => {
  const { world, ours, theirs } = await otherOperators();
  await theirs.turn();
  assert.equal((await ours.turn()).wakeAfterMs, calmAfterMs);
  await world.clock.pass(calmAfterMs - 1);
  assert.equal((await ours.turn()).overlapsWith, other);
  await world.clock.pass(1);
  assert.equal((await ours.turn()).overlapsWith, undefined);
});

test('with another default API each, what is published stays: one job too many, not one at every turn', async () => {
  const { world, ours, theirs } = await otherOperators({ apiBaseUrl: 'https://other.example.com' });
  const starts = world.callsOf('start');
  const version = world.output()?.['version'];
  for (let round = 0; round < 20; round += 1) {
    await theirs.turn();
    await ours.turn();
    await world.clock.pass(30_000);
  }
  assert.equal(world.callsOf('start'), starts + 1, 'the first look of the other one cannot know');
  assert.equal(world.condition('Ready'), 'True/Published');
  assert.equal(world.output()?.['version'], version);
});

test('a key that another one was refused with is tried here; one that was refused here is not', async () => {
  const { world, ours, theirs } = await otherOperators();
  const refuse = async (): Promise<void> => {
    const { metadata, spec, status } = world.object() ?? assert.fail();
    const { metadata: secret } = [...world.cluster.secrets.values()][0] ?? assert.fail();
    const refusedKey = {
      secretVersion: `${secret.uid}/${secret.resourceVersion}`,
      reason: 'Unauthorized',
      refusalTime: new Date(world.clock.now()).toISOString(),
    };
    await world.cluster.writeStatus({ metadata, spec, status }, { ...(status ?? {}), refusedKey });
  };
  await theirs.turn();
  await refuse();
  await ours.turn();
  assert.equal(world.status().refusedKey, undefined);
  await refuse();
  await ours.turn();
  assert.notEqual(world.status().refusedKey, undefined);
});

test('a resource that is gone leaves nothing behind', async () => {
  const { world, ours, theirs } = await otherOperators();
  await theirs.turn();
  await ours.turn();
  world.cluster.exports.clear();
  await ours.turn();
  assert.deepEqual([ours.memory.otherOperators.written.size, ours.memory.otherOperators.found.size], [0, 0]);
});
