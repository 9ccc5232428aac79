// The wishes of targets: which of them are the same, and what a wish has to write.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { givenKeys, isSameWish } from '#operator/targets/target-plan.ts';
import { Link } from '#platform/wire/link.ts';

const linkOf = (path: string): Link => Link.parse(`https://storage.example.com/${path}`) ?? assert.fail();
const all = { enabled: true, version: 'v', digest: 'd', ref: 'r', bundleUrl: linkOf('a') } as const;

for (const [name, change] of [
  ['version', { version: 'w' }],
  ['digest', { digest: 'e' }],
  ['reference', { ref: 's' }],
  ['link', { bundleUrl: linkOf('b') }],
] as const) {
  test(`a wish with another ${name} is another wish`, () => {
    assert.ok(isSameWish({ type: 'Values', wanted: all }, { type: 'Values', wanted: { ...all } }));
    assert.ok(
      !isSameWish({ type: 'Values', wanted: all }, { type: 'Values', wanted: { ...all, ...change } }),
    );
  });
}

test('keys that are not wanted are left out', () => {
  assert.deepEqual(givenKeys({ version: 'v', digest: undefined }), { version: 'v' });
  assert.deepEqual(givenKeys({ version: undefined, digest: 'd', ref: 'r' }), { digest: 'd', ref: 'r' });
});
