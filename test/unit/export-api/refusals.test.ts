// From error answers of every known shape to one typed error: codes, waits, excerpts, and what may not show.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import fc from 'fast-check';
import type { ExportApiErrorCode } from '../../../src/export-api/answers.ts';
import { type Answer, codeOfStatus, excerptOf, refusalOf } from '../../../src/export-api/refusals.ts';

const key = 'svc_topsecret';
const answer = (status: number, text = '', headers: Readonly<Record<string, string>> = {}): Answer => ({
  status,
  text,
  headers: new Map(Object.entries(headers)),
});

test('each status has its code', () => {
  const rows: readonly (readonly [number, ExportApiErrorCode])[] = [
    [301, 'UnexpectedAnswer'],
    [307, 'UnexpectedAnswer'],
    [400, 'BadRequest'],
    [401, 'Unauthorized'],
    [402, 'BadRequest'],
    [403, 'Forbidden'],
    [404, 'NotFound'],
    [405, 'BadRequest'],
    [408, 'RequestTimeout'],
    [409, 'Conflict'],
    [410, 'Gone'],
    [422, 'BadRequest'],
    [429, 'RateLimited'],
    [500, 'ServerError'],
    [503, 'ServerError'],
    [599, 'ServerError'],
  ];
  for (const [status, code] of rows) assert.equal(codeOfStatus(status), code, String(status));
});

test('an excerpt is found in error bodies of every known shape', () => {
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['{"error":"no such domain"}', 'no such domain'],
    [
      '{"error":"bad","details":[{"message":"limit too large"},{"message":"odd"}]}',
      'bad: limit too large: odd',
    ],
    ['{"error":{"code":3,"message":"inner"}}', 'inner'],
    ['{"message":"plain message"}', 'plain message'],
    ['{"type":"about:blank","title":"Not found","detail":"job is gone"}', 'Not found: job is gone'],
    [
      '<?xml version="1.0"?><Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>',
      'Request has expired',
    ],
    ['<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head></html>', '502 Bad Gateway'],
    ['<html><body>no title</body></html>', undefined],
    ['upstream connect error', 'upstream connect error'],
    ['{"error":null}', undefined],
    ['', undefined],
    ['   \n', undefined],
  ];
  for (const [text, excerpt] of rows) assert.equal(excerptOf(text, key), excerpt, text);
});

test('an excerpt is one bounded line without keys, links and long tokens', () => {
  const said = `first\nsecond \u001b[31m ${key} Bearer abc123 https://b.example.com/x?signature=1 ${'f'.repeat(64)} svc_other`;
  const excerpt = excerptOf(JSON.stringify({ error: said }), key) ?? '';
  assert.match(excerpt, /^first second/);
  assert.doesNotMatch(excerpt, /topsecret|abc123|signature|ffff|svc_other|\p{Cc}/u);
  assert.ok((excerptOf('word '.repeat(1000), key) ?? '').length <= 200);
});

test('neither message nor any visible property repeats what the service said', () => {
  const error = refusalOf(
    answer(400, `{"error":"${key} https://x.example.com/?signature=hush words of theirs"}`, {
      'x-request-id': key,
    }),
    0,
    key,
  );
  assert.doesNotMatch(
    JSON.stringify(error) + inspect(error) + error.message,
    /topsecret|hush|words of theirs/,
  );
  assert.equal(error.requestId, undefined);
  assert.match(error.excerpt ?? '', /words of theirs/);
});

test('the wait is read in both forms, a date by the clock of the service that wrote it', () => {
  const date = 'Thu, 01 Jan 2026 00:00:00 GMT';
  const rows: readonly (readonly [Readonly<Record<string, string>>, number | undefined])[] = [
    [{ 'retry-after': '7' }, 7000],
    [{ 'retry-after': 'Thu, 01 Jan 2026 00:01:00 GMT', date }, 60_000],
    [{ 'retry-after': 'Thu, 01 Jan 1970 00:00:09 GMT' }, 9000],
    [{ 'retry-after': 'soon' }, undefined],
    [{}, undefined],
  ];
  for (const [headers, wait] of rows) {
    assert.equal(refusalOf(answer(429, '', headers), 0, key).retryAfterMs, wait, inspect(headers));
  }
});

test('a request id is kept when it is printable and short', () => {
  assert.equal(refusalOf(answer(500, '', { 'x-request-id': 'req-1.2/3' }), 0, key).requestId, 'req-1.2/3');
  assert.equal(refusalOf(answer(500, '', { 'x-request-id': 'a b' }), 0, key).requestId, undefined);
  assert.equal(refusalOf(answer(500, '', { 'x-request-id': 'a'.repeat(129) }), 0, key).requestId, undefined);
});

test('any text gives an excerpt of at most one line of 200 characters, or none', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.json()), (text) => {
      const excerpt = excerptOf(text, key);
      assert.ok(excerpt === undefined || (excerpt.length <= 200 && /^[^\n\r\0]+$/.test(excerpt)));
    }),
  );
});
