// The values thread's conversation: a task carries what is wanted, an answer is a plan, and anything else is refused.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planValuesEdit } from '../../../src/targets/values.ts';
import { readPlan, runValuesTask, taskOf } from '../../../src/targets/values-task.ts';
import { Link } from '../../../src/wire/link.ts';

const bundleUrl = Link.parse('https://storage.example.com/a.tgz?X-Sig=a%3Ab');

test('a task plans what its starter would have planned', () => {
  assert.ok(bundleUrl);
  for (const wanted of [
    { enabled: true, version: 'v1' },
    { enabled: true, version: 'v1', bundleUrl },
    { enabled: true, bundleUrl },
  ] as const) {
    for (const text of [
      'a: 1\n',
      'staticExport:\n  version: "v1"\n  enabled: true\n',
      '- a list\n',
      'a: [',
    ]) {
      const sent: unknown = structuredClone(taskOf(text, wanted));
      assert.deepEqual(readPlan(structuredClone(runValuesTask(sent))), planValuesEdit(text, wanted));
    }
  }
});

test('a message of another shape is refused on both sides', () => {
  for (const wrong of [
    undefined,
    'text',
    {},
    { text: 1 },
    { outcome: 'edit' },
    { outcome: 'refused', code: 'X' },
  ]) {
    assert.throws(() => runValuesTask(wrong));
    assert.throws(() => readPlan(wrong));
  }
});
