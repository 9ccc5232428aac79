// When keys are reconciled: workers, requeues, deadlines, the resync, the end. Retries, hot loops and logs have
// files of their own.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settle } from '../../../support/stepped-clock.ts';
import { outcome, start } from './controller-run.ts';

test('a key is requeued when its reconcile asked for', async () => {
  let passes = 0;
  const { clock, queue } = start(async () => {
    passes += 1;
    return outcome(10_000);
  });
  queue.add('ns/a');
  await clock.pass(9_999);
  assert.equal(passes, 1);
  await clock.pass(1);
  assert.equal(passes, 2);
});

test('every resource is reconciled within the resync time, whatever requeue time it asked for', async () => {
  const counts: number[] = [];
  let passes = 0;
  const { clock, queue } = start(
    async () => {
      passes += 1;
      return outcome(90 * 86_400_000);
    },
    {
      resyncMs: (resources) => {
        counts.push(resources);
        return 300_000;
      },
    },
  );
  queue.add('ns/a');
  queue.add('ns/b');
  await clock.pass(240_000);
  assert.deepEqual([passes, counts], [2, [0, 1]]);
  await clock.pass(60_000);
  assert.equal(passes, 4);
});

test('no randomness is added to a requeue time, which is spread already', async () => {
  let passes = 0;
  const { clock, queue } = start(
    async () => {
      passes += 1;
      return outcome(59 * 60_000);
    },
    { random: { uuid: () => '', bytes: () => new Uint8Array(), fraction: () => 0 } },
  );
  queue.add('ns/a');
  await clock.pass(59 * 60_000 - 1);
  assert.equal(passes, 1);
});

test('a resource that is gone is not reconciled again', async () => {
  let passes = 0;
  const { clock, queue, results } = start(async () => {
    passes += 1;
    return outcome(undefined);
  });
  queue.add('ns/a');
  await clock.pass(7_200_000);
  assert.equal(passes, 1);
  assert.deepEqual(results, ['gone']);
});

test('a resource that one read misses and the watches know is requeued within a minute, without a log line', async () => {
  let passes = 0;
  let isKnown = true;
  const { clock, queue, results, told, lines } = start(
    async () => {
      passes += 1;
      return outcome(undefined);
    },
    { isKnown: (key) => isKnown && key === 'ns/a' },
  );
  queue.add('ns/a');
  await clock.pass(60_000);
  assert.equal(passes, 2);
  isKnown = false;
  await clock.pass(7_200_000);
  assert.equal(passes, 3, 'once more, and with the watches it is gone');
  assert.deepEqual(results, ['gone', 'gone', 'gone']);
  assert.ok(told.every((failed) => failed === undefined));
  assert.ok(lines.every(({ level }) => level === 'debug'));
});

test('a reconcile that does not end is aborted at its deadline and retried', async () => {
  let passes = 0;
  const { clock, queue, results } = start((_key, signal) => {
    passes += 1;
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
    });
  });
  queue.add('ns/a');
  await clock.pass(60_500);
  assert.equal(passes, 2);
  assert.deepEqual(results, ['timeout']);
});

test('one resource that hangs does not delay the others', async () => {
  const done: string[] = [];
  const { clock, queue } = start(({ name }) => {
    if (name === 'stuck') return new Promise(() => {});
    done.push(name);
    return Promise.resolve(outcome(undefined));
  });
  for (const name of ['stuck', 'a', 'b', 'c']) queue.add(`ns/${name}`);
  await clock.pass(1);
  assert.deepEqual(done, ['a', 'b', 'c']);
});

test('closing the queue ends the controller after its reconciles, and an abort ends those', async () => {
  const { queue, running, work, results } = start((_key, signal) => {
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
    });
  });
  queue.add('ns/a');
  await settle();
  queue.close();
  let hasEnded = false;
  void running.then(() => {
    hasEnded = true;
  });
  await settle();
  assert.equal(hasEnded, false);
  work.abort();
  await running;
  assert.deepEqual(results, []);
});
