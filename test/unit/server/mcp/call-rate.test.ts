// The rate of calls: what comes at once, and when the next call may come.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCallRate } from '#server/mcp/call-rate.ts';
import { manualClock } from '../manual-clock.ts';

test('a sixth of the calls of a minute may come at once, and the next one when one more is due', async () => {
  const clock = manualClock(0);
  const rate = createCallRate(clock, 60);
  for (let call = 0; call < 10; call += 1) assert.equal(rate.take(), undefined, `call ${call}`);
  assert.equal(rate.take(), 1000);
  await clock.pass(999);
  assert.equal(rate.take(), 1);
  await clock.pass(1);
  assert.equal(rate.take(), undefined);
  assert.equal(rate.take(), 1000);
});

test('a server that was quiet for hours lets no more calls in at once', async () => {
  const clock = manualClock(0);
  const rate = createCallRate(clock, 60);
  await clock.pass(5 * 3_600_000);
  let taken = 0;
  while (rate.take() === undefined) taken += 1;
  assert.equal(taken, 10);
});

test('one call a minute is possible', async () => {
  const clock = manualClock(0);
  const rate = createCallRate(clock, 1);
  assert.equal(rate.take(), undefined);
  assert.equal(rate.take(), 60_000);
  await clock.pass(60_000);
  assert.equal(rate.take(), undefined);
});

test('calls that were made already are waited for', () => {
  const rate = createCallRate(manualClock(0), 60);
  assert.equal(rate.take(), undefined);
  rate.owe(9);
  assert.equal(rate.take(), 1000);
  rate.owe(10);
  assert.equal(rate.take(), 11_000);
});

test('without a number, a hundred calls may come at once', () => {
  const rate = createCallRate(manualClock(0));
  let taken = 0;
  while (rate.take() === undefined) taken += 1;
  assert.equal(taken, 100);
});
