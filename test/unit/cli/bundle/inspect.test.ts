// What `bundle inspect` says of an archive that a reader had to adapt.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { contentWarnings, fileLines, noteWords } from '#cli/bundle/inspect.ts';

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

test('an archive without pages is one warning, and not a sentence about its home page', () => {
  const note = { code: 'HomePageMissing', count: 1, example: '' };
  assert.equal(noteWords(note), 'the archive has no page');
  assert.deepEqual(
    contentWarnings({ notes: [note], pages: 0 }).map(({ code, lines }) => [code, lines.join('. ')]),
    [['NoPages', 'the archive has no page. Check that it is an export of the site.']],
  );
});

test('the files of a large site are listed, with their sizes as a column', () => {
  const sha256 = 'd'.repeat(64);
  const files = Array.from({ length: 150_000 }, (_, at) => ({ path: `${at}.html`, size: at, sha256 }));
  const lines = fileLines(files);
  assert.equal(lines.length, 150_000);
  assert.equal(lines[7], `${sha256}       7  7.html`);
  assert.equal(lines.at(-1), `${sha256}  149999  149999.html`);
});
