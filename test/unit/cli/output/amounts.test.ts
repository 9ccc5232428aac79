// Amounts in sentences.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { counted, sizeWords } from '#cli/output/amounts.ts';

test('one is singular, and everything else is plural', () => {
  assert.deepEqual(
    [0, 1, 2].map((count) => counted(count, 'page')),
    ['0 pages', '1 page', '2 pages'],
  );
});

test('a size has at most four digits before its point', () => {
  const sizes = [
    [0, '0 bytes'],
    [1, '1 byte'],
    [1023, '1023 bytes'],
    [1024, '1.0 KiB'],
    [1536, '1.5 KiB'],
    [1024 ** 2, '1.0 MiB'],
    [5 * 1024 ** 3, '5.0 GiB'],
  ] as const;
  for (const [bytes, words] of sizes) assert.equal(sizeWords(bytes), words);
});
