// Every scenario passes with the product as it is. When one function is exchanged so that a rule is broken, the scenario
// of that rule fails with its message. README.md lists the same mutations.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import * as poll from '#operator/reconcile/poll.ts';
import { loadMutant } from './mutant.ts';
import { exchange } from './mutations/exchange.ts';
import { ruleMutations } from './mutations/rules.ts';
import { scenarios } from './scenarios.ts';

for (const [name, play] of Object.entries(scenarios)) {
  test(`the product passes: ${name}`, play);
}

for (const [name, { exchange: exchanged, scenario, caught }] of Object.entries(ruleMutations)) {
  test(`caught: ${name}`, async () => {
    const mutant = await loadMutant(exchanged);
    const played = mutant.scenarios[scenario]();
    await Promise.allSettled([played]);
    const uncalled = Object.keys(exchanged.replacements).filter((one) => !mutant.called.has(one));
    assert.deepEqual(uncalled, [], 'no other module calls the replacement');
    await assert.rejects(played, caught);
  });
}

test('an exchange that keeps the real function is called and breaks nothing', async () => {
  const mutant = await loadMutant(exchange(poll, { pollTime: (real) => real }));
  await mutant.scenarios.day();
  assert.deepEqual([...mutant.called], ['pollTime']);
});

test('a function that its module does not export cannot be exchanged', async () => {
  const replacements = { pollTimes: () => () => 0 };
  await assert.rejects(loadMutant({ module: poll, replacements }), /exports no function pollTimes/);
});

test('a module that the scenarios do not load cannot be exchanged', async () => {
  await assert.rejects(loadMutant({ module: {}, replacements: {} }), /do not load the module/);
});

test('README.md lists every mutation with its rule, its functions and its scenario', () => {
  const text = readFileSync(new URL('./README.md', import.meta.url), 'utf8');
  const listed = text.split('\n').filter((line) => /^\| .* \| .* \| `.*` \| `\w+` \|$/.test(line));
  const wanted = Object.entries(ruleMutations).map(
    ([
      name,
      {
        rule,
        exchange: { replacements },
        scenario,
      },
    ]) => {
      const functions = Object.keys(replacements).map((one) => `\`${one}\``);
      return `| ${name} | ${rule} | ${functions.join(', ')} | \`${scenario}\` |`;
    },
  );
  assert.deepEqual(listed, wanted);
});
