// From when on a version was served, as its name says it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { publicationTime } from '#conversations/commands/site-bundle.ts';
import { nameVersion } from '#operator/reconcile/settle/version.ts';

const rows: readonly (readonly [name: string, at: string | undefined])[] = [
  ['20261126-144000-1f2e3d4c', '2026-11-26T14:40:00.000Z'],
  ['20261326-144000-1f2e3d4c', undefined],
  ['20261126-144000', undefined],
  ['1f2e3d4c5b6a', undefined],
  ['v1.2.3', undefined],
];

for (const [name, at] of rows) {
  test(`${name} ${at === undefined ? 'names no time' : `was published at ${at}`}`, () => {
    assert.equal(publicationTime(name), at === undefined ? undefined : Date.parse(at));
  });
}

test('the time of a version that an export names is read back to the second', () => {
  const at = Date.parse('2026-02-28T23:59:59Z');
  assert.equal(publicationTime(nameVersion(at + 999, 'a'.repeat(64), 'job')), at);
});
