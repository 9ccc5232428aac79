// Presigned links: one target is valid, every changed target is not, and the expiry is a whole second.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expiryOf, judgeLink, signLink } from '#export-service/links.ts';
import * as fc from '../../support/properties.ts';

const secret = Buffer.alloc(32, 7);
const now = Date.UTC(2026, 0, 1);
const link = signLink(secret, 'se_0123456789abcdef', expiryOf(now, 900_000));

test('a link is valid until its expiry and expired from then on', () => {
  assert.equal(link.expiresAt, now + 900_000);
  assert.deepEqual(judgeLink(secret, 'GET', link.target, now), {
    kind: 'valid',
    jobId: 'se_0123456789abcdef',
  });
  assert.equal(judgeLink(secret, 'GET', link.target, link.expiresAt - 1).kind, 'valid');
  assert.equal(judgeLink(secret, 'GET', link.target, link.expiresAt).kind, 'expired');
});

test('an expiry is a whole second, at least one second after the second of issue', () => {
  assert.equal(expiryOf(1999, 10_000), 11_000);
  assert.equal(expiryOf(1000, 10_001), 12_000);
  assert.equal(expiryOf(1000, 1), 2000);
});

test('a link is bound to GET and to the secret', () => {
  for (const method of ['HEAD', 'PUT', 'DELETE', 'POST', 'get']) {
    assert.equal(judgeLink(secret, method, link.target, now).kind, 'refused', method);
  }
  assert.equal(judgeLink(Buffer.alloc(32, 8), 'GET', link.target, now).kind, 'refused');
});

test('the same signature with another job or expiry is refused', () => {
  const other = link.target.replace('se_0123456789abcdef', 'se_0123456789abcdee');
  assert.equal(judgeLink(secret, 'GET', other, now).kind, 'refused');
  const longer = link.target.replace(/expires=(\d+)/, (_, seconds) => `expires=${Number(seconds) + 1}`);
  assert.equal(judgeLink(secret, 'GET', longer, now).kind, 'refused');
});

test('any single changed, added or missing character is refused', () => {
  const position = fc.nat(link.target.length);
  const character = fc.oneof(
    fc.string({ minLength: 1, maxLength: 1 }),
    fc.constantFrom('%', '&', '/', 'A', '0', ''),
  );
  fc.assert(
    fc.property(position, fc.nat(1), character, (at, removed, inserted) => {
      const changed = link.target.slice(0, at) + inserted + link.target.slice(at + removed);
      fc.pre(changed !== link.target);
      assert.equal(judgeLink(secret, 'GET', changed, now).kind, 'refused');
    }),
    { numRuns: 2000 },
  );
});

test('extra, repeated or re-encoded parameters are refused', () => {
  const query = link.target.split('?')[1] ?? '';
  const [expires, signature] = query.split('&');
  const path = link.target.split('?')[0] ?? '';
  for (const target of [
    `${link.target}&x=1`,
    `${path}?${signature}&${expires}`,
    `${link.target}&${expires}`,
    link.target.replace('se_', '%73e_'),
    link.target.replace(/signature=([0-9a-f]+)/, (_, hex) => `signature=${String(hex).toUpperCase()}`),
    link.target.replace('expires=', 'expires=0'),
    `/${link.target}`,
    path,
    '',
    '/',
  ]) {
    assert.equal(judgeLink(secret, 'GET', target, now).kind, 'refused', target);
  }
});
