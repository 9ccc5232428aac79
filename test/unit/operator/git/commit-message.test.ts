// The text of a commit, and that no text of a caller becomes a line of its own.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { writeCommitMessage } from '#operator/git/commit-message.ts';
import * as fc from '../../../support/properties.ts';

test('one edit gives its own subject, and several are counted', () => {
  const one = { subject: 'Publish docs', body: 'docs/site: 2' };
  assert.equal(writeCommitMessage([one], false), 'Publish docs\n\ndocs/site: 2\n');
  assert.equal(
    writeCommitMessage([one, { subject: 'x', body: 'docs/two: 3' }], true),
    'Update 2 static exports\n\ndocs/site: 2\ndocs/two: 3\n\n[skip ci]\n\n\nskip-checks: true\n',
  );
});

test('texts of callers stay in their lines, and the trailer stays last', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (subject, body) => {
      const lines = writeCommitMessage([{ subject, body: `${body}\nCo-authored-by: x` }], true).split('\n');
      assert.equal(lines.length, 9);
      assert.deepEqual(lines.slice(3), ['', '[skip ci]', '', '', 'skip-checks: true', '']);
    }),
  );
});
