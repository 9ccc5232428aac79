// HTML as tokens: pieces change nothing of what is found, and a reader that is done is given no more of them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readHtmlTokens } from '#platform/html/html-tokens.ts';

const page = `<html><head><title>a</title></head><body>${'<p class="b">text</p>'.repeat(500)}</body></html>`;

function namesOf(pieceLength: number, isDone?: (names: readonly string[]) => boolean) {
  const names: string[] = [];
  const reader = {
    start: ({ tagName }: { readonly tagName: string }) => void names.push(tagName),
    end: ({ tagName }: { readonly tagName: string }) => void names.push(`/${tagName}`),
    text: () => {},
    ...(isDone && { isDone: () => isDone(names) }),
  };
  return { isWhole: readHtmlTokens(page, reader, pieceLength), names };
}

test('a page that is read in pieces gives the tokens of the whole page', () => {
  const whole = namesOf(page.length);
  assert.equal(whole.isWhole, true);
  for (const pieceLength of [1, 7, 1024]) assert.deepEqual(namesOf(pieceLength), whole);
});

test('a reader that is done gets no further piece, and the page is not read to its end', () => {
  const { isWhole, names } = namesOf(64, (seen) => seen.includes('body'));
  assert.equal(isWhole, false);
  assert.ok(names.includes('body'));
  assert.ok(names.length < 20, `${names.length} tokens were read`);
});
