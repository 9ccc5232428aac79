// What `bundle inspect` says of an archive that a reader had to adapt.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { noteWords } from '../../../../src/cli/bundle/inspect.ts';

const verdicts = readFileSync(join(import.meta.dirname, '../../../../src/bundle/README.md'), 'utf8');
const codes = new Set([...verdicts.matchAll(/normalised `([A-Za-z]+)`/g)].map(([, code = '']) => code));

test('each note of the verdict table has a sentence, and its example follows', () => {
  assert.ok(codes.size >= 5);
  for (const code of codes) {
    const words = noteWords({ code, count: 1, example: '"a.html"' });
    assert.match(words, /^[a-z0-9 ]+: "a\.html"$/i);
    assert.ok(!words.includes(code), code);
  }
});

test('a note counts, and stands alone where its example is hidden', () => {
  assert.equal(
    noteWords({ code: 'DuplicateReplaced', count: 2, example: '' }),
    '2 files replaced by a later file of the same name',
  );
  assert.equal(
    noteWords({ code: 'OfALaterVersion', count: 1, example: '"x"' }),
    'OfALaterVersion (1 time): "x"',
  );
});
