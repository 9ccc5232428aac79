// What a user may write for a rule, and which mode then counts.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { modeText, readRuleChoice, repairRuleNames, ruleList, ruleModes } from '#bundle/repair/rule-modes.ts';

const modesOf = (...texts: readonly string[]) => {
  const choices = texts.map((text) => {
    const choice = readRuleChoice(text);
    assert.ok(typeof choice === 'object', `${text}: ${String(choice)}`);
    return choice;
  });
  const modes = ruleModes(choices);
  return Object.fromEntries(repairRuleNames.map((name) => [name, modeText(modes[name])]));
};
const usual = modesOf();

test('the default keeps canonical addresses, and all other rules are on', () => {
  assert.deepEqual(usual, {
    ...{ 'wrapping-folder': 'on', launchers: 'on', 'folder-index': 'on' },
    ...{ canonical: 'keep', 'search-box': 'on', sitemap: 'on' },
  });
});

test('a later choice wins, and all stands for each rule', () => {
  assert.deepEqual(modesOf('sitemap=off'), { ...usual, sitemap: 'off' });
  assert.deepEqual(modesOf('sitemap=off', 'sitemap'), usual);
  const none = Object.fromEntries(repairRuleNames.map((name) => [name, 'off']));
  assert.deepEqual(modesOf('all=off'), none);
  assert.deepEqual(modesOf('all=off', 'canonical=set=a.example.com:81'), {
    ...none,
    canonical: 'set=a.example.com:81',
  });
  assert.deepEqual(modesOf('sitemap=off', 'all'), usual);
});

for (const text of [
  ...['', 'none', 'sitemap=', 'sitemap=strip', 'canonical=set', 'canonical=set=HOST/x', 'canonical=set='],
  ...[
    'canonical=set=undefined.example.com',
    'canonical=set=null',
    'all=keep',
    'toString',
    'canonical=set=a b',
  ],
]) {
  test(`a rule that is not one is refused, with what is: ${text}`, () => {
    assert.equal(typeof readRuleChoice(text), 'string');
  });
}

test('an unknown rule is answered with the list of rules', () => {
  assert.match(
    String(readRuleChoice('none')),
    new RegExp(`^must be one of ${ruleList.replaceAll('|', '\\|')}, or all`),
  );
});
