// Single answers: what counts as a body, a redirect or an absence; content encodings; limits after decoding.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { createOriginFetcher, type OriginAnswer } from '#export-service/crawler/origin/origin-fetcher.ts';
import { userAgent } from '#platform/runtime/version.ts';
import { createScope } from '#site/site-scope.ts';
import type { Served } from '../../../../fixtures/sites/trap-site.ts';
import { type Answering, serveSite } from '../site-server.ts';
import { steppingClock } from '../stepping-clock.ts';

const text = 'the same text, again and again. '.repeat(200);

const takeText = async (chunks: AsyncIterable<Uint8Array>): Promise<string> =>
  Buffer.concat(await Array.fromAsync(chunks)).toString();

async function getOne(
  t: Parameters<typeof serveSite>[0],
  answer: Answering,
  maxFileBytes = 100_000,
): Promise<OriginAnswer<string>> {
  const { origin } = await serveSite(t, answer);
  const limits = { concurrency: 1, requestTimeoutMs: 10_000, maxFileBytes };
  const fetcher = createOriginFetcher(createScope('docs.example.com', origin), limits, true, steppingClock());
  t.after(() => fetcher.close());
  return fetcher.get({ path: '/x', query: '?q=1' }, new AbortController().signal, takeText);
}

const encoded: readonly (readonly [string, Uint8Array])[] = [
  ['gzip', gzipSync(text)],
  ['x-gzip', gzipSync(text)],
  ['identity', Buffer.from(text)],
];
for (const [coding, body] of encoded) {
  test(`a body sent as ${coding} is decoded`, async (t) => {
    const answer = await getOne(t, () => ({
      headers: { 'content-encoding': coding, 'content-type': 'text/x' },
      body,
    }));
    assert.equal(answer.kind, 'body');
    assert.equal(answer.contentType, 'text/x');
    assert.equal(answer.body, text);
  });
}

const answers: readonly (readonly [string, Served, OriginAnswer<string>])[] = [
  ['404', { status: 404 }, { kind: 'absent', reason: 'NotFound' }],
  [
    '404 with a page of its own',
    { status: 404, body: 'x'.repeat(500_000) },
    { kind: 'absent', reason: 'NotFound' },
  ],
  ['410', { status: 410 }, { kind: 'absent', reason: 'Gone' }],
  ['401', { status: 401 }, { kind: 'absent', reason: 'AccessDenied' }],
  ['204', { status: 204 }, { kind: 'absent', reason: 'Status204' }],
  [
    'a redirect',
    { status: 302, headers: { location: '../y' } },
    { kind: 'redirect', location: '../y', cookies: [] },
  ],
  ['a redirect without a location', { status: 302 }, { kind: 'absent', reason: 'Status302' }],
];
for (const [name, served, expected] of answers) {
  test(`${name} is ${expected.kind}`, async (t) => assert.deepEqual(await getOne(t, () => served), expected));
}

for (const encoding of ['br', 'BR', 'gzip, br', 'br, aws-chunked', 'zstd', 'deflate']) {
  test(`a body with the content encoding ${encoding}, which was not requested, is a failed answer`, async (t) => {
    const named = encoding.toLowerCase().replace(', aws-chunked', '');
    await assert.rejects(
      getOne(t, () => ({ headers: { 'content-encoding': encoding }, body: brotliCompressSync(text) })),
      { code: 'OriginFailed', message: new RegExp(`content encoding ${named}, which was not requested`) },
    );
  });
}

for (const encoding of ['aws-chunked', 'utf-8', 'none', '']) {
  test(`the name "${encoding}", which is not a content encoding, is ignored, as browsers do`, async (t) => {
    const answer = await getOne(t, () => ({ headers: { 'content-encoding': encoding }, body: 'plain' }));
    assert.equal(answer.kind, 'body');
  });
}

test('the limit on a file applies to the decoded body', async (t) => {
  const body = gzipSync(Buffer.alloc(5_000_000));
  assert.ok(body.byteLength < 10_000);
  await assert.rejects(
    getOne(t, () => ({ headers: { 'content-encoding': 'gzip' }, body })),
    { code: 'FileTooLarge' },
  );
});

test('a body that cannot be decoded is a failed answer, not an empty file', async (t) => {
  const body = gzipSync(text).subarray(0, 60);
  await assert.rejects(
    getOne(t, () => ({ headers: { 'content-encoding': 'gzip' }, body })),
    { code: 'OriginFailed' },
  );
});

test('a request names its User-Agent, asks for gzip alone and keeps the query unchanged', async (t) => {
  let asked: readonly unknown[] = [];
  await getOne(t, (path, { method, headers }) => {
    asked = [method, path, headers['user-agent'], headers['accept-encoding']];
    return { body: 'x' };
  });
  assert.deepEqual(asked, ['GET', '/x?q=1', userAgent, 'gzip']);
});

test('a Retry-After of one answer delays all requests', async (t) => {
  const clock = steppingClock();
  let isFirst = true;
  const { origin } = await serveSite(t, () => {
    const served: Served = isFirst ? { status: 503, headers: { 'retry-after': '7' } } : { body: 'x' };
    isFirst = false;
    return served;
  });
  const limits = { concurrency: 2, requestTimeoutMs: 60_000, maxFileBytes: 1000 };
  const still: typeof clock = { ...clock, monotonic: () => 0, waits: clock.waits };
  const fetcher = createOriginFetcher(createScope('d', origin), limits, true, still);
  t.after(() => fetcher.close());
  const { signal } = new AbortController();
  await fetcher.get({ path: '/a', query: '' }, signal, takeText);
  // On this clock no time has passed since: the next request waits as long as was asked.
  await fetcher.get({ path: '/b', query: '' }, signal, takeText);
  assert.deepEqual(clock.waits, [7000, 7000, 7000]);
});

const locations: readonly (readonly [string, Buffer, string])[] = [
  ['UTF-8', Buffer.from('/é?q=ü'), '/é?q=ü'],
  ['Latin-1', Buffer.from('/é', 'latin1'), '/é'],
  ['escapes', Buffer.from('/%C3%A9'), '/%C3%A9'],
];
for (const [name, bytes, location] of locations) {
  test(`a Location with ${name} is read as text`, async (t) => {
    const answer = await getOne(t, (_path, { socket }, response) => {
      const head = Buffer.from('HTTP/1.1 302 Found\r\nContent-Length: 0\r\nConnection: close\r\nLocation: ');
      socket.end(Buffer.concat([head, bytes, Buffer.from('\r\n\r\n')]));
      response.destroy();
      return undefined;
    });
    assert.deepEqual(answer, { kind: 'redirect', location, cookies: [] });
  });
}
