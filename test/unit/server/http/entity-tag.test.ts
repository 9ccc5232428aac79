// Conditions on entity tags: lists, `*`, weak forms, and text that is no list at all.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  allowsRange,
  bodyFingerprint,
  entityTagOf,
  findKnownTag,
  matchesStrongly,
  type SendableForms,
  variantTagOf,
} from '#server/http/entity-tag.ts';
import * as fc from '../../../support/properties.ts';

const tag = entityTagOf({
  sha256: '0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef',
});

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

const plain: SendableForms = { tags: [tag], entityTag: tag, encodings: [] };

test('If-None-Match compares weakly, If-Match strongly, both through lists', () => {
  for (const [header, weak, strong] of rows) {
    assert.equal(findKnownTag(header, plain), weak ? tag : undefined, `If-None-Match: ${header}`);
    assert.equal(matchesStrongly(header, plain), strong, `If-Match: ${header}`);
  }
});

const br = variantTagOf(tag, 'br', 0x123456789abcd);
const gzip = variantTagOf(tag, 'gzip', 7);

test('the tag of a precompressed variant names its content, its encoding, and its very bytes', () => {
  assert.equal(br, '"0123456789abcdef0123456789abcdef-br-123456789abcd"');
  assert.equal(gzip, '"0123456789abcdef0123456789abcdef-gzip-0000000000007"');
  assert.equal(bodyFingerprint(`fffffffffffff${'0'.repeat(51)}`), 0xfffffffffffff);
  assert.notEqual(
    bodyFingerprint(`123456789abcd${'0'.repeat(51)}`),
    bodyFingerprint(`123456789abce${'0'.repeat(51)}`),
  );
});

test('of several forms the known one is named, the selected one first', () => {
  const all: SendableForms = { tags: [br, gzip, tag], entityTag: tag, encodings: ['br', 'gzip'] };
  assert.equal(findKnownTag('*', all), br);
  assert.equal(findKnownTag(gzip, all), gzip);
  assert.equal(findKnownTag(`W/${tag}, "x"`, all), tag);
  assert.equal(findKnownTag(`${tag}, ${br}`, all), br);
  const brAlone: SendableForms = { tags: [br, tag], entityTag: tag, encodings: ['br'] };
  assert.equal(findKnownTag(gzip, brAlone), undefined, 'a form that may not be sent is not known');
  assert.equal(matchesStrongly(gzip, all), true);
});

test('a precompressed variant of the same content that another build made is known, but is not this one', () => {
  const other = variantTagOf(tag, 'br', 99);
  const notYetMade: SendableForms = { tags: [tag], entityTag: tag, encodings: ['br'] };
  const made: SendableForms = { tags: [br, tag], entityTag: tag, encodings: ['br'] };
  for (const forms of [notYetMade, made]) {
    assert.equal(findKnownTag(other, forms), other);
    assert.equal(findKnownTag(`"x", W/${other}`, forms), other);
    assert.equal(matchesStrongly(other, forms), false);
  }
  const none: SendableForms = { tags: [tag], entityTag: tag, encodings: [] };
  assert.equal(findKnownTag(other, none), undefined, 'who takes no encoding cannot use it');
  const foreign = variantTagOf(`"${'f'.repeat(32)}"`, 'br', 99);
  for (const text of [
    foreign,
    other.replace('-br-', '-gzip-'),
    `${tag.slice(0, -1)}-br-"`,
    `${tag.slice(0, -1)}-br"`,
  ]) {
    assert.equal(findKnownTag(text, made), undefined, text);
  }
  const odd = `${tag.slice(0, -1)}-br-\xff000000000000"`;
  assert.equal(findKnownTag(odd, made), undefined, 'what is sent back is printable');
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
      findKnownTag(text, plain);
      matchesStrongly(text, plain);
      allowsRange(text, tag);
    }),
  );
});
