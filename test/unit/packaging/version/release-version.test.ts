// Versions of releases: which texts are one, and their order.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareReleaseVersions, isReleaseVersion } from '../../../../packaging/version/release-version.ts';

test('a version is three numbers, with an optional prerelease', () => {
  for (const text of ['0.1.0', '10.20.30', '1.0.0-rc.1', '1.0.0-alpha', '1.0.0-x-y.2', '1.0.0-0'])
    assert.ok(isReleaseVersion(text), text);
  for (const text of [
    '',
    '1',
    '1.0',
    'v1.0.0',
    '1.0.0+5',
    '01.0.0',
    '1.0.0-',
    '1.0.0-rc..1',
    '1.0.0-01',
    '1.0.0 ',
  ])
    assert.ok(!isReleaseVersion(text), text);
});

test('versions have the order of semantic versioning', () => {
  // The row of semver.org, item 11, and numbers that texts would order otherwise.
  const ordered = [
    ...['0.9.0', '0.10.0', '1.0.0-alpha', '1.0.0-alpha.1', '1.0.0-alpha.beta', '1.0.0-beta', '1.0.0-beta.2'],
    ...['1.0.0-beta.11', '1.0.0-rc.1', '1.0.0', '1.0.1', '2.0.0'],
  ];
  for (const [at, one] of ordered.entries()) {
    for (const [against, other] of ordered.entries())
      assert.equal(
        Math.sign(compareReleaseVersions(one, other)),
        Math.sign(at - against),
        `${one} and ${other}`,
      );
  }
});
