// A time that nobody can make shorter: not by setting the clock back, not by sleeping, not by asking often.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { longestTime } from '../../../src/operator/longest-time.ts';

function start() {
  const at = { monotonic: 1_000, wall: 1_800_000_000_000 };
  const elapsed = longestTime({ now: () => Math.floor(at.wall), monotonic: () => at.monotonic });
  const pass = (ms: number): void => {
    at.monotonic += ms;
    at.wall += ms;
  };
  return { at, elapsed, pass };
}

test('while both clocks go alike it is their time, however often it is asked for', () => {
  const { elapsed, pass } = start();
  for (let look = 0; look < 100_000; look += 1) {
    pass(0.1);
    elapsed();
  }
  const passedMs = elapsed();
  assert.ok(passedMs >= 9_999 && passedMs <= 10_101, String(passedMs));
});

test('a sleep counts, and so does what passes after the clock was set back', () => {
  const { at, elapsed, pass } = start();
  at.wall += 3_600_000;
  assert.equal(elapsed(), 3_600_000);
  at.wall -= 86_400_000;
  assert.equal(elapsed(), 3_600_000);
  pass(500);
  assert.equal(elapsed(), 3_600_500);
  at.wall += 10_000;
  assert.equal(elapsed(), 3_610_500);
});

test('property: it never goes back, and never runs slower than either clock', () => {
  const move = fc.record({ ms: fc.nat(5_000), setMs: fc.integer({ min: -100_000, max: 100_000 }) });
  fc.assert(
    fc.property(fc.array(move), (moves) => {
      const { at, elapsed, pass } = start();
      for (const { ms, setMs } of moves) {
        const [before, wall] = [elapsed(), at.wall];
        pass(ms);
        at.wall += setMs;
        const passedMs = elapsed() - before;
        assert.ok(passedMs >= ms, 'slower than the monotonic clock');
        assert.ok(passedMs >= at.wall - wall, 'slower than the wall clock');
      }
    }),
  );
});
