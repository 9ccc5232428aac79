// Do the scenarios bite? As the product is they all pass; with one rule broken in its source, the one that speaks
// of that rule fails, in its words. README.md lists the same mutations.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { loadMutant } from './mutant.ts';
import { ruleMutations } from './rule-mutations.ts';
import { scenarios } from './scenarios.ts';

for (const [name, play] of Object.entries(scenarios)) {
  test(`the product passes: ${name}`, play);
}

for (const [name, mutation] of Object.entries(ruleMutations)) {
  test(`caught: ${name}`, async () => {
    const mutant = await loadMutant(mutation);
    await assert.rejects(mutant.scenarios[mutation.scenario](), mutation.caught);
  });
}

test('README.md lists every mutation with its rule and its scenario', () => {
  const text = readFileSync(new URL('./README.md', import.meta.url), 'utf8');
  const listed = text.split('\n').filter((line) => /^\| .* \| .* \| `\w+` \|$/.test(line));
  const wanted = Object.entries(ruleMutations).map(
    ([name, { rule, file, scenario }]) => `| ${name} | ${rule} | \`src/${file}\` | \`${scenario}\` |`,
  );
  assert.deepEqual(listed, wanted);
});
