import { test } from 'node:test';
import { playLife } from './life.ts';
test('x', async () => {
  for (const seed of [7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]) {
    const facts = await playLife(seed, 6);
    console.log(seed, facts.idleTurns, facts.faults, facts.crashes);
  }
});
