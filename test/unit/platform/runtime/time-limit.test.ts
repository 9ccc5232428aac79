import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withinLimit } from '#platform/runtime/time-limit.ts';
import { steppedClock } from '../../../support/stepped-clock.ts';

const never = new AbortController().signal;
const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });

test('work that ends in time returns its result and leaves no timer', async () => {
  const clock = steppedClock();
  assert.equal(await withinLimit(clock, 1_000, never, async () => clock.waiting()), 1);
  assert.equal(clock.waiting(), 0);
});

test('work that fails leaves no timer, and throws its own error', async () => {
  const clock = steppedClock();
  const failure = new Error('no');
  await assert.rejects(
    withinLimit(clock, 1_000, never, () => Promise.reject(failure)),
    failure,
  );
  assert.equal(clock.waiting(), 0);
});

test('the signal of work that takes longer aborts with a TimeoutError', async () => {
  const clock = steppedClock();
  const outcome = assert.rejects(withinLimit(clock, 1_000, never, untilAborted), { name: 'TimeoutError' });
  await clock.pass(1_000);
  await outcome;
});

test("the caller's abort reaches the work with its reason, before and during it", async () => {
  const clock = steppedClock();
  const reason = new Error('stop');
  const seen = withinLimit(clock, 1_000, AbortSignal.abort(reason), async (signal) => signal.reason);
  assert.equal(await seen, reason);
  const caller = new AbortController();
  const outcome = assert.rejects(withinLimit(clock, 1_000, caller.signal, untilAborted), reason);
  caller.abort(reason);
  await outcome;
  assert.equal(clock.waiting(), 0);
});

test('a signal keeps no listener of thousands of ended calls', async () => {
  const clock = steppedClock();
  let listening = 0;
  const caller = new AbortController().signal;
  const { addEventListener, removeEventListener } = caller;
  caller.addEventListener = (...args: Parameters<AbortSignal['addEventListener']>) => {
    listening += 1;
    addEventListener.apply(caller, args);
  };
  caller.removeEventListener = (...args: Parameters<AbortSignal['removeEventListener']>) => {
    listening -= 1;
    removeEventListener.apply(caller, args);
  };
  for (let call = 0; call < 3; call += 1) await withinLimit(clock, 1_000, caller, async () => {});
  assert.equal(listening, 0);
});
