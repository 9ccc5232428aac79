import assert from 'node:assert/strict';
import { test } from 'node:test';
import { delayOfStart, type StartLine, type WaitingStart } from '#operator/reconcile/start-budget.ts';
import type { ExportCause } from '#operator/staticexport/status-schema.ts';
import * as fc from '../../../support/properties.ts';

const minuteMs = 60_000;
const now = Date.UTC(2026, 10, 29, 3);
const ago = (...minutes: readonly number[]): readonly number[] => minutes.map((one) => now - one * minuteMs);
const waits = (cause: ExportCause, minutes: number, resource = 'docs/other'): WaitingStart => ({
  ...{ resource, cause },
  since: now - minutes * minuteMs,
});
const start = (cause: ExportCause): WaitingStart => waits(cause, 0, 'docs/own');

type Row = readonly [sentence: string, line: Partial<StartLine>, cause: ExportCause, expected: string];
const table: readonly Row[] = [
  ['the first start is sent at once', {}, 'First', 'sent'],
  ['the last one of the budget is for a person', { times: ago(50, 40, 30), perHour: 4 }, 'Request', 'sent'],
  ['and for a hook', { times: ago(50, 40, 30), perHour: 4 }, 'Hook', 'sent'],
  ['others leave it to them', { times: ago(50, 40, 30), perHour: 4 }, 'Inputs', 'StartBudgetUsed 11'],
  [
    'one more waits until the first has left the hour',
    { times: ago(50, 40, 30), perHour: 3 },
    'Request',
    'StartBudgetUsed 11',
  ],
  [
    'the order of the times does not matter',
    { times: ago(30, 50, 40), perHour: 3 },
    'Request',
    'StartBudgetUsed 11',
  ],
  [
    'a start may have taken a minute to arrive',
    { times: ago(60.5, 10), perHour: 2 },
    'Hook',
    'StartBudgetUsed 0.5',
  ],
  ['what is older does not count', { times: ago(61, 10), perHour: 2 }, 'Hook', 'sent'],
  [
    'a time in the future is of a clock that was set back',
    { times: ago(-10, 5), perHour: 2 },
    'Hook',
    'sent',
  ],
  ['a flag of 0 is no limit', { times: ago(3, 2, 1), perHour: 0 }, 'Schedule', 'sent'],
  ['who waits longer is first', { waiting: [waits('First', 5)], perHour: 2 }, 'Inputs', 'StartBudgetUsed 61'],
  ['who came later does not count', { waiting: [waits('First', -1)], perHour: 2 }, 'Inputs', 'sent'],
  [
    'a person passes all others',
    { waiting: [waits('First', 5), waits('Schedule', 9)], perHour: 2 },
    'Request',
    'sent',
  ],
  [
    'of two persons the earlier one is first',
    { waiting: [waits('Request', 5)], perHour: 1 },
    'Hook',
    'StartBudgetUsed 61',
  ],
  [
    'each of those ahead takes a place',
    { times: ago(50, 20), waiting: [waits('First', 5)], perHour: 3 },
    'Inputs',
    'StartBudgetUsed 41',
  ],
  [
    'places are free again an hour later',
    { times: ago(50), waiting: [waits('First', 5)], perHour: 2 },
    'Inputs',
    'StartBudgetUsed 72',
  ],
  ['a scheduled start keeps its distance', { lastScheduledAt: ago(2)[0] }, 'Schedule', 'StartsSpread 4.7833'],
  ['and is sent after it', { lastScheduledAt: ago(7)[0] }, 'Schedule', 'sent'],
  ['a start for another reason keeps none', { lastScheduledAt: ago(2)[0] }, 'Inputs', 'sent'],
  ['starts for other reasons are no reason for a distance', { times: ago(1, 2) }, 'Schedule', 'sent'],
  [
    'each scheduled start ahead adds a distance',
    { lastScheduledAt: ago(2)[0], waiting: [waits('Schedule', 2), waits('Schedule', 1, 'docs/third')] },
    'Schedule',
    'StartsSpread 18.35',
  ],
  [
    'with one start an hour a scheduled one waits for it',
    { times: ago(20), perHour: 1 },
    'Schedule',
    'StartsSpread 41',
  ],
];

for (const [sentence, line, cause, expected] of table) {
  test(sentence, () => {
    const whole = { times: [], waiting: [], lastScheduledAt: undefined, perHour: 10, ...line };
    const delay = delayOfStart(whole, start(cause), now);
    const minutes = delay && Math.round(((delay.until - now) / minuteMs) * 10_000) / 10_000;
    assert.equal(delay === undefined ? 'sent' : `${delay.code} ${minutes}`, expected);
  });
}

test('of two that began to wait in the same second, one is first', () => {
  const line = { times: [], lastScheduledAt: undefined, perHour: 2 };
  const [one, two] = [waits('First', 0, 'docs/a'), waits('First', 0, 'docs/b')];
  assert.equal(delayOfStart({ ...line, waiting: [two] }, one, now), undefined);
  assert.equal(delayOfStart({ ...line, waiting: [one] }, two, now)?.code, 'StartBudgetUsed');
});

test('no hour has more starts than the budget, and a wait ends when it says', () => {
  const asked = fc.array(
    fc.record({
      afterS: fc.integer({ min: 0, max: 3000 }),
      cause: fc.constantFrom<ExportCause>('Schedule', 'Request', 'Inputs'),
    }),
    { maxLength: 60 },
  );
  fc.assert(
    fc.property(asked, fc.integer({ min: 1, max: 12 }), (starts, perHour) => {
      const times: number[] = [];
      let at = now;
      let lastScheduledAt: number | undefined;
      for (const { afterS, cause } of starts) {
        at += afterS * 1000;
        const since = at;
        const delayed = () =>
          delayOfStart({ times, waiting: [], lastScheduledAt, perHour }, { resource: 'a', cause, since }, at);
        for (let delay = delayed(), tries = 0; delay; delay = delayed(), tries += 1) {
          assert.ok(delay.until > at && delay.until <= at + 62 * minuteMs && tries < 3);
          at = delay.until;
        }
        times.push(at);
        if (cause === 'Schedule') lastScheduledAt = at;
        assert.ok(times.filter((one) => one > at - 60 * minuteMs).length <= perHour);
      }
    }),
  );
});
