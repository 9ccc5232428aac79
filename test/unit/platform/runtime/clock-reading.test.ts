// The reference point of a clock: it follows an adjustment, and keeps every step visible.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { followAdjustment, readClocks } from '#platform/runtime/clock-reading.ts';

const before = { offsetMs: 1_000_000, at: 5_000 };

for (const [what, movedMs, afterMs, followedMs] of [
  ['a clock that goes on as it should stays where it is', 0, 10_000, 0],
  ['one that is a thousandth too fast is followed', 10, 10_000, 10],
  ['one that is a thousandth too slow too', -3_600, 3_600_000, -3_600],
  ['a step is not, beyond what an adjustment explains', 1_900, 10_000, 20],
  ['neither is one back', -4_900, 10_000, -20],
  ['where no time has passed nothing is explained', 500, 0, 0],
] as const) {
  test(what, () => {
    const now = { offsetMs: before.offsetMs + movedMs, at: before.at + afterMs };
    assert.deepEqual(followAdjustment(before, now), { offsetMs: before.offsetMs + followedMs, at: now.at });
  });
}

test('the offset is wall time minus monotonic time', () => {
  assert.deepEqual(readClocks({ now: () => 1_700, monotonic: () => 200 }), { offsetMs: 1_500, at: 200 });
});
