// The files in which two archives differ.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { diffFiles } from '#cli/bundle/diff.ts';
import * as fc from '../../../support/properties.ts';

const filesOf = (hashes: Readonly<Record<string, string>>) => ({
  files: Object.entries(hashes).map(([path, sha256]) => ({ path, sha256, offset: 0, size: 1 })),
});

test('a file is added, changed or removed by its path and hash', () => {
  const before = filesOf({ 'a.html': '1', 'b.html': '2', 'c.html': '3' });
  const after = filesOf({ 'a.html': '1', 'b.html': '9', 'd.html': '3' });
  assert.deepEqual(diffFiles(before, after), { added: ['d.html'], changed: ['b.html'], removed: ['c.html'] });
});

test('a comparison the other way round exchanges added and removed', () => {
  const files = fc.dictionary(fc.stringMatching(/^[a-z]{1,2}$/), fc.constantFrom('1', '2'));
  fc.assert(
    fc.property(files, files, (one, other) => {
      const there = diffFiles(filesOf(one), filesOf(other));
      const back = diffFiles(filesOf(other), filesOf(one));
      assert.deepEqual(new Set(there.added), new Set(back.removed));
      assert.deepEqual(new Set(there.changed), new Set(back.changed));
    }),
  );
});

test('a path that is not printable is escaped', () => {
  const { added } = diffFiles(filesOf({}), filesOf({ 'a\u202eb.html': '1' }));
  assert.deepEqual(added, ['a\\u{202e}b.html']);
});
