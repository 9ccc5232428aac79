// Which release the end-to-end test of upgrades starts from.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { beforeFirstRelease, choosePreviousRelease } from '../../support/previous/previous-release.ts';
import { words } from '../../support/words.ts';

for (const [tags, ownTags, version, expected] of [
  ['', '', '0.1.0', beforeFirstRelease],
  // The commit of a release, and commits after it until the next one is prepared.
  ['v0.1.0', 'v0.1.0', '0.1.0', beforeFirstRelease],
  ['v0.1.0', '', '0.1.0', 'v0.1.0'],
  ['v0.1.0', '', '0.2.0', 'v0.1.0'],
  ['v0.1.0 v0.2.0', 'v0.2.0', '0.2.0', 'v0.1.0'],
  ['v0.1.0 v0.2.0', '', '0.2.0', 'v0.2.0'],
  ['v0.9.0 v0.10.0 v0.2.0', '', '0.11.0', 'v0.10.0'],
  ['v0.1.0 v0.2.0 v0.3.0', '', '0.2.1', 'v0.2.0'],
  ['v0.1.0 v0.2.0-rc.1', '', '0.2.0', 'v0.1.0'],
  ['v0.1.0', '', '0.2.0-rc.1', 'v0.1.0'],
  ['v0.1.0 v0.2.0-rc.1', 'v0.2.0-rc.1', '0.2.0-rc.1', 'v0.1.0'],
  ['0.1.0 version-0.1.0 v0.1 v0.1.0+5 vendor', '', '0.2.0', beforeFirstRelease],
] as const) {
  const here = ownTags === '' ? '' : `, of which this commit has "${ownTags}"`;
  test(`with the tags "${tags}"${here}, users of ${version} come from ${expected}`, () => {
    assert.equal(choosePreviousRelease(words(tags), words(ownTags), version), expected);
  });
}
