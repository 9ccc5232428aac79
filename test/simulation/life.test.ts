// The sample of the campaign that every run plays: a few lives of some days. `campaign.ts` plays more and longer
// ones. What a life ever found has a story of its own, because a seed tells another life when the teller changes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stormy } from './density.ts';
import { playLife } from './life.ts';

test('lives with troubles of hours and days break no rule, and their idle days cost nothing', async () => {
  let idleTurns = 0;
  let crashes = 0;
  // Seeds whose troubles end the process more than once.
  for (const seed of [38, 57, 59]) {
    const facts = await playLife(seed, 6, stormy);
    idleTurns += facts['idle passes'] ?? 0;
    crashes += facts['crashes'] ?? 0;
  }
  assert.ok(idleTurns > 60 && crashes > 0, `${idleTurns} idle turns, ${crashes} crashes`);
});
