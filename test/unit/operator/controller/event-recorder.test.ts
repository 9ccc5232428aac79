// Events: repeats counted into one, a flood cut off, failures forgotten, nothing thrown.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEventRecorder } from '#operator/controller/event-recorder.ts';
import type { NewEvent } from '#operator/kube/objects/event-store.ts';
import { silentLogger } from '#platform/runtime/logger.ts';
import type { EventNote, StaticExportObject } from '#platform/wire/cluster.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import { steppedClock } from '../../../support/stepped-clock.ts';

const object = (name = 'docs'): StaticExportObject => ({
  metadata: {
    namespace: 'ns',
    name,
    uid: `uid-${name}`,
    resourceVersion: '1',
    annotations: {},
    labels: {},
    ownerReferences: [],
  },
  spec: {},
  status: {},
});
const note = (message = 'it failed'): EventNote => ({ type: 'Warning', reason: 'JobFailed', message });

function start() {
  const clock = steppedClock();
  const created: NewEvent[] = [];
  const counted: { readonly name: string; readonly count: number }[] = [];
  const faults: { create?: Error; count?: Error } = {};
  const lost: string[] = [];
  const warnings: object[] = [];
  let bytes = 0;
  const recorder = createEventRecorder({
    store: {
      create: async (event) => {
        if (faults.create !== undefined) throw faults.create;
        created.push(event);
        return `${event.regarding.name}.${event.suffix}`;
      },
      count: async ({ name, count }) => {
        if (faults.count !== undefined) throw faults.count;
        counted.push({ name, count });
      },
    },
    clock,
    random: {
      uuid: () => '',
      fraction: () => 0,
      bytes: (length) => {
        bytes += 1;
        return new Uint8Array(length).fill(bytes);
      },
    },
    logger: { ...silentLogger, warn: (fields) => warnings.push(fields) },
    signal: new AbortController().signal,
    dropped: (why) => lost.push(why),
  });
  return { clock, created, counted, faults, lost, recorder, warnings };
}

test('a repeated event is counted, and written at most every five minutes', async () => {
  const { clock, created, counted, recorder } = start();
  for (let minute = 0; minute < 12; minute += 1) {
    recorder.record(object(), note());
    await clock.pass(60_000);
  }
  await recorder.settled();
  assert.equal(created.length, 1);
  assert.deepEqual(
    counted.map(({ count }) => count),
    [6, 11],
  );
  assert.equal(counted[0]?.name, `docs.${created[0]?.suffix}`);
});

test('another message or another object is another event', async () => {
  const { created, recorder } = start();
  recorder.record(object(), note());
  recorder.record(object(), note('it failed otherwise'));
  recorder.record(object('blog'), note());
  await recorder.settled();
  assert.equal(created.length, 3);
});

test('an object with too many events is cut off after 25, and gets one more in five minutes', async () => {
  const { clock, created, lost, recorder } = start();
  for (let count = 0; count < 60; count += 1) recorder.record(object(), note(`failure ${count}`));
  recorder.record(object('blog'), note());
  await recorder.settled();
  assert.equal(created.length, 26);
  assert.deepEqual(lost, Array(35).fill('flood'));
  await clock.pass(5 * 60_000);
  for (let count = 0; count < 3; count += 1) recorder.record(object(), note(`later ${count}`));
  await recorder.settled();
  assert.equal(created.length, 27);
});

test('an object gets at most 25 events at once, however long it had none', async () => {
  const { clock, created, recorder } = start();
  recorder.record(object(), note('the first'));
  await clock.pass(24 * 3_600_000);
  for (let count = 0; count < 60; count += 1) recorder.record(object(), note(`failure ${count}`));
  await recorder.settled();
  assert.equal(created.length, 1 + 25);
});

test('the last 4,096 of many thousands are remembered, repeated ones included', async () => {
  const { created, counted, clock, recorder } = start();
  const tell = async (index: number): Promise<void> => {
    recorder.record(object(`docs-${index}`), note());
    await recorder.settled();
  };
  for (let index = 0; index < 4_096; index += 1) await tell(index);
  await clock.pass(6 * 60_000);
  await tell(0);
  await tell(4_096);
  assert.deepEqual([created.length, counted.length], [4_097, 1]);
  await tell(0);
  assert.equal(created.length, 4_097, 'it came up again, and is remembered');
  await tell(1);
  assert.equal(created.length, 4_098, 'the one that was silent longest is forgotten');
});

test('a nightly event with the same message is created again, because the server deletes events after an hour', async () => {
  const { clock, counted, created, faults, lost, recorder } = start();
  for (let night = 1; night <= 5; night += 1) {
    recorder.record(object(), note());
    await recorder.settled();
    assert.equal(created.length, night);
    // Forgotten by the time of the next one.
    faults.count = new ClusterError('NotFound', 'gone');
    await clock.pass(24 * 3_600_000);
  }
  assert.equal(new Set(created.map(({ suffix }) => suffix)).size, 5);
  delete faults.count;
  recorder.record(object(), note());
  await recorder.settled();
  assert.deepEqual(
    counted.map(({ count }) => count),
    [2],
  );
  assert.deepEqual(lost, []);
});

test('a forgotten event that may not be written is counted as dropped, and sent when it happens again', async () => {
  const { clock, created, faults, lost, recorder } = start();
  recorder.record(object(), note());
  await clock.pass(2 * 3_600_000);
  faults.count = new ClusterError('NotFound', 'gone');
  faults.create = new ClusterError('Forbidden', 'may not');
  recorder.record(object(), note());
  await recorder.settled();
  assert.deepEqual(lost, ['refused']);
  delete faults.create;
  recorder.record(object(), note());
  await recorder.settled();
  assert.equal(created.length, 2);
});

test('an event above a hundred pending ones is counted as dropped, and written when it repeats', async () => {
  const { created, lost, recorder } = start();
  for (let index = 0; index < 101; index += 1) recorder.record(object(`docs-${index}`), note());
  await recorder.settled();
  assert.equal(created.length, 100);
  assert.deepEqual(lost, ['crowd']);
  recorder.record(object('docs-100'), note());
  await recorder.settled();
  assert.equal(created.at(-1)?.regarding.name, 'docs-100');
});

test('an event that cannot be written is counted as dropped, and sent when it happens again', async () => {
  const { created, faults, lost, recorder, warnings } = start();
  faults.create = new ClusterError('Forbidden', 'may not');
  recorder.record(object(), note());
  await recorder.settled();
  assert.deepEqual(lost, ['refused']);
  assert.deepEqual(warnings, [{ error: faults.create, object: 'ns/docs', reason: 'JobFailed' }]);
  delete faults.create;
  recorder.record(object(), note());
  await recorder.settled();
  assert.equal(created.length, 1);
});
