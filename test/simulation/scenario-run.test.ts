// The sample of the campaign that every test run plays: a few scenario runs of some days. `campaign.ts` plays more and
// longer ones. A bug that a run found has a test of its own, because a seed gives another run when the generator changes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stormy } from './density.ts';
import { playScenarioRun } from './scenario-run.ts';

test('scenario runs with troubles of hours and days break no rule, and idle days cost no call', async () => {
  let idleSteps = 0;
  let crashes = 0;
  // Seeds whose troubles crash the process more than once.
  for (const seed of [38, 43, 55]) {
    const facts = await playScenarioRun(seed, 6, { density: stormy });
    idleSteps += facts['idle passes'] ?? 0;
    crashes += facts['crashes'] ?? 0;
  }
  assert.ok(idleSteps > 60 && crashes > 0, `${idleSteps} idle steps, ${crashes} crashes`);
});
