// Tests how status is written: nothing while it says the same, and a started job's id although other clients write.
// Another client's start record is never overwritten.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { saveStarted, saveStatus } from '../../../src/loop/save.ts';
import type { Status } from '../../../src/staticexport/status-schema.ts';
import { ClusterError, type ClusterErrorCode } from '../../../src/wire/cluster-error.ts';
import { at, inputHash } from '../reconcile/cases/observations.ts';
import { exportObject, openPorts, type Ports } from './ports.ts';

const own = 'operators/own';
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
    const { cluster, calls, ofCluster, signal } = openPorts();
    const object = exportObject(stored);
    cluster.object = object;
    const result = await saveStatus(object, next, ofCluster, signal);
    assert.deepEqual(calls, written === undefined ? [] : ['write status']);
    assert.deepEqual(cluster.object?.status, written ?? stored);
    assert.equal(result, written === undefined ? object : cluster.object);
  });
}

test('a status based on an earlier version of the object is a conflict, and nothing is stored', async () => {
  const { cluster, ofCluster, signal } = openPorts();
  const object = exportObject({ start });
  cluster.object = object;
  cluster.changeObject(() => ({}));
  await assert.rejects(saveStatus(object, saved, ofCluster, signal), { code: 'Conflict' });
  assert.deepEqual(cluster.statuses, []);
});

function startedPorts(): Ports {
  const ports = openPorts();
  ports.cluster.object = exportObject({ start, operatorLease: own });
  return ports;
}

const save = (ports: Ports) =>
  ports.clock.finish(
    saveStarted(exportObject({ start, operatorLease: own }), saved, ports.ofCluster, ports.signal),
  );

/** The calls of a save that is refused `retries` times. */
const callsOf = (retries: number): readonly string[] => [
  'write status',
  ...Array.from({ length: retries }, () => ['read StaticExport', 'write status']).flat(),
];

for (const code of ['Conflict', 'Unavailable', 'Unauthorized', 'TooManyRequests'] as const) {
  test(`the id of a started job is saved although the first four writes return ${code}`, async () => {
    const ports = startedPorts();
    let refusals = 4;
    ports.cluster.before = (call) => {
      if (call !== 'write status' || refusals === 0) return;
      refusals -= 1;
      throw new ClusterError(code, 'scripted');
    };
    const object = await save(ports);
    assert.deepEqual(object.status, { ...saved, operatorLease: own });
    assert.deepEqual(ports.calls, callsOf(4));
    assert.equal(ports.clock.monotonic(), 200 + 400 + 800 + 1600, 'the pauses double');
  });
}

const limits: readonly (readonly [ClusterErrorCode, retries: number])[] = [
  ['Conflict', 4],
  ['Unavailable', 4],
  ['Forbidden', 0],
  ['Invalid', 0],
];
for (const [code, retries] of limits) {
  test(`a job's id whose writes all return ${code} is written again ${retries} times`, async () => {
    const ports = startedPorts();
    ports.cluster.refuse('write status', code);
    await assert.rejects(save(ports), { code });
    assert.deepEqual(ports.calls, callsOf(retries));
  });
}

test("an edit by another client costs one retry, and the client's fields are kept", async () => {
  const ports = startedPorts();
  ports.cluster.changeObject(() => ({ status: { start, operatorLease: own, weather: 'fine' } }));
  const object = await save(ports);
  assert.deepEqual(object.status, { ...saved, operatorLease: own, weather: 'fine' });
  assert.deepEqual(ports.calls, callsOf(1));
});

test("another client's start record stays, and the job is not tracked", async () => {
  const ports = startedPorts();
  const status = { start: { ...start, key: 'key-of-another' } };
  ports.cluster.changeObject(() => ({ status }));
  await assert.rejects(save(ports), { code: 'NotFound', message: /status\.start is gone/ });
  assert.deepEqual(ports.cluster.object?.status, status);
  assert.deepEqual(ports.calls, ['write status', 'read StaticExport']);
});

test('a resource that was deleted meanwhile ends the save', async () => {
  const ports = startedPorts();
  ports.cluster.before = (call) => {
    if (call !== 'write status') return;
    ports.cluster.object = undefined;
    throw new ClusterError('Conflict', 'scripted');
  };
  await assert.rejects(save(ports), { code: 'NotFound' });
  assert.deepEqual(ports.calls, ['write status', 'read StaticExport']);
});

test('a write that was stored although its response was lost is not repeated', async () => {
  const ports = startedPorts();
  ports.cluster.after = (call) => {
    if (call === 'write status') throw new ClusterError('Unavailable', 'scripted');
  };
  const object = await save(ports);
  assert.equal(object, ports.cluster.object);
  assert.deepEqual(ports.calls, ['write status', 'read StaticExport']);
});

test('an abort ends the save with its own reason', async () => {
  const ports = startedPorts();
  ports.cluster.before = () => {
    ports.stop(new Error('stopped'));
    throw new ClusterError('Aborted', 'scripted');
  };
  await assert.rejects(save(ports), { message: 'stopped' });
  assert.deepEqual(ports.calls, ['write status']);
});
