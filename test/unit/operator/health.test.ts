// Ready and alive, in a table.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type HealthFacts, livenessOf, readinessOf } from '../../../src/operator/health.ts';

const healthy: HealthFacts = {
  isDraining: () => false,
  isSynced: () => true,
  isRefused: () => false,
  trouble: () => undefined,
  silenceMs: () => 60_000,
  longestPassMs: () => 1_000,
  passTimeoutMs: 300_000,
};

const rows: readonly (readonly [
  name: string,
  change: Partial<HealthFacts>,
  ready: RegExp | undefined,
  alive: boolean,
])[] = [
  ['all is well', {}, undefined, true],
  [
    'nothing listed yet',
    { isSynced: () => false, silenceMs: () => Number.POSITIVE_INFINITY },
    /first list/,
    true,
  ],
  [
    'the CRD is missing',
    { isSynced: () => false, isRefused: () => true, trouble: () => 'install the CRD' },
    /^StaticExports cannot be watched: install the CRD$/,
    true,
  ],
  [
    'the right to watch was taken away, though lists are answered',
    { isRefused: () => true, trouble: () => 'add the verb' },
    /^StaticExports cannot be watched: add the verb$/,
    true,
  ],
  [
    'the API server does not answer the first list',
    { isSynced: () => false, trouble: () => 'timeout' },
    /first list of StaticExports: timeout/,
    true,
  ],
  ['a watch is interrupted for a moment', { trouble: () => 'timeout' }, undefined, true],
  [
    'nothing has come for long',
    { silenceMs: () => 211_000, trouble: () => 'timeout' },
    /not been watched for 211 s: timeout/,
    true,
  ],
  ['SIGTERM came', { isDraining: () => true }, /shutting down/, true],
  ['a pass is late', { longestPassMs: () => 599_000 }, undefined, true],
  ['a pass does not end', { longestPassMs: () => 601_000 }, undefined, false],
];
for (const [name, change, ready, alive] of rows) {
  test(name, () => {
    const facts = { ...healthy, ...change };
    const missing = readinessOf(facts)();
    if (ready === undefined) assert.equal(missing, undefined);
    else assert.match(missing ?? '', ready);
    assert.equal(livenessOf(facts)() === undefined, alive);
  });
}
