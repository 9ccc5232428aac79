// Windows of time: what is read next, what is read again, and that no interruption leaves a gap.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  closeWindow,
  longestStepMs,
  nextStep,
  planSpans,
  type ReadWindow,
  readUntil,
  shortestStepMs,
  windowsSchema,
} from '#conversations/windows.ts';
import * as fc from '../../support/properties.ts';

test('the first run reads everything from since to the horizon', () => {
  const plan = planSpans([], { since: 10, horizon: 100, cycleStart: 105 });
  assert.deepEqual(plan, [{ from: 10, until: 100, isNew: true }]);
});

test('the next run reads what is new, and then again what may still change', () => {
  const windows = closeWindow([], { from: 0, until: 100 }, 105, 70);
  assert.deepEqual(windows, [
    { from: 0, until: 70, readAt: null },
    { from: 70, until: 100, readAt: 105 },
  ]);
  const plan = planSpans(windows, { since: 0, horizon: 120, cycleStart: 125 });
  assert.deepEqual(plan, [
    { from: 100, until: 120, isNew: true },
    { from: 70, until: 100, isNew: false },
  ]);
});

test('a cycle that goes on does not read again what it has read', () => {
  const windows = closeWindow([], { from: 0, until: 50 }, 105, 0);
  assert.deepEqual(planSpans(windows, { since: 0, horizon: 100, cycleStart: 105 }), [
    { from: 50, until: 100, isNew: true },
  ]);
});

test('after a long pause, turns are read again that no run has read after their look-back', () => {
  const windows = closeWindow([], { from: 0, until: 100 }, 105, 70);
  const later = closeWindow(windows, { from: 100, until: 1000 }, 1005, 970);
  const plan = planSpans(later, { since: 0, horizon: 1000, cycleStart: 1005 });
  assert.deepEqual(plan, [{ from: 70, until: 100, isNew: false }]);
});

test('an earlier --since is a gap that is read', () => {
  const windows = closeWindow([], { from: 50, until: 100 }, 200, 100);
  assert.deepEqual(planSpans(windows, { since: 0, horizon: 100, cycleStart: 300 }), [
    { from: 0, until: 50, isNew: true },
  ]);
});

test('a clock that was set back reads nothing, and forgets nothing', () => {
  const windows = closeWindow([], { from: 0, until: 100 }, 105, 70);
  assert.deepEqual(planSpans(windows, { since: 0, horizon: 40, cycleStart: 50 }), []);
  assert.equal(readUntil(windows, 0), 100);
});

const span = fc
  .tuple(fc.integer({ min: 0, max: 200 }), fc.integer({ min: 1, max: 60 }))
  .map(([from, length]) => ({ from, until: from + length }));

test('windows that are closed in any order cover exactly what was read', () => {
  const closed = fc.array(fc.tuple(span, fc.integer({ min: 1, max: 9 }), fc.integer({ min: 0, max: 200 })));
  fc.assert(
    fc.property(closed, (steps) => {
      let windows: ReadWindow[] = [];
      const isRead = new Set<number>();
      for (const [one, readAt, settledBefore] of steps) {
        windows = closeWindow(windows, one, readAt, settledBefore);
        for (let at = one.from; at < one.until; at += 1) isRead.add(at);
      }
      const planned = planSpans(windows, { since: 0, horizon: 300, cycleStart: 0 });
      for (let at = 0; at < 300; at += 1) {
        const isPlanned = planned.some(({ from, until }) => at >= from && at < until);
        assert.equal(isPlanned, !isRead.has(at), `at ${at}`);
      }
      for (const [index, one] of windows.entries()) {
        assert.ok(one.from < one.until);
        assert.ok(one.from >= (windows[index - 1]?.until ?? 0));
      }
    }),
  );
});

test('a window that was read in part is read again in each cycle, until it is read as a whole', () => {
  const limits = { since: 0, horizon: 300, cycleStart: 20 };
  const inPart = closeWindow([], { from: 100, until: 200 }, 10, undefined);
  const around = [
    { from: 0, until: 100 },
    { from: 200, until: 300 },
  ].reduce<ReadWindow[]>((all, one) => closeWindow(all, one, 10, 1000), inPart);
  assert.deepEqual(planSpans(around, limits), [{ from: 100, until: 200, isNew: false }]);
  assert.equal(readUntil(around, 0), 100);
  // Half of it is whole now; the other half waits for the next cycle.
  const half = closeWindow(around, { from: 100, until: 150 }, 20, 1000);
  const rest = closeWindow(half, { from: 150, until: 200 }, 20, undefined);
  assert.deepEqual([planSpans(rest, limits), readUntil(rest, 0)], [[], 150]);
  assert.deepEqual(planSpans(rest, { ...limits, cycleStart: 30 }), [{ from: 150, until: 200, isNew: false }]);
  assert.deepEqual(windowsSchema.parse(JSON.parse(JSON.stringify(rest))), rest);
  assert.deepEqual(closeWindow(rest, { from: 150, until: 200 }, 30, 1000), [
    { from: 0, until: 300, readAt: null },
  ]);
});

test('read until is the first instant that no run has read', () => {
  fc.assert(
    fc.property(fc.array(span), (spans) => {
      const windows = spans.reduce<ReadWindow[]>((all, one) => closeWindow(all, one, 1, 0), []);
      const isRead = (at: number): boolean => spans.some(({ from, until }) => at >= from && at < until);
      const until = readUntil(windows, 5);
      assert.ok(!isRead(until));
      for (let at = 5; at < until; at += 1) assert.ok(isRead(at));
    }),
  );
});

for (const [name, sent, expected] of [
  ['an empty window', { requests: 1, isFull: false }, 4000_000],
  ['a window of one full page', { requests: 1, isFull: true }, 2000_000],
  ['a window of five pages', { requests: 5, isFull: true }, 2000_000],
  ['a window of ten pages', { requests: 10, isFull: true }, 1000_000],
  ['a window of thirty pages', { requests: 30, isFull: true }, 500_000],
] as const) {
  test(`after ${name} the step is ${expected / 1000_000} times as long`, () => {
    assert.equal(nextStep(1000_000, sent), expected);
  });
}

test('steps stay within a minute and 90 days', () => {
  assert.equal(nextStep(longestStepMs, { requests: 1, isFull: false }), longestStepMs);
  assert.equal(nextStep(shortestStepMs, { requests: 100, isFull: true }), shortestStepMs);
});
