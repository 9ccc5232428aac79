// From error answers of every known shape to one typed error: codes, waits, request ids, and what no error may show.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import type { ExportApiErrorCode } from '../../../src/export-api/answers.ts';
import { type Answer, codeOfStatus, refusalOf } from '../../../src/export-api/refusals.ts';

const key = 'svc_topsecret';
const answer = (status: number, text = '', headers: Readonly<Record<string, string>> = {}): Answer => ({
  status,
  body: Buffer.from(text),
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

test('no message and no property repeats the text of the answer', () => {
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
    assert.equal(refusalOf(answer(429, '', headers), 0, key).retryAfterMs, wait, inspect(headers));
  }
});

test('a request id is kept when it is printable and short', () => {
  assert.equal(refusalOf(answer(500, '', { 'x-request-id': 'req-1.2/3' }), 0, key).requestId, 'req-1.2/3');
  assert.equal(refusalOf(answer(500, '', { 'x-request-id': 'a b' }), 0, key).requestId, undefined);
  assert.equal(refusalOf(answer(500, '', { 'x-request-id': 'a'.repeat(129) }), 0, key).requestId, undefined);
});
