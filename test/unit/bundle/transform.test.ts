// The text of steps: which rules of a repair and whether a search a text names, and what this program does not have.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRuleSet, repairRuleNames } from '#bundle/repair/rule-modes.ts';
import { readTransform, stepRevisions } from '#bundle/transform.ts';

for (const [text, rules, addsSearch] of [
  ['sitemap', 'sitemap', false],
  ['canonical=set=docs.example.com sitemap', 'canonical=set=docs.example.com sitemap', false],
  ['search', undefined, true],
  ['search-box', 'search-box', false],
  ['search-box search', 'search-box', true],
] as const) {
  test(`${text} is read as rules ${rules}, search ${addsSearch}`, () => {
    const modes = rules && readRuleSet(rules);
    assert.deepEqual(readTransform(text), { modes, addsSearch });
  });
}

for (const [text, unknown] of [
  ['sitemap footnotes', 'footnotes'],
  ['search footnotes', 'footnotes'],
  ['sitemap search=on', 'search=on'],
  ['', ''],
] as const) {
  test(`"${text}" names the step that this program does not have`, () => {
    assert.equal(readTransform(text), unknown);
  });
}

test('each step has a revision', () => {
  assert.deepEqual(new Set(Object.keys(stepRevisions)), new Set([...repairRuleNames, 'search']));
});
