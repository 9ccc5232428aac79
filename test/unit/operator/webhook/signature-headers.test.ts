// Headers of any content: reading them never throws, takes linear time, and yields a claim for the exact form alone.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readClaims } from '#operator/webhook/signature-headers.ts';
import * as fc from '../../../support/properties.ts';

const names = [
  'x-hub-signature-256',
  'x-signature',
  'x-gitlab-token',
  'webhook-id',
  'webhook-timestamp',
  'webhook-signature',
];
const piece = fc.constantFrom(
  'sha256=',
  'v1,',
  'v1a,',
  ' ',
  '=',
  '.',
  'ab',
  'A'.repeat(43),
  'f'.repeat(64),
  '\u0000',
);
const odd = fc.oneof(
  fc.string(),
  fc.array(piece, { maxLength: 8 }).map((parts) => parts.join('')),
);

test('property: headers of any content yield well-formed claims only', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...names), odd), (headers) => {
      for (const claim of readClaims(headers)) {
        if ('digest' in claim) assert.equal(claim.digest.length, 32);
        if ('token' in claim) assert.notEqual(claim.token, '');
        if ('digests' in claim) {
          assert.ok(claim.digests.length > 0 && claim.digests.every(({ length }) => length === 32));
          assert.doesNotMatch(claim.id, /[.\s]/);
        }
      }
    }),
    { numRuns: 2000 },
  );
});

test('property: every digest is read from its hexadecimal form, in either case', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
      const hex = Buffer.from(bytes).toString('hex');
      for (const text of [hex, hex.toUpperCase()])
        assert.deepEqual(readClaims({ 'x-signature': `sha256=${text}` }), [
          { scheme: 'generic-hmac', digest: Buffer.from(bytes) },
        ]);
    }),
  );
});

test('property: every v1 signature of a header is read, and others are left out', () => {
  const signature = fc.uint8Array({ minLength: 32, maxLength: 32 });
  const other = fc.constantFrom('v1a,abc', 'v2,abc', 'v1,', 'v1,short', '', 'v1');
  fc.assert(
    fc.property(fc.array(signature, { maxLength: 5 }), fc.array(other, { maxLength: 5 }), (ones, others) => {
      const listed = ones.map((bytes) => `v1,${Buffer.from(bytes).toString('base64')}`);
      const header = [...others, ...listed].join(' ');
      const sent = { 'webhook-id': 'msg_1', 'webhook-timestamp': '1767614400', 'webhook-signature': header };
      assert.deepEqual(
        readClaims(sent).map((claim) => 'digests' in claim && claim.digests),
        ones.length === 0 ? [] : [ones.map((bytes) => Buffer.from(bytes))],
      );
    }),
  );
});

test('a digest with another algorithm, length or character is not a claim', () => {
  const hex = 'a'.repeat(64);
  for (const text of [
    hex,
    `sha1=${hex}`,
    `sha256=${hex}a`,
    `sha256=${hex.slice(1)}`,
    `sha256=${hex.slice(1)}g`,
    ` sha256=${hex}`,
    '',
  ])
    assert.deepEqual(readClaims({ 'x-signature': text, 'x-hub-signature-256': text }), [], text);
});

test('a time in another form than whole seconds is not a claim', () => {
  const signed = { 'webhook-id': 'msg_1', 'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')}` };
  for (const time of ['', '1.5', '-1', '1e9', '2026-01-05T12:00:00Z', ' 1', '9'.repeat(13)])
    assert.deepEqual(readClaims({ ...signed, 'webhook-timestamp': time }), [], time);
  assert.equal(readClaims({ ...signed, 'webhook-timestamp': '1767614400' }).length, 1);
});

test('an id with a dot is not a claim, because it could move text of the body into the signed time', () => {
  const signed = {
    'webhook-timestamp': '1767614400',
    'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')}`,
  };
  for (const id of ['a.1', '.', '', 'two words', 'x'.repeat(257)])
    assert.deepEqual(readClaims({ ...signed, 'webhook-id': id }), [], id);
  assert.equal(readClaims({ ...signed, 'webhook-id': 'msg_1' }).length, 1);
});
