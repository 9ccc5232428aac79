// Two operators of one resource, recognized by the lease in its status: what is an overlap, how it is reported, and
// that neither repeats the other's exports.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ReconcileContext, ReconcileOutcome } from '#operator/loop/context.ts';
import { createMemory, type ProcessMemory } from '#operator/loop/memory.ts';
import { calmAfterMs } from '#operator/loop/other-operators.ts';
import { reconcile } from '#operator/loop/reconcile.ts';
import { resource, Simulation } from '../../../simulation/simulation.ts';

const own = 'operators/simulated';
const other = 'elsewhere/static-export-operator';

interface TestOperator {
  readonly memory: ProcessMemory;
  /** One reconcile of the simulation's resource by this operator. */
  readonly step: () => Promise<ReconcileOutcome>;
}

function startOperator(
  simulation: Simulation,
  settings: Partial<ReconcileContext['settings']> = {},
): TestOperator {
  const memory = createMemory(new AbortController().signal);
  const step = () => {
    const context = simulation.context(memory);
    const changed = { ...context, settings: { ...context.settings, ...settings } };
    return simulation.clock.finish(reconcile(resource, changed, new AbortController().signal));
  };
  return { memory, step };
}

/** A published resource, and two operators of which only the first has reconciled it. */
async function otherOperators(theirs: Partial<ReconcileContext['settings']> = {}) {
  const simulation = new Simulation();
  // No other action is due meanwhile.
  simulation.vendor.linkLifetimeMs = 72 * 3_600_000;
  await simulation.until(() => simulation.condition('Ready') === 'True/Published');
  const ours = startOperator(simulation);
  await ours.step();
  const second = startOperator(simulation, { operatorLease: other, ...theirs });
  return { simulation, ours, theirs: second };
}

const overlaps = (simulation: Simulation) =>
  simulation.events.filter(({ reason }) => reason === 'OperatorsOverlap');

test('a status names its writer, and an idle reconcile of the same operator writes nothing', async () => {
  const { simulation, ours } = await otherOperators();
  assert.equal(simulation.status().operatorLease, own);
  const writes = simulation.cluster.writes.length;
  assert.equal((await ours.step()).overlapsWith, undefined);
  assert.equal(simulation.cluster.writes.length, writes);
});

test('a status without a writer, from an older version, is not an overlap and is not rewritten', async () => {
  const { simulation, ours } = await otherOperators();
  const { metadata, spec, status } = simulation.object() ?? assert.fail();
  const { operatorLease: _own, ...nameless } = { operatorLease: '', ...(status ?? {}) };
  await simulation.cluster.writeStatus({ metadata, spec, status }, nameless);
  const writes = simulation.cluster.writes.length;
  assert.equal((await ours.step()).overlapsWith, undefined);
  assert.equal(simulation.status().operatorLease, undefined);
  assert.equal(simulation.cluster.writes.length, writes);
  assert.deepEqual(overlaps(simulation), []);
});

test('an operator with a renamed lease takes over without an event and with one log line', async () => {
  const { simulation, theirs } = await otherOperators();
  const events = simulation.events.length;
  assert.equal((await theirs.step()).overlapsWith, undefined);
  assert.equal(simulation.status().operatorLease, other);
  const writes = simulation.cluster.writes.length;
  await theirs.step();
  assert.equal(simulation.cluster.writes.length, writes);
  assert.equal(simulation.events.length, events);
  assert.equal(simulation.logs.filter((line) => line.includes('another operator wrote')).length, 1);
});

test('a write of another operator is an event, and is corrected in the same reconcile', async () => {
  const { simulation, ours, theirs } = await otherOperators({ apiBaseUrl: undefined });
  await theirs.step();
  assert.equal(simulation.condition('Ready'), 'False/BaseUrlMissing');
  const outcome = await ours.step();
  assert.equal(simulation.condition('Ready'), 'True/Published');
  assert.equal(simulation.status().operatorLease, own);
  assert.equal(outcome.overlapsWith, other);
  const [note] = overlaps(simulation);
  assert.equal(note?.type, 'Warning');
  assert.match(note.message, new RegExp(`${other}.*${own}.*--instance`));
});

test('the log names another operator once', async () => {
  const { simulation, ours, theirs } = await otherOperators();
  for (let round = 0; round < 3; round += 1) {
    await theirs.step();
    await ours.step();
  }
  const lines = simulation.logs.filter((line) => line.startsWith('another operator writes'));
  assert.deepEqual(
    lines.map((line) => /"otherOperatorLease":"([^"]+)"/.exec(line)?.[1]),
    [other, own],
  );
});

test('an overlap ends ten minutes after the last status of the other operator', async () => {
  const { simulation, ours, theirs } = await otherOperators();
  await theirs.step();
  assert.equal((await ours.step()).wakeAfterMs, calmAfterMs);
  await simulation.clock.pass(calmAfterMs - 1);
  assert.equal((await ours.step()).overlapsWith, other);
  await simulation.clock.pass(1);
  assert.equal((await ours.step()).overlapsWith, undefined);
});

test('operators with different default export APIs start one spare job, not one in every reconcile', async () => {
  const { simulation, ours, theirs } = await otherOperators({ apiBaseUrl: 'https://other.example.com' });
  const starts = simulation.callsOf('start');
  const version = simulation.output()?.['version'];
  for (let round = 0; round < 20; round += 1) {
    await theirs.step();
    await ours.step();
    await simulation.clock.pass(30_000);
  }
  assert.equal(simulation.callsOf('start'), starts + 1, 'the first look of the other one cannot know');
  assert.equal(simulation.condition('Ready'), 'True/Published');
  assert.equal(simulation.output()?.['version'], version);
});

test('a key refused to another operator is used; a key refused to this operator is not', async () => {
  const { simulation, ours, theirs } = await otherOperators();
  const refuse = async (): Promise<void> => {
    const { metadata, spec, status } = simulation.object() ?? assert.fail();
    const { metadata: secret } = [...simulation.cluster.secrets.values()][0] ?? assert.fail();
    const refusedKey = {
      secretVersion: `${secret.uid}/${secret.resourceVersion}`,
      reason: 'Unauthorized',
      refusalTime: new Date(simulation.clock.now()).toISOString(),
    };
    await simulation.cluster.writeStatus({ metadata, spec, status }, { ...(status ?? {}), refusedKey });
  };
  await theirs.step();
  await refuse();
  await ours.step();
  assert.equal(simulation.status().refusedKey, undefined);
  await refuse();
  await ours.step();
  assert.notEqual(simulation.status().refusedKey, undefined);
});

test('a deleted resource leaves no memory of overlaps', async () => {
  const { simulation, ours, theirs } = await otherOperators();
  await theirs.step();
  await ours.step();
  simulation.cluster.exports.clear();
  await ours.step();
  assert.deepEqual([ours.memory.otherOperators.written.size, ours.memory.otherOperators.found.size], [0, 0]);
});
