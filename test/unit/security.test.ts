// SECURITY.md names for each claim the test that holds it: every row has one, which is there.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { readClaims } from '../support/claims.ts';

const claims = readClaims(join(import.meta.dirname, '../..'));

test('SECURITY.md makes claims', () => {
  assert.ok(claims.length >= 20, `${claims.length} claims`);
});

for (const { claim, heldBy, isHeld } of claims) {
  test(`held by a test: ${claim}`, () => {
    assert.ok(isHeld, `no such test: ${heldBy}. Name the test in SECURITY.md that holds the claim now`);
  });
}
