// The checker itself: a good status breaks no rule, and each rule can be broken by itself.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brokenRules, type Judged, type JudgedCondition } from '../../support/kstatus-rules.ts';

const condition = (type: string, more: Partial<JudgedCondition> = {}): JudgedCondition => ({
  type,
  status: 'True',
  reason: 'Because',
  observedGeneration: 2,
  ...more,
});
const ready = condition('Ready');
const notReady = condition('Ready', { status: 'False' });
const judged = (...conditions: readonly JudgedCondition[]): Judged => ({
  generation: 2,
  observedGeneration: 2,
  conditions,
});

for (const [what, good] of [
  ['published', judged(ready, condition('Exported', { status: 'False' }))],
  ['at work', judged(notReady, condition('Reconciling'))],
  ['stuck', judged(notReady, condition('Stalled'))],
  ['at work on what was read a moment ago', { ...judged(notReady, condition('Reconciling')), generation: 3 }],
] as const) {
  test(`no rule is broken by a resource that is ${what}`, () => assert.deepEqual(brokenRules(good), []));
}

const bad: readonly (readonly [judged: Judged, words: RegExp])[] = [
  [judged(ready, condition('Stalled')), /no condition of trouble/],
  [judged(condition('Exported')), /always there/],
  [judged(condition('Ready', { status: 'Unknown' }), condition('Reconciling')), /False while Reconciling/],
  [judged(condition('Ready', { status: 'Unknown' }), condition('Stalled')), /False while Stalled/],
  [judged(notReady, condition('Stalled'), condition('Reconciling')), /never there together/],
  [{ ...judged(notReady), observedGeneration: 3 }, /before it exists/],
  [{ ...judged(ready), generation: 3 }, /nobody has observed/],
  [judged(ready, condition('Exported', { observedGeneration: 1 })), /earlier generation$/],
  [judged(ready, condition('Exported', { observedGeneration: 3 })), /that the status is about/],
  [
    judged(notReady, condition('Reconciling', { observedGeneration: 1 })),
    /not about an earlier generation than/,
  ],
  [judged(ready, condition('Stalled', { status: 'False' })), /only while they are True/],
  [judged(ready, condition('Exported'), condition('Exported')), /there once/],
  [judged(ready, condition('Exported', { reason: 'not one word' })), /one CamelCase word/],
];
for (const [index, [one, words]] of bad.entries()) {
  test(`rule ${index + 1} is noticed: ${words.source}`, () => {
    assert.match(brokenRules(one).join('\n'), new RegExp(words.source, 'm'));
  });
}
