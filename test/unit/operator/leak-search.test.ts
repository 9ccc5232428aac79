// The search itself: a secret is found however it is wrapped, and nothing is found where there is none.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findLeaks } from '../../integration/operator/leak-search.ts';

const needle = 'svc_good-Kx81hT2mQ9';
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const hidden: readonly (readonly [string, unknown])[] = [
  ['in a text', `key ${needle} is unknown`],
  ['deep in a list', [{ a: { b: [{ c: `x${needle}` }] } }]],
  ['as a name', { [needle]: 1 }],
  ['as base64', base64(`a ${needle}`)],
  ['as base64 in base64', base64(JSON.stringify({ data: base64(needle) }))],
  ['percent-encoded', needle.replaceAll('-', '%2D')],
  ['in JSON in a text', JSON.stringify({ spec: JSON.stringify({ token: needle }) })],
  ['in the cause of an error', new Error('failed', { cause: new Error(needle) })],
  ['in a managed field', { managedFields: [{ fieldsV1: { [`k:{"x":"${needle}"}`]: {} } }] }],
];
for (const [where, value] of hidden) {
  test(`found ${where}`, () => assert.equal(findLeaks(value, [needle]).length > 0, true));
}

test('nothing is found in clean output, and the path does not contain the secret', () => {
  assert.deepEqual(findLeaks({ a: ['svc_', base64('svc_other'), 'Kx81hT2mQ9'], b: null }, [needle]), []);
  assert.deepEqual(findLeaks({ a: [{ b: needle }] }, [needle]), ['$.a.0.b']);
});
