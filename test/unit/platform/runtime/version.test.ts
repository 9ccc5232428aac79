// Versions are compared by their numbers.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isOlder } from '#platform/runtime/version.ts';

test('a version is older by its first number that differs', () => {
  const rows = [
    ['24.0.0', '24.0.0', false],
    ['9.11.2', '24.0.0', true],
    ['24.1.0', '24', false],
    ['20.20.2', '24', true],
    ['24.9.0', '24.10.0', true],
    ['24.10.1', '24.10.0', false],
    ['24.10.0', '24.10.1', true],
    ['25.0.0', '24.10.1', false],
    ['100.0.0', '24.10.1', false],
    ['25.0.0-nightly', '24.10.1', false],
  ] as const;
  for (const [version, than, expected] of rows) assert.equal(isOlder(version, than), expected, version);
});
