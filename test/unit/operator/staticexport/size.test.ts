// Sizes: what the schema lets through is what is read, and nothing else is.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSizeBytes } from '#operator/staticexport/size.ts';

test('a size is a whole number of mebi-, gibi- or tebibytes', () => {
  for (const [text, bytes] of [
    ['1Mi', 1_048_576],
    ['512Mi', 536_870_912],
    ['2Gi', 2_147_483_648],
    ['999999Ti', 999_999 * 1024 ** 4],
  ] as const) {
    assert.equal(parseSizeBytes(text), bytes, text);
  }
  for (const text of ['', '0Gi', '1', '1G', '1GiB', '1.5Gi', ' 1Gi', '1Gi\n', '-1Gi', '1234567Mi', '1e3Mi']) {
    assert.equal(parseSizeBytes(text), undefined, JSON.stringify(text));
  }
});
