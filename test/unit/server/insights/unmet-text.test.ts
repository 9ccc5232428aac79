// What is kept of an address and of a search, as a table; and what is never kept.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isPrintable } from '#platform/wire/printable-text.ts';
import { isPersonalText, readMissingAddress, readSearchText } from '#server/insights/unmet-text.ts';
import * as fc from '../../../support/properties.ts';

const searchFor = (text: string): string | undefined =>
  readSearchText(`/_sx/search/none?q=${encodeURIComponent(text)}`);

test('an address is kept decoded and without its query; a hidden name, a control character and a long one are not', () => {
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['/docs/old?token=abc', '/docs/old'],
    ['/caf%65%CC%81', '/café'],
    ['/%E3%82%AC%E3%82%A4%E3%83%89/', '/ガイド/'],
    ['http://host.example/a/b?x', '/a/b'],
    ['/.env', undefined],
    ['/.well-known/security.txt', undefined],
    ['/a%0Ab', undefined],
    ['/a%2Fb', undefined],
    ['/a%E2%80%AEb', undefined],
    ['*', undefined],
    [`/${'a'.repeat(299)}`, `/${'a'.repeat(299)}`],
    [`/${'a'.repeat(300)}`, undefined],
  ];
  for (const [target, kept] of rows) assert.equal(readMissingAddress(target), kept, target);
});

test('a search is kept composed, in lower case, with one space between words', () => {
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['  Web   Hooks\u3000Retry ', 'web hooks retry'],
    ['Cafe\u0301', 'café'],
    ['cafe\u200d\u0301', 'café'],
    ['\u0130zmir', 'i\u0307zmir'],
    ['می\u200cخواهم', 'میخواهم'],
    ['検索', '検索'],
    ['', undefined],
    ['   ', undefined],
    ['\u200b', undefined],
    ['a\nb', undefined],
    ['a\u0000b', undefined],
    ['a\u0085b', undefined],
    ['\ue000', undefined],
    ['x'.repeat(200), 'x'.repeat(200)],
    ['x'.repeat(201), undefined],
  ];
  for (const [typed, kept] of rows) assert.equal(searchFor(typed), kept, JSON.stringify(typed));
  assert.equal(readSearchText('/_sx/search/none'), undefined);
  assert.equal(readSearchText('/_sx/search/none?other=1'), undefined);
  assert.equal(readSearchText('/_sx/search/none?q=a+b&q=c'), 'a b');
});

test('text that may say who a reader is, or that is a secret, is recognised', () => {
  const personal = [
    'jane.doe@example.com',
    'mail to jane%40example.com please',
    '/unsubscribe/jane@example.com',
    '+43 660 1234567',
    '4111 1111 1111 1111',
    '(555) 123-4567-89',
    'account 123456789',
    '192.168.10.77',
    '2001:db8::1',
    'ghp_0123456789abcdefghij0123456789abcdef',
    '/reset/9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822c',
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0',
    'docs.example.com/a?token=abcsecret6',
    'sig=wjalrxutnfemi%2fk7mdeng',
    'apikey: hunter2secret',
    'x-amz-signature=abc',
    '/docs/sig=wJalrXUtnFEMI%2FK7MDENG',
    '/docs/sig=wJalrXUtnFEMI/K7MDENG',
  ];
  for (const text of personal) assert.ok(isPersonalText(text), text);
  const harmless = [
    'webhooks',
    'api key',
    'signature verification',
    'token refresh',
    'key=value',
    'http 404',
    'error 80070057',
    'python 3.12.1',
    'rfc 9110 §13.2.2',
    '2026-11-30',
    'port 8080',
    '/docs/v1.2.3/guide/install',
    '/packages/@scope/name',
    '/blog/2026/11/30/release',
    '/_next/static/chunks/app-5fa3b2c1d2e3.js',
    '検索 エンジン',
  ];
  for (const text of harmless) assert.ok(!isPersonalText(text), text);
});

test('whatever is sent, what is kept is printable, bounded, and the same when it is read again', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 300 }),
    fc.string({ unit: 'grapheme', maxLength: 300 }),
  );
  fc.assert(
    fc.property(text, (typed) => {
      const well = typed.toWellFormed();
      const kept = searchFor(well);
      if (kept !== undefined) {
        assert.ok(kept.length <= 200 && isPrintable(kept) && kept === kept.trim());
        assert.equal(searchFor(kept), kept);
      }
      const target = `/${well.split('/').map(encodeURIComponent).join('/')}`;
      const address = readMissingAddress(target);
      if (address === undefined) return;
      assert.ok(address.length <= 300 && isPrintable(address));
      assert.equal(readMissingAddress(address.split('/').map(encodeURIComponent).join('/')), address);
    }),
  );
});
