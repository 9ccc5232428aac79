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

const mapping = 'docs.example.com=http://127.0.0.1:4000';

test('headers are sent to the origin of their domain alone', () => {
  const origins = readOrigins(
    [mapping, 'b.example.com=http://127.0.0.1:5000'],
    ['docs.example.com=Host: docs.example.com', 'Docs.example.com=Authorization:Basic aHVzaA==, b=c'],
  );
  assert.deepEqual(originOf(origins, 'docs.example.com')?.headers, {
    host: 'docs.example.com',
    authorization: 'Basic aHVzaA==, b=c',
  });
  assert.deepEqual(originOf(origins, 'b.example.com')?.headers, {});
  assert.deepEqual(originOf(readOrigins([]), 'docs.example.com')?.headers, {});
});

test('an invalid header is refused without repeating its value', () => {
  const rows: readonly (readonly [readonly string[], RegExp])[] = [
    [['Host: hush'], /DOMAIN=NAME: VALUE/],
    [['docs.example.com=hush'], /DOMAIN=NAME: VALUE/],
    [['docs.example.com=X-Key:'], /DOMAIN=NAME: VALUE/],
    [['docs.example.com=X Key: hush'], /DOMAIN=NAME: VALUE/],
    [['docs.example.com=X-Key: hush\u0007'], /DOMAIN=NAME: VALUE/],
    [['other.example.com=X-Key: hush'], /other\.example\.com, which no --origin names/],
    [['docs.example.com=X-Key: hush', 'docs.example.com=x-key: hush'], /x-key of docs\.example\.com twice/],
    [['docs.example.com=Accept-Encoding: hush'], /accept-encoding; the crawler sets that header itself/],
  ];
  for (const [headers, message] of rows) {
    assert.throws(
      () => readOrigins([mapping], headers),
      (error) => {
        assert.ok(error instanceof PublishableError);
        assert.equal(error.code, 'OriginHeaderInvalid');
        assert.match(error.message, message);
        assert.doesNotMatch(error.message, /hush/);
        return true;
      },
    );
  }
});

test('robots.txt can be ignored for a domain with a named origin only', () => {
  const origins = readOrigins([mapping, 'b.example.com=http://127.0.0.1:5000'], [], ['Docs.example.com']);
  assert.equal(originOf(origins, 'docs.example.com')?.ignoresRobots, true);
  assert.equal(originOf(origins, 'b.example.com')?.ignoresRobots, false);
  assert.equal(originOf(readOrigins([]), 'docs.example.com')?.ignoresRobots, false);
  assert.throws(() => readOrigins([mapping], [], ['other.example.com']), { code: 'IgnoreRobotsInvalid' });
});
