// Parsing of job answers, as tables: ids, states, percentages, counts and links.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import {
  isIdentifier,
  readCount,
  readIssuedLink,
  readJobId,
  readJobReport,
  readPercent,
} from '#export-api/job-answers.ts';
import * as fc from '../../support/properties.ts';

test('progress is read as percent from numbers, ratios and text', () => {
  const rows: readonly (readonly [unknown, number | undefined])[] = [
    [0, 0],
    [42, 42],
    [42.556, 42.56],
    [100, 100],
    [1, 1],
    [0.42, 42],
    [0.999, 99.9],
    [101, 100],
    [-3, 0],
    [Number.NaN, undefined],
    [Number.POSITIVE_INFINITY, 100],
    ['42', 42],
    ['42%', 42],
    [' 42.5 % ', 42.5],
    ['0.42', 42],
    ['0.42%', 0.42],
    ['3/10', 30],
    ['3 of 10', 30],
    ['0/0', undefined],
    ['5/0', 100],
    ['almost', undefined],
    ['', undefined],
    [null, undefined],
    [undefined, undefined],
    [{ percent: 3 }, undefined],
    [[50], undefined],
    [true, undefined],
  ];
  for (const [value, percent] of rows) assert.equal(readPercent(value), percent, inspect(value));
});

test("a failed job has the export API's own words, and no other job has", () => {
  const error = 'navigation is broken in docs.json line 12';
  for (const body of [{ error }, { error: { message: error } }, { message: error }]) {
    assert.equal(readJobReport({ status: 'failed', ...body })?.said, error);
    assert.equal(readJobReport({ status: 'running', ...body })?.said, undefined);
  }
  assert.equal(
    readJobReport({ status: 'failed', error: 'no svc_topsecret' }, 'svc_topsecret')?.said,
    undefined,
  );
});

test('a page count is a whole number of at least zero, as number or text', () => {
  const rows: readonly (readonly [unknown, number | undefined])[] = [
    [0, 0],
    [12, 12],
    [12.9, 12],
    [' 12 ', 12],
    [-1, undefined],
    ['-1', undefined],
    ['12 pages', undefined],
    [Number.NaN, undefined],
    [1e300, undefined],
    [null, undefined],
    [{}, undefined],
  ];
  for (const [value, count] of rows) assert.equal(readCount(value), count, inspect(value));
});

test('only completed and failed end a job, in any case; other states are unfinished and kept, with hidden characters escaped', () => {
  const rows = [
    [{ status: 'completed' }, 'completed', 'completed'],
    [{ status: 'Completed ' }, 'completed', 'Completed'],
    [{ status: { code: 'COMPLETED' } }, 'completed', 'COMPLETED'],
    [{ status: 'FAILED' }, 'failed', 'FAILED'],
    [{ status: 'complete' }, 'unfinished', 'complete'],
    [{ status: 'succeeded' }, 'unfinished', 'succeeded'],
    [{ status: 'cancelled' }, 'unfinished', 'cancelled'],
    [{ status: 'packing\u0000 \u001b[31mup' }, 'unfinished', 'packing\\u{0} \\u{1b}[31mup'],
    [{ status: 'completed\u200b' }, 'unfinished', 'completed\\u{200b}'],
    [{ status: 'x'.repeat(200) }, 'unfinished', `${'x'.repeat(63)}…`],
    [{ status: 7 }, 'unfinished', 'unknown'],
    [{ status: null }, 'unfinished', 'unknown'],
    [{}, 'unfinished', 'unknown'],
  ] as const;
  for (const [body, outcome, state] of rows) {
    const report = readJobReport(body);
    assert.equal(report?.outcome, outcome, inspect(body));
    assert.equal(report?.state, state, inspect(body));
    assert.equal(report?.raw, body);
  }
});

test('an answer that is not a JSON object is not a job', () => {
  for (const body of [undefined, null, 'completed', 7, [], [{ status: 'completed' }]]) {
    assert.equal(readJobReport(body), undefined, inspect(body));
  }
});

