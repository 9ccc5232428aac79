// The budget of requests: any hour, several processes, pauses, a clock that was set back, and damaged files.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type BudgetRule, budgetPath, openBudget } from '#conversations/budget.ts';
import { leapingClock } from '../../support/conversation-model.ts';

const hour = 3_600_000;
const rule: BudgetRule = { requests: 10, periodMs: hour, reserve: 0, maxWaitMs: hour };
const { signal } = new AbortController();

function newPath(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'budget-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return budgetPath(folder, 'export.example.com', 'svc_key');
}

test('no period has more requests, also of two processes together', async (t) => {
  const path = newPath(t);
  const clock = leapingClock(0);
  const budgets = [await openBudget(path, rule, clock), await openBudget(path, rule, clock)];
  const taken: number[] = [];
  for (let count = 0; count < 60; count += 1) {
    const answered = await budgets[count % 2]?.take(signal);
    clock.leap(count * 997);
    answered?.();
    taken.push(clock.now());
  }
  for (const [index, at] of taken.entries()) {
    const earlier = taken[index - 10];
    if (earlier !== undefined) assert.ok(at - earlier >= hour, `request ${index}`);
  }
  for (const budget of budgets) budget.close();
});

test('a wait longer than the rule allows ends with the time', async (t) => {
  const clock = leapingClock(Date.UTC(2026, 10, 26, 12));
  const budget = await openBudget(newPath(t), { ...rule, maxWaitMs: 60_000 }, clock);
  for (let count = 0; count < 10; count += 1) (await budget.take(signal))();
  await assert.rejects(budget.take(signal), {
    code: 'BudgetSpent',
    kind: 'wait',
    message: /again from 2026-11-26T13:00:00Z/,
    retryAfterMs: hour,
  });
  clock.leap(hour - 30_000);
  (await budget.take(signal))();
  assert.equal(clock.now(), Date.UTC(2026, 10, 26, 13));
  budget.close();
});

test('a reserve is left to other programs', async (t) => {
  const budget = await openBudget(newPath(t), { ...rule, reserve: 7, maxWaitMs: 0 }, leapingClock(0));
  for (let count = 0; count < 3; count += 1) await budget.take(signal);
  await assert.rejects(budget.take(signal), { code: 'BudgetSpent' });
  budget.close();
});

test('a pause that the export API asks for holds all processes', async (t) => {
  const path = newPath(t);
  const clock = leapingClock(0);
  const [one, other] = [
    await openBudget(path, rule, clock),
    await openBudget(path, { ...rule, maxWaitMs: 5_000 }, clock),
  ];
  one.pause(30_000);
  await assert.rejects(other.take(signal), { code: 'RateLimited' });
  const waits: (readonly [number, boolean])[] = [];
  for (let count = 0; count < 11; count += 1)
    await one.take(signal, (ms, isPaused) => waits.push([ms, isPaused]));
  assert.deepEqual(waits, [
    [30_000, true],
    [hour, false],
  ]);
  one.close();
  other.close();
});

test('a request that a kill left without an answer counts', async (t) => {
  const path = newPath(t);
  const clock = leapingClock(0);
  const first = await openBudget(path, { ...rule, requests: 1 }, clock);
  await first.take(signal);
  first.close();
  const second = await openBudget(path, { ...rule, requests: 1, maxWaitMs: 0 }, clock);
  await assert.rejects(second.take(signal), { code: 'BudgetSpent' });
  second.close();
});

test('a clock that was set back waits an hour at most', async (t) => {
  const clock = leapingClock(10 * hour);
  const budget = await openBudget(newPath(t), rule, clock);
  for (let count = 0; count < 10; count += 1) (await budget.take(signal))();
  clock.leap(-9 * hour);
  const before = clock.now();
  (await budget.take(signal))();
  assert.ok(clock.now() - before <= hour);
  budget.close();
});

test('hosts and keys have a budget each, and the file is its owner’s', async (t) => {
  const path = newPath(t);
  const folder = join(path, '..');
  assert.notEqual(path, budgetPath(folder, 'other.example.com', 'svc_key'));
  assert.notEqual(path, budgetPath(folder, 'export.example.com', 'svc_other'));
  assert.ok(!path.includes('svc_key'));
  const budget = await openBudget(path, rule, leapingClock(0));
  budget.close();
  assert.equal(statSync(path).mode & 0o077, 0);
});

test('a damaged file is made again', async (t) => {
  const path = newPath(t);
  writeFileSync(path, 'x'.repeat(5000));
  const budget = await openBudget(path, rule, leapingClock(0));
  (await budget.take(signal))();
  budget.close();
});
