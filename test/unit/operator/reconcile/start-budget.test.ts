import assert from 'node:assert/strict';
import { test } from 'node:test';
import { delayOfStart, recentStarts } from '#operator/reconcile/start-budget.ts';
import type { ExportCause } from '#operator/staticexport/status-schema.ts';
import * as fc from '../../../support/properties.ts';

const minuteMs = 60_000;
const now = Date.UTC(2026, 10, 29, 3);
const ago = (...minutes: readonly number[]): readonly number[] => minutes.map((one) => now - one * minuteMs);

const table: readonly (readonly [
  sentence: string,
  times: readonly number[],
  perHour: number,
  cause: ExportCause,
  expected: string,
])[] = [
  ['the first start is sent at once', [], 10, 'First', 'sent'],
  ['the last one of the budget is sent', ago(50, 40, 30), 4, 'Request', 'sent'],
  ['one more waits until the first has left the hour', ago(50, 40, 30), 3, 'Request', 'StartBudgetUsed 11'],
  ['the order of the times does not matter', ago(30, 50, 40), 3, 'Request', 'StartBudgetUsed 11'],
  ['a start may have taken a minute to arrive', ago(60.5, 10), 2, 'Hook', 'StartBudgetUsed 0.5'],
  ['what is older does not count', ago(61, 10), 2, 'Hook', 'sent'],
  ['a time in the future is of a clock that was set back', ago(-10, 5), 2, 'Hook', 'sent'],
  ['a flag of 0 is no limit', ago(3, 2, 1), 0, 'Schedule', 'sent'],
  ['a scheduled start keeps its distance', ago(2), 10, 'Schedule', 'StartsSpread 4.7833'],
  ['and is sent after it', ago(7), 10, 'Schedule', 'sent'],
  ['a start for another reason keeps none', ago(2), 10, 'Inputs', 'sent'],
  ['with one start an hour a scheduled one waits for it', ago(20), 1, 'Schedule', 'StartBudgetUsed 41'],
  ['with two, the other one is left to people', ago(20), 2, 'Schedule', 'StartsSpread 41'],
];

for (const [sentence, times, perHour, cause, expected] of table) {
  test(sentence, () => {
    const delay = delayOfStart(times, perHour, cause, now);
    const minutes = delay && Math.round(((delay.until - now) / minuteMs) * 10_000) / 10_000;
    assert.equal(delay === undefined ? 'sent' : `${delay.code} ${minutes}`, expected);
  });
}

test('whoever asks and waits as told, no hour has more starts than the budget, and none waits for ever', () => {
  const asked = fc.array(
    fc.record({
      afterS: fc.integer({ min: 0, max: 3000 }),
      cause: fc.constantFrom<ExportCause>('Schedule', 'Request', 'Inputs'),
    }),
    { maxLength: 60 },
  );
  fc.assert(
    fc.property(asked, fc.integer({ min: 1, max: 12 }), (starts, perHour) => {
      const sent: number[] = [];
      let at = now;
      for (const { afterS, cause } of starts) {
        at += afterS * 1000;
        let waits = 0;
        for (let delay = delayOfStart(sent, perHour, cause, at); delay; ) {
          assert.ok(delay.until > at && delay.until <= at + 61 * minuteMs);
          at = delay.until;
          delay = delayOfStart(sent, perHour, cause, at);
          waits += 1;
          assert.ok(waits < 3);
        }
        sent.push(at);
        const hour = sent.filter((one) => one > at - 60 * minuteMs);
        assert.ok(hour.length <= perHour);
        const planned = cause === 'Schedule' ? recentStarts(sent, at).length : 0;
        assert.ok(planned <= perHour);
      }
    }),
  );
});

test('scheduled starts alone leave one of the hour', () => {
  const sent: number[] = [];
  let at = now;
  for (let count = 0; count < 40; count += 1) {
    for (let delay = delayOfStart(sent, 10, 'Schedule', at); delay; ) {
      at = delay.until;
      delay = delayOfStart(sent, 10, 'Schedule', at);
    }
    sent.push(at);
    assert.equal(delayOfStart(sent, 10, 'Request', at), undefined);
  }
});
