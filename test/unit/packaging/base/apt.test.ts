// Where apt cannot update its lists, a person reads what to do.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aptRemedy } from '../../../../packaging/base/apt.ts';

const faults: readonly [string, string, RegExp][] = [
  ['there is no apt', 'apt-get is not installed. Install it, and run again.', /Run this on Debian/],
  [
    'it lacks the keys',
    'apt-get -qq failed:\nE: The following signatures could not be verified: NO_PUBKEY 6ED0',
    /debian-archive-keyring/,
  ],
  [
    'the mirror is unsigned',
    "E: The repository 'http://m trixie InRelease' is not signed.",
    /debian-archive-keyring/,
  ],
  ['the mirror is down', 'E: Failed to fetch http://m/dists/trixie/InRelease', /--debian-mirror URL/],
  ['it says nothing', '', /--debian-mirror URL/],
];
for (const [name, said, expected] of faults) {
  test(`the remedy where ${name}`, () => assert.match(aptRemedy(said), expected));
}
