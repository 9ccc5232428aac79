// The campaign: many short stories, each from one seed, each checked at every turn. SIMULATION_RUNS asks for more
// of them, SIMULATION_SEED replays one. A seed that ever found a bug stays in the list below.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { playStory } from './story.ts';

const runs = Number(process.env['SIMULATION_RUNS'] ?? 14);
const firstSeed = Number(process.env['SIMULATION_SEED'] ?? 1);

test('stories with crashes, outages, edits and clock jumps break no rule', async () => {
  let versions = 0;
  let crashes = 0;
  for (let seed = firstSeed; seed < firstSeed + runs; seed += 1) {
    const facts = await playStory(seed);
    versions += facts.versions;
    crashes += facts.crashes;
  }
  // A campaign in which nothing happens proves nothing.
  if (runs > 10) assert.ok(versions > runs && crashes > runs / 2, `${versions} versions, ${crashes} crashes`);
});
