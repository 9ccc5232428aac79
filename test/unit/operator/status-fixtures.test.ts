// Statuses as versions of this operator wrote them on a real API server, kept for good: every later version reads
// all of each. A file is never changed; a version that writes something new adds one.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseStatus } from '../../../src/staticexport/parse.ts';

const folder = join(import.meta.dirname, '../../fixtures/status');
const files = readdirSync(folder);

test('there are statuses to read', () => assert.ok(files.length >= 3));

for (const file of files) {
  test(`${file} is read without loss`, () => {
    const stored: unknown = JSON.parse(readFileSync(join(folder, file), 'utf8'));
    assert.deepEqual(parseStatus(stored), stored);
  });
}
