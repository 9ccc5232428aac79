// Which commands a state suggests.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextSteps } from '../../../../src/cli/cluster/next-steps.ts';

const calm = {
  namespace: 'team',
  name: 'docs',
  reason: 'Published',
  candidate: undefined,
  pinned: undefined,
  suspended: false,
};
const rows = {
  'nothing is to be done': [calm, []],
  'a candidate is promoted or rejected': [{ ...calm, candidate: 'v2' }, ['promote', 'reject']],
  'after a rejection, an export is requested': [{ ...calm, reason: 'Rejected' }, ['request']],
  'a pin is removed': [{ ...calm, pinned: 'v1' }, ['unpin']],
  'a pause is ended': [{ ...calm, suspended: true }, ['resume']],
  'without an operator, doctor says why': [{ ...calm, reason: 'NotObserved' }, ['doctor']],
} as const;
for (const [name, [state, verbs]] of Object.entries(rows)) {
  test(name, () => {
    const steps = nextSteps(state);
    assert.deepEqual(
      steps.map((step) => step.split(' ')[1]),
      verbs,
    );
    assert.ok(steps.every((step) => / docs -n team {2}# \w/.test(step)));
  });
}
