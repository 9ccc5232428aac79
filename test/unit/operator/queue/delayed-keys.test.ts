// Delayed keys, against the plain model: a list that is searched again at every instant. One timer however many keys
// wait, and dropped keys leave nothing behind.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DelayedKeys } from '#operator/queue/delayed-keys.ts';
import * as fc from '../../../support/properties.ts';
import { steppedClock } from '../../../support/stepped-clock.ts';

type Step =
  | { readonly kind: 'put'; readonly key: string; readonly delayMs: number }
  | { readonly kind: 'drop'; readonly key: string }
  | { readonly kind: 'pass'; readonly ms: number };

const keys = fc.constantFrom(...'abcdefghij');
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('put' as const), key: keys, delayMs: fc.nat({ max: 50 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('drop' as const), key: keys }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.nat({ max: 20 }) }) },
);

test('property: each key is due once, at its earliest time and in order, as in a plain list', async () => {
  await fc.assertAsync(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const clock = steppedClock();
      const rung: string[] = [];
      const due = new DelayedKeys(clock, (key) => rung.push(`${key} ${clock.monotonic()}`));
      const expected: string[] = [];
      let waiting: { readonly key: string; readonly at: number }[] = [];
      const expire = (until: number): void => {
        // Sorting is stable: of those that are due together the first added comes first.
        const ripe = waiting.filter(({ at }) => at <= until).sort((a, b) => a.at - b.at);
        expected.push(...ripe.map(({ key, at }) => `${key} ${at}`));
        waiting = waiting.filter(({ at }) => at > until);
      };
      for (const one of [...steps, { kind: 'pass', ms: 100 } as const]) {
        if (one.kind === 'put') {
          const at = clock.monotonic() + one.delayMs;
          due.put(one.key, one.delayMs);
          const known = waiting.find(({ key }) => key === one.key);
          if (known === undefined || known.at > at) {
            waiting = [...waiting.filter((other) => other !== known), { key: one.key, at }];
          }
        } else if (one.kind === 'drop') {
          due.drop(one.key);
          waiting = waiting.filter(({ key }) => key !== one.key);
        } else {
          const until = clock.monotonic() + one.ms;
          await clock.pass(one.ms);
          expire(until);
        }
        assert.equal(due.size, waiting.length);
      }
      assert.deepEqual(rung, expected);
    }),
    { numRuns: 60 },
  );
});

test('ten thousand keys wait on one timer, and none is left when they are cleared', async () => {
  const clock = steppedClock();
  const rung: string[] = [];
  const due = new DelayedKeys(clock, (key) => rung.push(key));
  for (let key = 0; key < 10_000; key += 1) due.put(`k${key}`, 1_000 + ((key * 7919) % 10_000));
  assert.equal(clock.waiting(), 1);
  await clock.pass(1_000);
  assert.deepEqual([rung, due.size, clock.waiting()], [['k0'], 9_999, 1]);
  for (let key = 0; key < 10_000; key += 1) due.drop(`k${key}`);
  due.put('last', 5);
  await clock.pass(20_000);
  assert.deepEqual(rung, ['k0', 'last']);
  due.put('never', 5);
  due.clear();
  assert.equal(clock.waiting(), 0);
  await clock.pass(10);
  assert.deepEqual(rung, ['k0', 'last']);
});
