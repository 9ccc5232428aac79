// The permissions that the chart's Role grants the operator in a namespace, and how a test withdraws one.
// Refuses: withdrawing a permission that was not granted, and not restoring it.

import assert from 'node:assert/strict';
import type { ChartedCluster } from './charted-cluster.ts';

interface Rule {
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

/** Withdraws the verb on the resource until the work has succeeded or failed. */
export async function withoutRight(
  { api }: Pick<ChartedCluster, 'api'>,
  { namespace, resource, verb }: Readonly<Record<'namespace' | 'resource' | 'verb', string>>,
  work: () => Promise<void>,
): Promise<void> {
  const [role] = await api.list('role', namespace);
  const rules: readonly Rule[] = role.rules;
  const fewer = rules
    .map((rule) =>
      rule.resources.includes(resource) ? { ...rule, verbs: rule.verbs.filter((one) => one !== verb) } : rule,
    )
    .filter(({ verbs }) => verbs.length > 0);
  assert.notDeepEqual(fewer, rules, 'nothing was taken away');
  const give = (next: readonly Rule[]): Promise<unknown> =>
    api.patch('role', role.metadata.name, { rules: next }, { namespace });
  await give(fewer);
  try {
    await work();
  } finally {
    await give(rules);
  }
}
