// Readiness and liveness, in a table.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { livenessOf, readinessOf } from '#operator/health.ts';

const healthy = {
  isDraining: false,
  isSynced: () => true,
  isRefused: () => false,
  outage: (): string | undefined => undefined,
  silenceMs: () => 60_000,
  longestReconcileMs: 1_000,
};

const rows: readonly (readonly [
  name: string,
  change: Partial<typeof healthy>,
  ready: RegExp | undefined,
  alive: boolean,
])[] = [
  ['a healthy operator is ready and alive', {}, undefined, true],
  [
    'an operator is not ready before the first list',
    { isSynced: () => false, silenceMs: () => Number.POSITIVE_INFINITY },
    /first list/,
    true,
  ],
  [
    'an operator without the CRD is not ready',
    { isSynced: () => false, isRefused: () => true, outage: () => 'install the CRD' },
    /^StaticExports cannot be watched: install the CRD$/,
    true,
  ],
  [
    'an operator that may list but not watch is not ready',
    { isRefused: () => true, outage: () => 'add the verb' },
    /^StaticExports cannot be watched: add the verb$/,
    true,
  ],
  [
    'an operator whose first list gets no answer is not ready',
    { isSynced: () => false, outage: () => 'timeout' },
    /first list of StaticExports: timeout/,
    true,
  ],
  ['a short interruption of a watch keeps the operator ready', { outage: () => 'timeout' }, undefined, true],
  [
    'an operator whose watches are silent for long is not ready',
    { silenceMs: () => 211_000, outage: () => 'timeout' },
    /not been watched for 211 s: timeout/,
    true,
  ],
  ['an operator is not ready after SIGTERM', { isDraining: true }, /shutting down/, true],
  ['a late reconcile keeps the operator alive', { longestReconcileMs: 599_000 }, undefined, true],
  ['a reconcile that ignores its abort ends liveness', { longestReconcileMs: 601_000 }, undefined, false],
];
for (const [name, change, ready, alive] of rows) {
  test(name, () => {
    const state = { ...healthy, ...change };
    const shutdown = state.isDraining ? AbortSignal.abort() : new AbortController().signal;
    const missing = readinessOf(state, shutdown)();
    if (ready === undefined) assert.equal(missing, undefined);
    else assert.match(missing ?? '', ready);
    assert.equal(livenessOf(() => state.longestReconcileMs, 300_000)() === undefined, alive);
  });
}
