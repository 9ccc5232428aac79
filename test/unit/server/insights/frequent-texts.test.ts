// The sketch against an exact count: what it promises holds for any order of texts.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFrequentTexts, createRecentTexts, mostFrequent } from '#server/insights/frequent-texts.ts';
import * as fc from '../../../support/properties.ts';

test('no count is more than how often the text came, and every frequent text has a counter', () => {
  const texts = fc.array(
    fc.integer({ min: 0, max: 30 }).map((n) => `t${Math.floor(n ** 2 / 30)}`),
    { maxLength: 400 },
  );
  fc.assert(
    fc.property(texts, fc.integer({ min: 1, max: 12 }), (all, capacity) => {
      const sketch = createFrequentTexts(capacity);
      const exact = new Map<string, number>();
      for (const text of all) {
        sketch.add(text, 0);
        exact.set(text, (exact.get(text) ?? 0) + 1);
      }
      const found = new Map(sketch.list().map(({ text, count }) => [text, count]));
      assert.equal(found.size, Math.min(capacity, exact.size));
      for (const [text, count] of found) assert.ok(count >= 1 && count <= (exact.get(text) ?? 0), text);
      for (const [text, count] of exact) {
        if (count <= all.length / capacity) continue;
        assert.ok(found.has(text), `${text} came ${count} times of ${all.length}`);
        assert.ok((found.get(text) ?? 0) >= count - all.length / capacity, text);
      }
    }),
    { numRuns: 500 },
  );
});

test('as long as there are counters enough, counts are exact, with the hour of the last time', () => {
  const sketch = createFrequentTexts(3);
  const at = Date.parse('2026-11-30T10:59:59Z');
  for (const text of ['a', 'b', 'a']) sketch.add(text, at);
  const lastTime = Date.parse('2026-11-30T10:00:00Z');
  assert.deepEqual(mostFrequent(sketch.list(), 10), [
    { text: 'a', count: 2, lastTime },
    { text: 'b', count: 1, lastTime },
  ]);
  assert.ok(sketch.has('a') && !sketch.has('c'));
});

test('ten thousand texts that come once do not push out one that comes often', () => {
  const sketch = createFrequentTexts(100);
  for (let at = 0; at < 10_000; at += 1) {
    sketch.add(`once ${at}`, 0);
    if (at % 50 === 0) sketch.add('often', 0);
  }
  assert.equal(sketch.list().length, 100);
  assert.deepEqual(
    mostFrequent(sketch.list(), 1).map(({ text }) => text),
    ['often'],
  );
  assert.ok((mostFrequent(sketch.list(), 1)[0]?.count ?? 0) > 90);
});

test('what came in the last period counts, what is older than two is forgotten', () => {
  let now = 0;
  const texts = createRecentTexts(10, 1000, () => now);
  const shown = (): string =>
    mostFrequent(texts.list(), 10)
      .map(({ text, count }) => `${text} ${count}`)
      .join();
  texts.add('a', now);
  now = 999;
  texts.add('a', now);
  assert.equal(shown(), 'a 2');
  now = 1500;
  texts.add('a', now);
  texts.add('b', now);
  assert.equal(shown(), 'a 3,b 1');
  assert.equal(texts.since(), 0);
  now = 2600;
  assert.equal(shown(), 'a 1,b 1');
  assert.equal(texts.since(), 1500);
  now = 9000;
  assert.equal(shown(), '');
  assert.equal(texts.since(), 9000);
});
