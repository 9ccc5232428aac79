// Which commands a state suggests.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextSteps } from '#cli/cluster/next-steps.ts';

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

test('a command stands for each annotation that a message advises', () => {
  const rows = [
    ['Candidate v2. To publish it, set the annotation staticexport.dev/promote=v2.', 'promote'],
    ['To start it now, set the annotation staticexport.dev/requestedAt=<new token>.', 'request'],
    ['Then set the annotation staticexport.dev/requestedAt to a new token.', 'request'],
  ] as const;
  for (const [message, verb] of rows) {
    const [step, ...others] = nextSteps(calm, [message]);
    assert.deepEqual([step?.split(' ')[1], others], [verb, []]);
  }
});
