// Origin mappings: accepted forms, the closed list, and refusals at the start.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { originOf, readOrigins } from '#export-service/origins.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { words } from '../../support/words.ts';

test('a mapped domain is crawled at its origin, and no other domain is exported', () => {
  const origins = readOrigins([
    'docs.example.com=http://127.0.0.1:4000',
    'A.example.com=https://x.example.com/docs',
  ]);
  assert.equal(originOf(origins, 'docs.example.com')?.url.href, 'http://127.0.0.1:4000/');
  assert.equal(originOf(origins, 'docs.example.com')?.isConsented, true);
  assert.equal(originOf(origins, 'a.example.com')?.url.href, 'https://x.example.com/docs/');
  assert.equal(originOf(origins, 'other.example.com'), undefined);
});

test('without any mapping a domain is crawled at its public address, and never at an internal address', () => {
  const origin = originOf(readOrigins([]), 'docs.example.com');
  assert.equal(origin?.url.href, 'https://docs.example.com/');
  assert.equal(origin?.isConsented, false);
});

test('an invalid mapping is refused without repeating it', () => {
  for (const mapping of words(`
    docs.example.com =http://127.0.0.1 docs.example.com= docs.example.com=127.0.0.1:80
    docs.example.com=ftp://x.example.com docs.example.com=http://user:hush@x.example.com
    docs.example.com=http://x.example.com/?a=1 https://docs.example.com=http://x.example.com
    docs_example=http://x.example.com
  `)) {
    assert.throws(
      () => readOrigins([mapping]),
      (error) =>
        error instanceof PublishableError && error.code === 'OriginInvalid' && !/hush/.test(error.message),
      mapping,
    );
  }
});
