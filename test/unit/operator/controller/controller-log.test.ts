// What is logged of reconciles: failures with their number, a blocked reconcile once, the rest only at debug.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import { observed, outcome, start } from './controller-run.ts';

test('failed reconciles are reported with their number; a conflict is not, before the fifth', async () => {
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

test('a blocked reconcile is logged once with its message, until the failure changes', async () => {
  const unread = { ...observed, failure: 'OutputUnreadable', why: 'no get' };
  const steps = [unread, unread, { ...unread, failure: undefined }, unread];
  const { clock, queue, warnings } = start(async () => {
    const seen = steps.shift();
    return { wakeAfterMs: seen && 10, because: 'x', report: seen };
  });
  queue.add('ns/a');
  await clock.pass(100);
  const once = ['reconcile blocked; no action taken', 'no get'];
  assert.deepEqual(
    warnings().map(({ fields, message }) => [message, 'message' in fields ? fields.message : '']),
    [once, once],
  );
});

test('a reconcile that ended is logged at debug only, because it logs its own actions', async () => {
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
      : { wakeAfterMs: 10, because: 'x', report: { ...observed, isReady: false, ...step } };
  });
  queue.add('ns/a');
  await clock.pass(100);
  assert.deepEqual(
    [...new Set(lines.map(({ level, message }) => `${level} ${message}`))],
    ['debug reconciled'],
  );
});
