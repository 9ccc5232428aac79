// The checker itself: a good status breaks no rule, and for each rule there is a status that breaks it, and no other
// but those that cannot hold then.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brokenStatuses, condition, notReady, ready, status } from '../../support/broken-statuses.ts';
import { brokenRules, ruleWords } from '../../support/kstatus-rules.ts';

for (const [what, good] of [
  ['published', status(ready, condition('Exported', { status: 'False' }))],
  ['at work', status(notReady, condition('Reconciling'))],
  ['stuck', status(notReady, condition('Stalled'))],
  ['not looked at yet', { observedGeneration: -1 }],
] as const) {
  test(`a resource that is ${what} breaks no rule`, () => {
    assert.deepEqual(brokenRules(2, good, 'after a pass'), []);
    assert.deepEqual(brokenRules(2, good, 'any'), []);
  });
}

test('a published resource stays Ready between an edit and its reconcile only', () => {
  assert.deepEqual(brokenRules(3, status(ready), 'any'), []);
  assert.deepEqual(brokenRules(3, status(notReady, condition('Reconciling')), 'any'), []);
  assert.notDeepEqual(brokenRules(3, status(ready), 'after a pass'), []);
});

test('every rule has a status that breaks it', () =>
  assert.deepEqual(Object.keys(brokenStatuses), ruleWords));

for (const [words, [broken, ...more]] of Object.entries(brokenStatuses)) {
  test(`a broken rule is noticed: ${words}`, () => {
    assert.deepEqual(new Set(brokenRules(2, broken, 'after a pass')), new Set([words, ...more]));
  });
}
