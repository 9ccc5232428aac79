// The judge of the integration tests: it ends a run for each rule that a stored status breaks, and where it saw none.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createStatusJudge } from '../../integration/operator/status-judge.ts';
import { brokenStatuses, condition, notReady, ready, status } from '../../support/broken-statuses.ts';
import type { StoredStatus } from '../../support/kstatus-rules.ts';
import type { KubeApi } from '../../support/kube-api.ts';

/** A judge whose watch has brought these, each of a resource of generation 2. */
function judgeOf(...statuses: readonly StoredStatus[]) {
  const watch: KubeApi['watch'] = (_kind, _namespace, onObject) => {
    for (const one of statuses) onObject({ metadata: { name: 'docs', generation: 2 }, status: one });
    return new Promise(() => {});
  };
  const judge = createStatusJudge({ watch }, ['ns']);
  judge.begin();
  return judge;
}

/** A watch does not know when a pass is over; what breaks this one breaks another then. */
const ofPasses = 'Ready is not True for a generation that nobody has observed';

for (const [words, [broken, ...more]] of Object.entries(brokenStatuses)) {
  test(`a run ends with a broken rule: ${words}`, () => {
    const said = `docs: ${words === ofPasses ? more[0] : words}`;
    assert.throws(
      () => judgeOf(status(ready), broken, status(ready)).conclude(),
      ({ message }: Error) => message.includes(said),
    );
  });
}

test('a run without a broken rule succeeds, also with edits that wait for their reconcile', () => {
  const edited = { observedGeneration: 1, conditions: [condition('Ready', { observedGeneration: 1 })] };
  judgeOf(
    { observedGeneration: -1 },
    edited,
    status(notReady, condition('Reconciling')),
    status(ready),
  ).conclude();
});

test('a watch without any status fails the run', () => {
  assert.throws(() => judgeOf().conclude(), /no status was seen/);
});
