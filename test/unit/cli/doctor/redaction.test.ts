// What a report leaves out of text, and that it leaves the rest.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { redactArgs, redactText, redactValue } from '../../../../src/cli/doctor/redaction.ts';

const secret = 'Kx81hT2mQ9';
const rows = [
  ['a key', `key svc_live-${secret} refused`],
  ['a signed link', `GET https://s3.example.com/a/b.tgz?X-Amz-Signature=${secret}&x=1 failed`],
  ['a link with a fragment', `https://h/a#${secret}`],
  ['a URL with a user', `proxy http://me:${secret}@proxy:3128 refused`],
  ['a link in JSON', `{"url":"https://h/a?sig=${secret}"}`],
  ['a link without its scheme', `/a/b.tgz?X-Amz-Signature=${secret}`],
  ['a bearer token', `Authorization: Bearer ${secret}`],
  ['a token of a service account', `eyJhbGciOi.eyJzdWIi.${secret}`],
  ['a private key', `-----BEGIN EC PRIVATE KEY-----\n${secret}\n-----END EC PRIVATE KEY-----`],
  ['a password in a connection', `host=db password=${secret}`],
] as const;
for (const [name, text] of rows) {
  test(`${name} is taken out`, () =>
    assert.equal(redactText(text).includes(secret), false, redactText(text)));
}

test('addresses, versions, digests and sentences stay', () => {
  const text = `https://export.example.com/api says 20261123-110000-aaaaaaaa ${'a'.repeat(64)}; see http://h:8080/x.`;
  assert.equal(redactText(text), text);
  assert.match(redactText('https://s3.example.com/a?sig=1'), /^https:\/\/s3\.example\.com\/\[redacted\]$/);
});

test('a value is redacted at every depth', () => {
  const value = { a: [{ b: `svc_${secret}` }], c: 1, d: null };
  assert.deepEqual(redactValue(value), { a: [{ b: '[redacted]' }], c: 1, d: null });
});

test('of arguments only known flags keep their value', () => {
  const args = [
    'operator',
    '--lease-name=sx',
    `--bundle-url=https://h/${secret}`,
    `--password=${secret}`,
    secret,
  ];
  assert.deepEqual(redactArgs(args), [
    'operator',
    '--lease-name=sx',
    '--bundle-url=[redacted]',
    '--password=[redacted]',
    '[redacted]',
  ]);
});

test('a link with a query never stays, whatever is around it', () => {
  const word = fc.stringMatching(/^[ -~]{0,20}$/);
  fc.assert(
    fc.property(word, word, (before, after) => {
      const text = `${before} https://storage.example.com/x?sig=${secret} ${after}`;
      assert.equal(redactText(text).includes(secret), false, redactText(text));
    }),
  );
});
