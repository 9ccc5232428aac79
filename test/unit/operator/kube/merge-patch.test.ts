// The merge patch as a property: applied by the rules of RFC 7396, it makes one document into the other.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mergePatch } from '#operator/kube/merge-patch.ts';
import { textsAt } from '#platform/wire/json-fields.ts';
import { isRecord } from '#platform/wire/json-text.ts';
import * as fc from '../../../support/properties.ts';

/** RFC 7396 §2, as written there. */
function applyPatch(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const result: Record<string, unknown> = isRecord(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else result[name] = applyPatch(result[name], value);
  }
  return result;
}

const name = fc.constantFrom('a', 'b', 'c', 'jobId');
const { document } = fc.letrec<{ document: Record<string, unknown>; value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.integer(),
    fc.string({ maxLength: 3 }),
    fc.boolean(),
    fc.array(fc.integer(), { maxLength: 2 }),
    tie('document'),
  ),
  document: fc.dictionary(name, tie('value'), { maxKeys: 4, noNullPrototype: true }),
}));

test('property: the patch makes from into to, and is empty when they are equal', () => {
  fc.assert(
    fc.property(document, document, (from, to) => {
      assert.deepEqual(applyPatch(from, mergePatch(from, to)), to);
      assert.deepEqual(mergePatch(to, to), {});
    }),
    { numRuns: 500 },
  );
});

test('what is absent or undefined goes as null, arrays are replaced whole, equal parts are left out', () => {
  const from = { keep: { x: 1 }, gone: 1, list: [1, 2], inner: { a: 1, b: 2 } };
  const to = { keep: { x: 1 }, gone: undefined, list: [2], inner: { a: 1 } };
  assert.deepEqual(mergePatch(from, to), { gone: null, list: [2], inner: { b: null } });
});

test('a document that is none counts as empty', () => {
  assert.deepEqual(mergePatch(undefined, { a: {} }), { a: {} });
  assert.deepEqual(mergePatch('text', { a: 1 }), { a: 1 });
});

test('only texts are read as texts', () => {
  assert.deepEqual(textsAt({ labels: { a: 'x', b: 1, c: null } }, 'labels'), { a: 'x' });
  assert.deepEqual(textsAt({ labels: ['x'] }, 'labels'), {});
});
