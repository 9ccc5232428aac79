// Proofs of the shared secret: the published vectors of the schemes, signatures that this file computes itself, and
// everything that is nearly right.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readClaims } from '#operator/webhook/signature-headers.ts';
import { readHookSecret, verify } from '#operator/webhook/verification.ts';
import * as fc from '../../../support/properties.ts';
import { hmacHex, signStandard } from './signing.ts';

const now = Date.UTC(2026, 0, 5, 12);
const decoy = { text: 'decoy', standardKey: Buffer.from('decoy') };
const standardSecret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

function schemeOf(
  headers: Record<string, string>,
  body: string,
  secret: string | undefined,
  at = now,
): string | undefined {
  const bytes = secret === undefined ? undefined : Buffer.from(secret);
  return verify(readClaims(headers), Buffer.from(body), readHookSecret(bytes), decoy, at);
}

test("the vector of GitHub's documentation holds", () => {
  const digest = '757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17';
  const headers = { 'x-hub-signature-256': `sha256=${digest}` };
  assert.equal(schemeOf(headers, 'Hello, World!', "It's a Secret to Everybody"), 'github');
  assert.equal(schemeOf(headers, 'Hello, World?', "It's a Secret to Everybody"), undefined);
});

test('the vector of the Standard Webhooks libraries holds', () => {
  const headers = {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  };
  assert.equal(
    schemeOf(headers, '{"test": 2432232314}', standardSecret, 1_614_265_330_000),
    'standard-webhooks',
  );
});

test('every scheme accepts its own signature, and no other secret or body', () => {
  fc.assert(
    fc.property(
      fc.string({ minLength: 1 }).filter((text) => text.trim() === text),
      fc.uint8Array({ maxLength: 500 }),
      fc.uint8Array({ minLength: 24, maxLength: 64 }),
      (text, bytes, key) => {
        const body = Buffer.from(bytes);
        const secret = `whsec_${Buffer.from(key).toString('base64')}`;
        const check = (headers: Record<string, string>, given: string, content = body): string | undefined =>
          verify(readClaims(headers), content, readHookSecret(Buffer.from(given)), decoy, now);
        const other = Buffer.concat([body, Buffer.from('x')]);
        const standard = signStandard(secret, body, { now });
        for (const [scheme, headers, given] of [
          ['github', { 'x-hub-signature-256': `sha256=${hmacHex(text, body)}` }, text],
          ['generic-hmac', { 'x-signature': `sha256=${hmacHex(text, body)}` }, text],
          ['standard-webhooks', standard, secret],
        ] as const) {
          assert.equal(check({ ...headers }, given), scheme);
          assert.equal(check({ ...headers }, given, other), undefined);
          assert.equal(
            check({ ...headers }, `whsec_${Buffer.from('another key').toString('base64')}`),
            undefined,
          );
        }
      },
    ),
  );
});

test('a GitLab token is the secret itself, in any bytes', () => {
  for (const secret of ['plain', 'with blank', 'ä and €']) {
    const token = Buffer.from(secret).toString('latin1');
    assert.equal(schemeOf({ 'x-gitlab-token': token }, '', secret), 'gitlab');
    assert.equal(schemeOf({ 'x-gitlab-token': `${token}x` }, '', secret), undefined);
  }
});

test('a line end after the secret is not part of it, and an empty secret proves nothing', () => {
  assert.equal(schemeOf({ 'x-gitlab-token': 'plain' }, '', 'plain\n'), 'gitlab');
  for (const secret of ['', ' \n', undefined]) {
    assert.equal(schemeOf({ 'x-gitlab-token': ' ' }, '', secret), undefined);
    const headers = { 'x-hub-signature-256': `sha256=${hmacHex('', Buffer.from('body'))}` };
    assert.equal(schemeOf(headers, 'body', secret), undefined);
  }
});

test('the decoy that replaces a missing secret proves nothing', () => {
  assert.equal(schemeOf({ 'x-gitlab-token': 'decoy' }, '', undefined), undefined);
  const standard = signStandard('whsec_ZGVjb3k=', Buffer.from('body'), { now });
  assert.equal(schemeOf(standard, 'body', undefined), undefined);
  assert.equal(schemeOf(standard, 'body', 'not of Standard Webhooks'), undefined);
});

test('a Standard Webhooks request is valid for five minutes before and after its time', () => {
  const body = Buffer.from('{}');
  for (const [ageMs, scheme] of [
    [0, 'standard-webhooks'],
    [300_000, 'standard-webhooks'],
    [301_000, undefined],
    [-300_000, 'standard-webhooks'],
    [-301_000, undefined],
  ] as const) {
    const headers = signStandard(standardSecret, body, { now: now - ageMs });
    assert.equal(schemeOf(headers, '{}', standardSecret), scheme, String(ageMs));
  }
});

test('one of several signatures in a header is enough, as while a secret rotates', () => {
  const body = Buffer.from('{}');
  const headers = signStandard(standardSecret, body, { now });
  const wrong = Buffer.alloc(32, 7).toString('base64');
  const several = `v1a,xyz v1,${wrong} ${headers['webhook-signature']} v2,abc`;
  assert.equal(
    schemeOf({ ...headers, 'webhook-signature': several }, '{}', standardSecret),
    'standard-webhooks',
  );
  assert.equal(schemeOf({ ...headers, 'webhook-signature': `v1,${wrong}` }, '{}', standardSecret), undefined);
});

test('id and time of a Standard Webhooks request are signed too', () => {
  const headers = signStandard(standardSecret, Buffer.from('{}'), { now });
  assert.equal(schemeOf({ ...headers, 'webhook-id': 'msg_other' }, '{}', standardSecret), undefined);
  const later = { ...headers, 'webhook-timestamp': String(now / 1000 + 1) };
  assert.equal(schemeOf(later, '{}', standardSecret), undefined);
});
