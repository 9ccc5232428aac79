// Conditions on entity tags: lists, `*`, weak forms, and text that is no list at all.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  allowsRange,
  codedTagsOf,
  entityTagOf,
  findKnownTag,
  matchesStrongly,
} from '../../../src/site/entity-tag.ts';

const tag = entityTagOf('0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef');

test('a tag is quoted, strong, and made of the content alone', () => {
  assert.equal(tag, '"0123456789abcdef0123456789abcdef"');
});

const rows: readonly (readonly [string, boolean, boolean])[] = [
  // header, If-None-Match matches (weak comparison), If-Match matches (strong comparison)
  [tag, true, true],
  [` ${tag} `, true, true],
  [`W/${tag}`, true, false],
  [`"other", ${tag}`, true, true],
  [`"other",${tag},"third"`, true, true],
  [`"other", W/${tag}`, true, false],
  [`"a,b", ${tag}`, true, true],
  [`, ,${tag}`, true, true],
  ['*', true, true],
  [' * ', true, true],
  ['"other"', false, false],
  ['', false, false],
  [tag.slice(1, -1), false, false],
  [tag.slice(0, -1), false, false],
  [`"x${tag.slice(1)}`, false, false],
  [`w/${tag}`, false, false],
  [`x${tag}`, false, false],
  ['*, "other"', false, false],
];

test('If-None-Match compares weakly, If-Match strongly, both through lists', () => {
  for (const [header, weak, strong] of rows) {
    assert.equal(findKnownTag(header, [tag]), weak ? tag : undefined, `If-None-Match: ${header}`);
    assert.equal(matchesStrongly(header, [tag]), strong, `If-Match: ${header}`);
  }
});

test('of several forms the known one is named, the selected one first', () => {
  const { br, gzip } = codedTagsOf(tag);
  assert.equal(br, '"0123456789abcdef0123456789abcdef-br"');
  const tags = [br, gzip, tag];
  assert.equal(findKnownTag('*', tags), br);
  assert.equal(findKnownTag(gzip, tags), gzip);
  assert.equal(findKnownTag(`W/${tag}, "x"`, tags), tag);
  assert.equal(findKnownTag(`${tag}, ${br}`, tags), br);
  assert.equal(findKnownTag(gzip, [br, tag]), undefined, 'a form that may not be sent is not known');
  assert.equal(matchesStrongly(gzip, tags), true);
});

test('If-Range holds for exactly this tag, never for a weak one, a date or a list', () => {
  assert.equal(allowsRange(undefined, tag), true);
  assert.equal(allowsRange(tag, tag), true);
  for (const header of [`W/${tag}`, '"other"', 'Sat, 21 Nov 2026 10:00:00 GMT', `"other", ${tag}`, '*', '']) {
    assert.equal(allowsRange(header, tag), false, header);
  }
});

test('no text makes a comparison throw', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      findKnownTag(text, [tag]);
      matchesStrongly(text, [tag]);
      allowsRange(text, tag);
    }),
  );
});
