// When a small read may hold up the others: while reads are quick, and after a rest that grows with each slow one.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createReadPace } from '#server/content/read-pace.ts';

function paceOver(): { readonly pace: ReturnType<typeof createReadPace>; pass(ms: number): void } {
  let nowMs = 1_000_000;
  const pace = createReadPace({ monotonic: () => nowMs });
  return {
    pace,
    pass: (ms) => {
      nowMs += ms;
    },
  };
}

test('quick reads go on at once', () => {
  const { pace, pass } = paceOver();
  for (let at = 0; at < 100; at += 1) pace.measure(() => pass(1));
  assert.ok(pace.isQuick());
});

test('a slow read now and then is a busy processor', () => {
  const { pace, pass } = paceOver();
  for (let at = 0; at < 100; at += 1) {
    pace.measure(() => pass(at % 3 === 0 ? 40 : 1));
    assert.ok(pace.isQuick());
  }
});

test('reads of which half are slow are a slow disk', () => {
  const { pace, pass } = paceOver();
  for (const ms of [1, 3, 1, 3, 1, 3]) pace.measure(() => pass(ms));
  assert.ok(pace.isQuick());
  pace.measure(() => pass(3));
  assert.ok(!pace.isQuick());
});

test('one very slow read gives the others ten seconds of rest', () => {
  const { pace, pass } = paceOver();
  pace.measure(() => pass(50));
  assert.ok(!pace.isQuick());
  pass(9_999);
  assert.ok(!pace.isQuick());
  pass(1);
  assert.ok(pace.isQuick());
});

test('a disk that stays slow is tried less and less often, at least every ten minutes', () => {
  const { pace, pass } = paceOver();
  const rests = Array.from({ length: 9 }, () => {
    pace.measure(() => pass(50));
    let restMs = 0;
    for (; !pace.isQuick(); restMs += 1_000) pass(1_000);
    return restMs;
  });
  assert.deepEqual(
    rests,
    [10, 20, 40, 80, 160, 320, 600, 600, 600].map((seconds) => seconds * 1000),
  );
});

test('a disk that was quick for long starts from the shortest rest again', () => {
  const { pace, pass } = paceOver();
  for (let at = 0; at < 3; at += 1) {
    pace.measure(() => pass(50));
    while (!pace.isQuick()) pass(1_000);
  }
  pass(60_000);
  pace.measure(() => pass(50));
  pass(10_000);
  assert.ok(pace.isQuick());
});

test('a read that throws is reported to the caller', () => {
  const { pace } = paceOver();
  assert.throws(
    () =>
      pace.measure(() => {
        throw new Error('disk');
      }),
    /disk/,
  );
  assert.ok(pace.isQuick());
});
