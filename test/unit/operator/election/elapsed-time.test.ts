// Elapsed time that never shrinks: not by setting the clock back, not by sleeping, not by asking often.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createElapsedTime } from '#operator/election/elapsed-time.ts';
import * as fc from '../../../support/properties.ts';

function start() {
  const at = { monotonic: 1_000, wall: 1_800_000_000_000 };
  const elapsed = createElapsedTime({ now: () => Math.floor(at.wall), monotonic: () => at.monotonic });
  const pass = (ms: number): void => {
    at.monotonic += ms;
    at.wall += ms;
  };
  return { at, elapsed, pass };
}

test('elapsed time is that of both clocks while they agree', () => {
  const { elapsed, pass } = start();
  const began = elapsed();
  for (let look = 0; look < 80_000; look += 1) {
    // A fraction that adds up exactly, also at the size of wall time.
    pass(0.125);
    elapsed();
  }
  const passedMs = elapsed() - began;
  assert.ok(passedMs >= 9_999 && passedMs <= 10_001, String(passedMs));
});

test('a sleep counts, and so does time after the clock was set back', () => {
  const { at, elapsed, pass } = start();
  const began = elapsed();
  const passedMs = (): number => elapsed() - began;
  at.wall += 3_600_000;
  assert.equal(passedMs(), 3_600_000);
  at.wall -= 86_400_000;
  assert.equal(passedMs(), 3_600_000);
  pass(500);
  assert.equal(passedMs(), 3_600_500);
  at.wall += 10_000;
  assert.equal(passedMs(), 3_610_500);
});

test('property: elapsed time never decreases, and never runs slower than either clock', () => {
  const setMs = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.integer({ min: -100_000, max: 100_000 }));
  const move = fc.record({ ms: fc.nat(5_000), setMs });
  fc.assert(
    fc.property(fc.array(move), (moves) => {
      const { at, elapsed, pass } = start();
      for (const { ms, setMs } of moves) {
        const [before, wall] = [elapsed(), at.wall];
        pass(ms);
        at.wall += setMs;
        const passedMs = elapsed() - before;
        assert.ok(passedMs >= ms, 'slower than the monotonic clock');
        // But for what rounding may hide.
        assert.ok(passedMs >= at.wall - wall - 2, 'slower than the wall clock');
      }
    }),
    { numRuns: 1_000 },
  );
});
