// What is stored, and when storing would change nothing: without copies, but with the same answer as by JSON.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { isSameStatus, mergeStatus } from '#operator/reconcile/status/status.ts';
import * as fc from '../../../../support/properties.ts';

const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<unknown>(undefined, null, 0, 1, '', 'a', true),
    fc.array(fc.oneof(fc.constantFrom<unknown>(0, 'a'), tie('fields')), { maxLength: 3 }),
    tie('fields'),
  ),
  fields: fc.dictionary(fc.constantFrom('a', 'b', 'job', 'toString'), tie('any'), { maxKeys: 3 }),
})).fields;

function viaJson(one: object): unknown {
  return JSON.parse(JSON.stringify(one));
}

test('property: two statuses are equal exactly when their JSON is, in any order of fields', () => {
  let same = 0;
  fc.assert(
    fc.property(value, value, (one, other) => {
      const expected = isDeepStrictEqual(viaJson(Object(one)), viaJson(Object(other)));
      if (expected) same += 1;
      return isSameStatus(one, Object(other)) === expected;
    }),
    { numRuns: 2000 },
  );
  assert.ok(same > 20, `${same} equal pairs`);
});

test('a stored status holds no undefined at any depth, and keeps unknown fields', () => {
  const next = {
    observedGeneration: 2,
    job: { id: 'a', message: undefined },
    history: [{ version: 'v', jobId: 'a', pages: undefined }],
  };
  const stored = mergeStatus({ newer: { deep: [1] }, job: { id: 'a', newer: 1, message: 'old' } }, next);
  assert.deepStrictEqual(stored, {
    newer: { deep: [1] },
    observedGeneration: 2,
    job: { newer: 1, id: 'a' },
    history: [{ version: 'v', jobId: 'a' }],
  });
});
