// The words of another service: what is left of them for a person, and which bodies hold none.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { excerptOf, longestExcerpt, messageIn } from '#platform/wire/foreign-words.ts';
import { readJson } from '#platform/wire/json-text.ts';

test('an excerpt is one printable line, without tokens, addresses and queries of links', () => {
  for (const [text, excerpt] of [
    ['docs.exmaple.com is\n not exported  here', 'docs.exmaple.com is not exported here'],
    ['key sk-proj-abcdefghijklmnopqrstuvwx1234567890 is revoked', 'key [redacted] is revoked'],
    ['no plan for ops@example.com at 10.1.2.3', 'no plan for [redacted] at [redacted]'],
    ['see https://user:pw@api.example.com/a?key=1#b', 'see https://[redacted]@api.example.com/a?[redacted]'],
    ['ops@example.com', undefined],
    [' \n ', undefined],
  ] as const) {
    assert.equal(excerptOf(text), excerpt);
  }
  assert.ok((excerptOf('word '.repeat(1000))?.length ?? 0) <= longestExcerpt);
  assert.match(excerptOf('a\u202eb') ?? '', /^a[^\u202e]*b$/);
});

test('the message of a body is in the usual members, and a page, XML or a long text has none', () => {
  for (const [body, message] of [
    ['{"error":{"message":"no such domain"}}', 'no such domain'],
    ['{"title":"Bad Request","detail":"no such domain"}', 'no such domain'],
    ['{"message":"invalid","errors":[{"message":"domain"},{"message":"pages"}]}', 'invalid; domain; pages'],
    ['plain text', 'plain text'],
    ['<html>no</html>', undefined],
    ['x'.repeat(10_000), undefined],
    ['{"ok":true}', undefined],
  ] as const) {
    assert.equal(messageIn(body, readJson(body)), message);
  }
});
