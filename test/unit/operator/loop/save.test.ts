// Tests how status is written: nothing while it says the same, and a started job's id although other clients write.
// Another client's start record is never overwritten.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { saveStarted, saveStatus } from '#operator/loop/save.ts';
import type { Status } from '#operator/staticexport/status-schema.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import { resource } from '../../../simulation/simulation.ts';
import { at, inputHash } from '../reconcile/cases/observations.ts';
import { openRecorded, type Recorded, store } from './recorded-simulation.ts';

const own = 'operators/simulated';
const start = { key: 'key-1', inputHash, cause: 'First', attempts: 1, lastAttemptTime: at(0) } as const;
const saved: Status = { job: { id: 'se_1', inputHash, cause: 'First' } };

const writes: Readonly<
  Record<string, { stored: object; next: Status; written: Readonly<Record<string, unknown>> | undefined }>
> = {
  'the stored status is not written again': {
    stored: { job: { id: 'se_1' }, operatorLease: own },
    next: { job: { id: 'se_1' }, operatorLease: own },
    written: undefined,
  },
  'a new value is written with the lease of its writer': {
    stored: { job: { id: 'se_1' }, operatorLease: own },
    next: { job: { id: 'se_2' }, operatorLease: own },
    written: { job: { id: 'se_2' }, operatorLease: own },
  },
  'a status without a lease does not get one for its own sake': {
    stored: { job: { id: 'se_1' } },
    next: { job: { id: 'se_1' } },
    written: undefined,
  },
  'a lease that another write of this reconcile has added is not a change': {
    stored: { job: { id: 'se_1' }, operatorLease: own },
    next: { job: { id: 'se_1' } },
    written: undefined,
  },
  "another operator's lease, read before this reconcile wrote, is not a change": {
    stored: { job: { id: 'se_1' }, operatorLease: own },
    next: { job: { id: 'se_1' }, operatorLease: 'operators/other' },
    written: undefined,
  },
  "another operator's stored lease is replaced": {
    stored: { job: { id: 'se_1' }, operatorLease: 'operators/other' },
    next: { job: { id: 'se_1' }, operatorLease: 'operators/other' },
    written: { job: { id: 'se_1' }, operatorLease: own },
  },
  'a field of a later version of the operator is kept': {
    stored: { job: { id: 'se_1', colour: 'red' }, weather: 'fine' },
    next: { job: { id: 'se_1', state: 'running' } },
    written: { job: { id: 'se_1', state: 'running', colour: 'red' }, weather: 'fine', operatorLease: own },
  },
  'a field that is gone is removed': {
    stored: { job: { id: 'se_1' }, start },
    next: { job: { id: 'se_1' }, start: undefined },
    written: { job: { id: 'se_1' }, operatorLease: own },
  },
};

for (const [name, { stored, next, written }] of Object.entries(writes)) {
  test(name, async () => {
    const { simulation, calls, context, signal } = openRecorded();
    const object = store(simulation, stored);
    const result = await saveStatus(object, next, context, signal);
    assert.deepEqual(calls, written === undefined ? [] : ['writeStatus site']);
    assert.deepEqual(simulation.object()?.status, written ?? stored);
    assert.equal(result, written === undefined ? object : simulation.object());
  });
}

test('a status based on an earlier version of the object is a conflict, and nothing is stored', async () => {
  const { simulation, context, signal } = openRecorded();
  const object = store(simulation, { start });
  simulation.annotate({ other: 'client' });
  await assert.rejects(saveStatus(object, saved, context, signal), { code: 'Conflict' });
  assert.deepEqual(simulation.object()?.status, { start });
});

const save = ({ simulation, context, signal }: Recorded, read = simulation.object()) =>
  simulation.clock.finish(saveStarted(read ?? assert.fail(), saved, context, signal));

function openStarted(): Recorded {
  const recorded = openRecorded();
  store(recorded.simulation, { start, operatorLease: own });
  return recorded;
}

/** The calls of a save that is refused `retries` times. */
const callsOf = (retries: number): readonly string[] => [
  'writeStatus site',
  ...Array.from({ length: retries }, () => ['readStaticExport site', 'writeStatus site']).flat(),
];

for (const [code, refusals, retries] of [
  ['Conflict', 4, 4],
  ['Unavailable', 4, 4],
  ['Unauthorized', 4, 4],
  ['TooManyRequests', 4, 4],
  ['Conflict', 9, 4],
  ['Unavailable', 9, 4],
  ['Forbidden', 9, 0],
  ['Invalid', 9, 0],
] as const) {
  test(`the id of a started job is written again ${retries} times where ${refusals} writes return ${code}`, async () => {
    const recorded = openStarted();
    let left: number = refusals;
    recorded.before = (call) => {
      if (call !== 'writeStatus site' || left-- <= 0) return;
      throw new ClusterError(code, 'scripted');
    };
    const saving = save(recorded);
    if (refusals > 4) await assert.rejects(saving, { code });
    else assert.deepEqual((await saving).status, { ...saved, operatorLease: own });
    assert.deepEqual(recorded.calls, callsOf(retries));
    const pausedMs = retries === 4 ? 200 + 400 + 800 + 1600 : 0;
    assert.equal(recorded.simulation.clock.monotonic(), pausedMs, 'the pauses double');
  });
}

test("an edit by another client costs one retry, and the client's fields are kept", async () => {
  const recorded = openStarted();
  const read = recorded.simulation.object();
  recorded.simulation.annotate({ other: 'client' });
  store(recorded.simulation, { start, operatorLease: own, weather: 'fine' });
  const object = await save(recorded, read);
  assert.deepEqual(object.status, { ...saved, operatorLease: own, weather: 'fine' });
  assert.deepEqual(recorded.calls, callsOf(1));
});

test("another client's start record stays, and the job is not tracked", async () => {
  const recorded = openStarted();
  const read = recorded.simulation.object();
  recorded.simulation.annotate({ other: 'client' });
  const status = { start: { ...start, key: 'key-of-another' } };
  store(recorded.simulation, status);
  await assert.rejects(save(recorded, read), { code: 'NotFound', message: /status\.start is gone/ });
  assert.deepEqual(recorded.simulation.object()?.status, status);
  assert.deepEqual(recorded.calls, ['writeStatus site', 'readStaticExport site']);
});

test('a resource that was deleted meanwhile ends the save', async () => {
  const recorded = openStarted();
  recorded.before = (call) => {
    if (call !== 'writeStatus site') return;
    recorded.simulation.cluster.remove(resource);
    throw new ClusterError('Conflict', 'scripted');
  };
  await assert.rejects(save(recorded), { code: 'NotFound' });
  assert.deepEqual(recorded.calls, ['writeStatus site', 'readStaticExport site']);
});

test('a write that was stored although its response was lost is not repeated', async () => {
  const recorded = openStarted();
  recorded.after = (call) => {
    if (call === 'writeStatus site') throw new ClusterError('Unavailable', 'scripted');
  };
  assert.equal(await save(recorded), recorded.simulation.object());
  assert.deepEqual(recorded.calls, ['writeStatus site', 'readStaticExport site']);
});

test('an abort ends the save with its own reason', async () => {
  const recorded = openStarted();
  recorded.before = () => {
    recorded.stop(new Error('stopped'));
    throw new ClusterError('Aborted', 'scripted');
  };
  await assert.rejects(save(recorded), { message: 'stopped' });
  assert.deepEqual(recorded.calls, ['writeStatus site']);
});
