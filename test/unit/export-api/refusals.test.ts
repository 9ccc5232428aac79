// From error answers of every known shape to one typed error: codes, waits, request ids, and what no error may show.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import type { ExportApiErrorCode } from '#export-api/answers.ts';
import { apiErrorOf, codeOfStatus } from '#export-api/refusals.ts';
import type { WholeAnswer } from '#platform/http/exchange.ts';

const key = 'svc_topsecret';
const answer = (status: number, text = '', headers: Readonly<Record<string, string>> = {}): WholeAnswer => ({
  ...{ statusCode: status, headers, bytes: Buffer.from(text), isCut: false },
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

const said = (status: number, body: string): string | undefined =>
  apiErrorOf(answer(status, body), 0, key).said;

test("an export API's own words are shown, whatever member holds them", () => {
  const words = 'docs.exmaple.com is not among the domains exported here';
  for (const body of [
    JSON.stringify({ error: words }),
    JSON.stringify({ error: { code: 'unknown_domain', message: words } }),
    JSON.stringify({ message: words }),
    JSON.stringify({ type: 'about:blank', title: 'Bad Request', status: 400, detail: words }),
    JSON.stringify({ errors: [{ message: words }] }),
    JSON.stringify({ error: words, details: [{ message: words }] }),
    words,
    `${words}\n`,
  ]) {
    assert.equal(said(400, body), words, body);
    assert.match(
      apiErrorOf(answer(400, body), 0, key).message,
      /\(status 400\)\. It answered: "docs\.exmaple/,
    );
  }
  const both = said(400, JSON.stringify({ error: 'invalid', details: [{ message: 'domain: unknown' }] }));
  assert.equal(both, 'invalid; domain: unknown');
});

test('a page, XML, a long body and a body without a message are not shown', () => {
  const page = '<!DOCTYPE html><title>Bad Gateway</title>';
  const long = 'x '.repeat(512 * 1024);
  for (const body of [
    page,
    `  ${page}`,
    '<Error/>',
    long,
    `{"error":"${long}"}`,
    '',
    '{}',
    '[]',
    '7',
    '{"error":7}',
  ])
    assert.equal(said(502, body), undefined, body.slice(0, 40));
});

test('shown words are one printable line of bounded length, without keys, links, tokens and addresses', () => {
  const rows: readonly (readonly [string, RegExp | undefined])[] = [
    ['a\u202eb\u0000c\nd', /^a\\u\{202e\}b\\u\{0\}c d$/],
    ['word '.repeat(400), /^(word )+.*…$/],
    [`your key ${key} is unknown`, undefined],
    [`your key ${key.toUpperCase()} is unknown`, undefined],
    [`your key svc%5Ftopsecret is unknown`, undefined],
    [
      'see https://user:pw1@x.example.com/a?X-Amz-Signature=hush&b=1 for more',
      /^see https:\/\/\[redacted\]@x\.example\.com\/a\?\[redacted\] for more$/,
    ],
    ['token ghp_0123456789abcdefghijABCDEFGHIJ0123 expired', /^token \[redacted\] expired$/],
    ['Bearer abcdef0123456789ABCDEF is unknown', /^Bearer \[redacted\] is unknown$/],
    [
      'ask ops@example.com, your address 203.0.113.9 is blocked',
      /^ask \[redacted\], your address \[redacted\] is/,
    ],
    ['ghp_0123456789abcdefghijABCDEFGHIJ0123', undefined],
  ];
  for (const [text, wanted] of rows) {
    for (const body of [JSON.stringify({ error: text }), JSON.stringify({ message: text })]) {
      const shown = said(400, body);
      if (wanted === undefined) assert.equal(shown, undefined, text);
      else assert.match(shown ?? '', wanted);
      assert.ok((shown?.length ?? 0) <= 240);
    }
  }
  const error = apiErrorOf(answer(400, `{"error":"${key}"}`, { 'x-request-id': key }), 0, key);
  assert.doesNotMatch(JSON.stringify(error) + inspect(error) + error.message, /topsecret/);
  assert.equal(error.requestId, undefined);
});

test('Retry-After is read in both forms, and a date is compared with the Date of the same answer', () => {
  const date = 'Thu, 01 Jan 2026 00:00:00 GMT';
  const rows: readonly (readonly [Readonly<Record<string, string>>, number | undefined])[] = [
    [{ 'retry-after': '7' }, 7000],
    [{ 'retry-after': 'Thu, 01 Jan 2026 00:01:00 GMT', date }, 60_000],
    [{ 'retry-after': 'Thu, 01 Jan 1970 00:00:09 GMT' }, 9000],
    [{ 'retry-after': 'soon' }, undefined],
    [{}, undefined],
  ];
  for (const [headers, wait] of rows) {
    assert.equal(apiErrorOf(answer(429, '', headers), 0, key).retryAfterMs, wait, inspect(headers));
  }
});

test('a request id is kept when it is printable and short', () => {
  assert.equal(apiErrorOf(answer(500, '', { 'x-request-id': 'req-1.2/3' }), 0, key).requestId, 'req-1.2/3');
  assert.equal(apiErrorOf(answer(500, '', { 'x-request-id': 'a b' }), 0, key).requestId, undefined);
  assert.equal(apiErrorOf(answer(500, '', { 'x-request-id': 'a'.repeat(129) }), 0, key).requestId, undefined);
});
