// When a watch that opens is not believed: nothing came over it, and nothing for two minutes before its end.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WatchProof } from '../../../../src/kube/watch/watch-proof.ts';
import { steppedClock } from '../../../support/stepped-clock.ts';

type Step = 'begin' | 'opened' | 'spoke' | 'listed' | number;

const rows: readonly (readonly [name: string, steps: readonly Step[], isHeldBack: boolean])[] = [
  ['a watch that was opened, and nothing for two minutes', ['listed', 'begin', 'opened', 120_000], true],
  ['a little less', ['listed', 'begin', 'opened', 119_999], false],
  ['two in a row', ['listed', 'begin', 'opened', 60_000, 'begin', 'opened', 60_000], true],
  ['one that never opened', ['listed', 'begin', 120_000], false],
  ['one that spoke, however long ago', ['listed', 'begin', 'opened', 'spoke', 600_000], false],
  ['a list meanwhile', ['listed', 'begin', 'opened', 60_000, 'listed', 60_000], false],
  [
    'another that spoke before',
    ['listed', 'begin', 'opened', 60_000, 'spoke', 'begin', 'opened', 70_000],
    false,
  ],
];
for (const [name, steps, isHeldBack] of rows) {
  test(`${name}: ${isHeldBack ? 'held back' : 'not held back'}`, async () => {
    const clock = steppedClock();
    const proof = new WatchProof(clock);
    for (const step of steps) {
      if (typeof step === 'number') await clock.pass(step);
      else proof[step]();
    }
    assert.equal(proof.isHeldBack, isHeldBack);
  });
}

test('silence is told since a list or anything that came, not since a watch opened', async () => {
  const clock = steppedClock();
  const proof = new WatchProof(clock);
  assert.equal(proof.silenceMs(), Number.POSITIVE_INFINITY);
  proof.listed();
  await clock.pass(5_000);
  proof.begin();
  proof.opened();
  assert.equal(proof.silenceMs(), 5_000);
  proof.spoke();
  assert.equal(proof.silenceMs(), 0);
  assert.equal(proof.spokenAt, clock.monotonic());
});
