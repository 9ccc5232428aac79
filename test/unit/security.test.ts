// SECURITY.md names for each claim the test that holds it: every row has one, and every file that is named exists and
// holds tests.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '../..');
const text = readFileSync(join(root, 'SECURITY.md'), 'utf8');
const [, claims = ''] = text.split('## What is promised, and the test that holds it');
const rows = claims
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| claim |'))
  .map((line) => line.split('|').map((cell) => cell.trim()));

test('SECURITY.md makes claims', () => {
  assert.ok(rows.length >= 20, `${rows.length} claims`);
});

for (const [, claim = '', held = ''] of rows) {
  test(`held by a test: ${claim}`, () => {
    const path = /^`(test\/[\w./-]+\.test\.ts)`$/.exec(held)?.[1];
    assert.ok(path, `no test: ${held}`);
    assert.match(readFileSync(join(root, path), 'utf8'), /^\s*test\(/m);
  });
}
