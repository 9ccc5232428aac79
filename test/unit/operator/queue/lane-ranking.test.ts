// The first of many lanes is always the one with the lowest rank, whatever moved or left.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { LaneRanking } from '../../../../src/operator/queue/lane-ranking.ts';

test('property: the first is the lowest of all that are in it', () => {
  const step = fc.tuple(fc.nat(12), fc.option(fc.nat(1000)));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const ranking = new LaneRanking();
      const known = new Map<string, number>();
      for (const [index, found] of steps) {
        const lane = `lane ${index}`;
        // No two lanes have the same.
        const rank = found === null ? undefined : found * 100 + index;
        ranking.set(lane, rank);
        if (rank === undefined) known.delete(lane);
        else known.set(lane, rank);
        const lowest = [...known].sort(([, one], [, other]) => one - other)[0];
        assert.deepEqual(ranking.first, lowest && { lane: lowest[0], rank: lowest[1] });
      }
      ranking.clear();
      assert.equal(ranking.first, undefined);
    }),
  );
});