test('a job id is opaque text that fits one path segment, else the last segment of a Location', () => {
  const rows: readonly (readonly [unknown, string | undefined, string | undefined])[] = [
    [{ jobId: 'se_0123' }, undefined, 'se_0123'],
    [{ jobId: 'a/b?c#d ü' }, undefined, 'a/b?c#d ü'],
    [{ jobId: 12 }, undefined, '12'],
    [{ jobId: 'se_\u202e0123' }, undefined, undefined],
    [{ jobId: 'se_\u20280123' }, '/v1/static-export/jobs/header', undefined],
    [undefined, '/v1/static-export/jobs/se_%E2%80%AE', undefined],
    [{ jobId: 'body' }, '/v1/static-export/jobs/header', 'body'],
    [undefined, 'https://api.example.com/x/v1/static-export/jobs/a%2Fb', 'a/b'],
    [{}, '/v1/static-export/jobs/%', undefined],
    [{}, '/elsewhere/7', undefined],
    [{ jobId: '' }, undefined, undefined],
    [{ jobId: '..' }, undefined, undefined],
    [{ jobId: 'a\nb' }, undefined, undefined],
    [{ jobId: '\ud800' }, undefined, undefined],
    [{ jobId: 'x'.repeat(513) }, undefined, undefined],
    [{ jobId: null }, undefined, undefined],
    ['null', undefined, undefined],
  ];
  for (const [body, location, jobId] of rows) {
    assert.equal(readJobId(body, location), jobId, inspect([body, location]));
  }
});

test('every identifier can be a path segment', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 600 }), (id) => {
      if (!isIdentifier(id)) return;
      const url = new URL(`/jobs/${encodeURIComponent(id)}/bundle`, 'http://api.example.com');
      assert.equal(decodeURIComponent(url.pathname.split('/')[2] ?? ''), id);
      assert.equal(url.pathname.split('/').length, 4);
    }),
  );
});

test('a link is an absolute http(s) URL; a file from a service is refused', () => {
  const rows: readonly (readonly [unknown, boolean])[] = [
    ['https://bucket.example.com/bundle.tar.gz?X-Amz-Signature=1', true],
    ['http://127.0.0.1:9000/b', true],
    ['file:///etc/passwd', false],
    ['/bundles/1', false],
    ['null', false],
    ['', false],
    [null, false],
    [{}, false],
  ];
  for (const [bundleUrl, isLink] of rows) {
    assert.equal(readIssuedLink({ bundleUrl }, undefined) !== undefined, isLink, inspect(bundleUrl));
  }
});

test('neither JSON nor inspection shows an issued link', () => {
  const body = {
    bundleUrl: 'https://b.example.com/x?signature=hush',
    expiresAt: '2026-01-01T00:00:00Z',
    more: 1,
  };
  const issued = readIssuedLink(body, 5);
  assert.ok(issued);
  assert.doesNotMatch(JSON.stringify(issued) + inspect(issued, { depth: 9 }), /hush/);
  assert.equal(issued.link.reveal(), body.bundleUrl);
  assert.equal(issued.expiresAt, Date.UTC(2026, 0, 1));
  assert.equal(issued.serverDate, 5);
});

test('a link keeps the length of its archive where it is a whole number of at least 1', () => {
  const rows: readonly (readonly [unknown, number | undefined])[] = [
    [4096, 4096],
    ['4096', 4096],
    [0, undefined],
    [-1, undefined],
    ['4 KB', undefined],
    [null, undefined],
    [undefined, undefined],
  ];
  for (const [sizeBytes, expected] of rows) {
    const issued = readIssuedLink({ bundleUrl: 'https://b.example.com/x', sizeBytes }, undefined);
    assert.equal(issued?.link.claimedBytes, expected, inspect(sizeBytes));
    assert.equal(issued?.link.validUntil(1).inState('x').claimedBytes, expected);
  }
});

test('no JSON makes a reader throw', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.option(fc.string(), { nil: undefined }), (body, location) => {
      readJobId(body, location);
      readJobReport(body);
      readIssuedLink(body, undefined);
    }),
  );
});
