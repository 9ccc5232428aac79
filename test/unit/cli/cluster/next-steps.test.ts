// Which commands a state suggests.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextSteps, withoutAnnotationAdvice } from '#cli/cluster/next-steps.ts';

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

test('a message does not advise an annotation where a command does it', () => {
  const held =
    'The candidate awaits. Candidate v2 has 1 page (minPages: 2). To publish it, set the annotation staticexport.dev/promote=20260105-030000-aaaaaaaa.';
  const steps = nextSteps({ ...calm, candidate: 'v2' });
  const short = 'The candidate awaits. Candidate v2 has 1 page (minPages: 2).';
  assert.equal(withoutAnnotationAdvice(held, steps), short);
  assert.equal(
    withoutAnnotationAdvice(`${held} The annotation names v1, which is not the candidate.`, steps),
    `${short} The annotation names v1, which is not the candidate.`,
  );
  assert.equal(withoutAnnotationAdvice(held, []), held);
  assert.deepEqual(nextSteps(calm, [held]), [
    'static-export promote docs -n team  # publishes the candidate',
  ]);
});

test('a message that advises the annotation of a request gets the command instead', () => {
  const rows = [
    [
      'v2 is newer. To start it now, set the annotation staticexport.dev/requestedAt=<new token>.',
      'v2 is newer.',
    ],
    [
      'Ask the owner of the export API, then set the annotation staticexport.dev/requestedAt to a new token.',
      'Ask the owner of the export API, then request an export.',
    ],
  ] as const;
  for (const [message, short] of rows) {
    const steps = nextSteps(calm, [message]);
    assert.deepEqual(steps, ['static-export request docs -n team  # exports again']);
    assert.equal(withoutAnnotationAdvice(message, steps), short);
  }
});
