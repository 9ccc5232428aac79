// The sample of the campaign that every run plays: a few lives of some days. `campaign.ts` plays more and longer
// ones. A life that ever found a bug stays in the list below, with as many days as it took.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { playLife } from './life.ts';

const regressions: Readonly<Record<number, { readonly days: number; readonly bug: string }>> = {
  27: { days: 4, bug: 'a late write for a deleted resource was never collected (of the fake cluster)' },
};

for (const [seed, { days, bug }] of Object.entries(regressions)) {
  test(`life ${seed}: ${bug}`, async () => {
    await playLife(Number(seed), days);
  });
}

test('lives with troubles of hours and days break no rule, and their idle days cost nothing', async () => {
  let idleTurns = 0;
  let crashes = 0;
  // Seeds whose troubles end the process more than once.
  for (const seed of [27, 51, 59]) {
    const facts = await playLife(seed, 6);
    idleTurns += facts['idle passes'] ?? 0;
    crashes += facts['crashes'] ?? 0;
  }
  assert.ok(idleTurns > 60 && crashes > 0, `${idleTurns} idle turns, ${crashes} crashes`);
});
