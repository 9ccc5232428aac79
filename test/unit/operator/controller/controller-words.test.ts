// What is told of passes: failures with their number, what stands in the way once, the rest only for debugging.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClusterError } from '../../../../src/wire/cluster-error.ts';
import { observed, outcome, start } from './controller-world.ts';

test('failed passes are told with their number; one that was only overtaken is not, before the fifth', async () => {
  const errors = ['Unavailable', 'Conflict', 'Forbidden', 'Conflict', 'Conflict'] as const;
  let passes = 0;
  const { clock, queue, told } = start(async () => {
    const code = errors[passes];
    passes += 1;
    if (code !== undefined) throw new ClusterError(code, 'no');
    return outcome(undefined);
  });
  queue.add('ns/a');
  await clock.pass(60_000);
  assert.deepEqual(
    told.map((one) => one && [one.inARow, one.code]),
    [[1, 'Unavailable'], undefined, [3, 'Forbidden'], undefined, [5, 'Conflict'], undefined],
  );
});

test('what keeps a pass from doing anything is a warning once, with its words, until it is another', async () => {
  const unread = { ...observed, failure: 'OutputUnreadable', why: 'no get' };
  const steps = [unread, unread, { ...unread, failure: undefined }, unread];
  const { clock, queue, warnings } = start(async () => {
    const seen = steps.shift();
    return { wakeAfterMs: seen && 10, because: 'x', observed: seen };
  });
  queue.add('ns/a');
  await clock.pass(100);
  const once = ['nothing can be done', 'no get'];
  assert.deepEqual(
    warnings().map(({ fields, message }) => [message, 'why' in fields ? fields.why : '']),
    [once, once],
  );
});

test('a pass that came to its end is a line for debugging only: what it did it tells itself', async () => {
  const steps = [
    { action: 'none', failure: undefined },
    { action: 'poll', failure: undefined },
    { action: 'issue', failure: undefined },
    { action: 'poll', failure: 'NetworkError' },
  ];
  const { clock, queue, lines } = start(async () => {
    const step = steps.shift();
    return step === undefined
      ? outcome(undefined)
      : { wakeAfterMs: 10, because: 'x', observed: { ...observed, isReady: false, ...step } };
  });
  queue.add('ns/a');
  await clock.pass(100);
  assert.deepEqual([...new Set(lines.map(({ level, message }) => `${level} ${message}`))], ['debug pass']);
});
