// What each rule makes of one site, as a digest for each revision of the rule. A change of a rule's output fails here until the
// revision is raised: the operator compares revisions to find out whether it can make published content again.

import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { planRepair } from '#bundle/repair/repair.ts';
import { readRuleSet, repairRuleNames } from '#bundle/repair/rule-modes.ts';
import { ruleRevisions } from '#bundle/repair/rule-revisions.ts';
import { memoryBundle } from '../../../support/memory-bundle.ts';
import { defectiveSite } from './defective-site.ts';

/** Of each mode of a rule, in the order of revisions from 1 on. Append a digest and raise the revision; change none. */
const outputs: Readonly<Record<string, readonly string[]>> = {
  'wrapping-folder': ['5f78377435f1d349'],
  launchers: ['aa5931402975424c'],
  'launchers=all': ['8f12b9ac9087cc8e'],
  'folder-index': ['552558e2199e5579'],
  'canonical=set=docs.example.com': ['8458e4f31adfb5a0'],
  'canonical=strip': ['db695927c904f7c9'],
  'search-box': ['6a2c9111811f6818'],
  sitemap: ['2239d51798209914'],
};

async function digestAfter(rules: string): Promise<string> {
  const modes = readRuleSet(rules);
  if (typeof modes === 'string') throw new Error(modes);
  // In a folder, and without the script that launchers start.
  const wrapped = Object.entries(defectiveSite)
    .filter(([path]) => path !== 'serve.js')
    .map(([path, text]) => [`site/${path}`, text]);
  const sites = [defectiveSite, { ...Object.fromEntries(wrapped), '._site': 'x' }];
  const { signal } = new AbortController();
  const plans = await Promise.all(sites.map((site) => planRepair(memoryBundle(site), modes, signal)));
  return hash('sha256', plans.map(({ digest }) => digest).join(), 'hex').slice(0, 16);
}

for (const [rules, digests] of Object.entries(outputs)) {
  test(`${rules} makes of a site what its revision stands for`, async () => {
    const name = repairRuleNames.find((one) => one === rules.replace(/=.*/, ''));
    assert.ok(name);
    const revision = ruleRevisions[name];
    assert.equal(revision, digests.length, `the revision of ${name} is not that of the last digest`);
    assert.equal(
      await digestAfter(rules),
      digests[revision - 1],
      `${rules} has another output. Raise ruleRevisions['${name}'], and append the digest here.`,
    );
  });
}

test('each rule has an output here, and changes the site', async () => {
  const named = Object.keys(outputs).map((rules) => rules.replace(/=.*/, ''));
  assert.deepEqual(new Set(named), new Set(repairRuleNames));
  const plain = await digestAfter('canonical=off');
  const digests = await Promise.all(Object.keys(outputs).map(digestAfter));
  assert.ok(!digests.includes(plain), 'a rule changes nothing');
  assert.equal(new Set(digests).size, digests.length, 'two rules do the same');
});
