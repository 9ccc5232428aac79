// The same bytes to a port with the quick way and to one without: a reader cannot tell them apart.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { isAlike, openTwinPorts, pipelines, type TwinPorts, talk } from '../../../fuzz/twin-ports.ts';
import * as fc from '../../../support/properties.ts';

let twins: TwinPorts;
/** Of a disk that is slow: a thread reads each body. */
let slowTwins: TwinPorts;
before(async () => {
  twins = await openTwinPorts();
  slowTwins = await openTwinPorts({ isQuick: () => false, measure: () => assert.fail('read at once') });
});
after(() => Promise.all([twins.close(), slowTwins.close()]));

/** Sent again where a connection was reset: its client may have lost the end of the answers, or all of them. */
async function assertAlike(pieces: readonly Buffer[], { of = twins, tries = 5 } = {}): Promise<string> {
  const { full, quick } = of;
  full.counted.length = 0;
  quick.counted.length = 0;
  const [one, other] = [await talk(full, pieces), await talk(quick, pieces)];
  const counted = [full, quick].map((side) => side.counted.toSorted().join());
  const isSame = isAlike(one, other) && counted[0] === counted[1];
  if (!isSame && (one.wasReset || other.wasReset) && tries > 1)
    return assertAlike(pieces, { of, tries: tries - 1 });
  if (!isAlike(one, other)) assert.equal(other.text, one.text);
  assert.equal(counted[1], counted[0]);
  return other.text;
}

const request = (target: string, ...fields: readonly string[]): Buffer =>
  Buffer.from(`${[`GET ${target} HTTP/1.1`, 'Host: a', ...fields].join('\r\n')}\r\n\r\n`);

/** A request, and what its answer has. */
const cases: readonly (readonly [Buffer, RegExp])[] = [
  [request('/page'), /^HTTP\/1\.1 200 OK\r\n/],
  [request('/page', 'Accept-Encoding: gzip, deflate, br, zstd'), /\r\nContent-Encoding: br\r\n/],
  [request('/digits.bin', 'Range: bytes=2-5'), /^HTTP\/1\.1 206 .*\r\n\r\n2345HTTP/s],
  [request('/digits.bin', 'Range: bytes=99-'), /^HTTP\/1\.1 416 /],
  [request('/page', 'If-None-Match: *'), /^HTTP\/1\.1 304 /],
  [request('/page', 'If-Match: "x"'), /^HTTP\/1\.1 412 /],
  [request('/folder?x=1'), /^HTTP\/1\.1 301 .*\r\nLocation: \.\/folder\/\?x=1\r\n/s],
  [request('/no'), /^HTTP\/1\.1 404 .*nothing here/s],
  [request('/_sx/search/none?q=a'), /^HTTP\/1\.1 204 No Content\r\nCache-Control: no-store\r\n/],
  [request('/%00'), /^HTTP\/1\.1 400 .*malformed/s],
  [request('/middle.bin'), /\r\nContent-Length: 102400\r\n/],
  [request('/waited.bin'), /\r\nContent-Length: 307200\r\n/],
  [Buffer.from('HEAD /page HTTP/1.1\r\nHost: a\r\n\r\n'), /\r\n\r\nHTTP/],
];

test('usual requests are answered on the fast path with the same bytes', async () => {
  for (const [bytes, expected] of cases) {
    const before = twins.quick.answeredPlainly();
    assert.match(await assertAlike([bytes]), expected);
    assert.equal(twins.quick.answeredPlainly(), before + 1, `${bytes}`);
  }
});

test('a body that a thread reads is waited for on the fast path, and is the same', async () => {
  for (const [bytes, expected] of [...cases, ...cases]) {
    const before = slowTwins.quick.answeredPlainly();
    assert.match(await assertAlike([bytes], { of: slowTwins }), expected);
    assert.equal(slowTwins.quick.answeredPlainly(), before + 1, `${bytes}`);
  }
});

test('what readers do not find is noted once on each way, with the field that says where a search came from', async () => {
  const search = '/_sx/search/none?q=a';
  const rows: readonly (readonly [Buffer, string])[] = [
    [request('/no?x=1'), 'missing /no?x=1'],
    [Buffer.from('HEAD /no HTTP/1.1\r\nHost: a\r\n\r\n'), 'missing /no'],
    [request(search), `search ${search} undefined`],
    [request(search, 'Sec-Fetch-Site:  same-origin '), `search ${search} same-origin`],
    [
      request(search, 'sec-fetch-site: same-origin', 'SEC-FETCH-SITE: cross-site'),
      `search ${search} same-origin, cross-site`,
    ],
    [request(search, 'X-Sec-Fetch-Site: same-origin'), `search ${search} undefined`],
  ];
  for (const [bytes, noted] of rows) {
    await assertAlike([bytes]);
    assert.deepEqual(
      twins.quick.counted.filter((one) => /^(?:missing|search)/.test(one)),
      [noted],
    );
  }
  for (const bytes of [request('/page'), Buffer.from(`HEAD ${search} HTTP/1.1\r\nHost: a\r\n\r\n`)]) {
    await assertAlike([bytes]);
    assert.deepEqual(
      twins.quick.counted.filter((one) => /^(?:missing|search)/.test(one)),
      [],
    );
  }
});

test('a file that is sent in pieces goes to the full server, with all that follows', async () => {
  const before = twins.quick.answeredPlainly();
  await assertAlike([request('/page'), request('/large.bin'), request('/page')]);
  assert.equal(twins.quick.answeredPlainly(), before + 1);
});

test('a request in two parts, wherever it is parted, and one behind it', async () => {
  const bytes = request('/page', 'Accept-Encoding: br');
  for (let at = 1; at < bytes.length; at += 1) {
    await assertAlike([request('/digits.bin'), bytes.subarray(0, at), bytes.subarray(at), request('/no')]);
  }
});

test('a pipeline of requests gets its answers in order', async () => {
  const many = Buffer.concat(['/page', '/digits.bin', '/no', '/folder', '/page'].map((one) => request(one)));
  const answers = await assertAlike([request('/page'), many]);
  assert.equal(answers.match(/HTTP\/1\.1 \d/g)?.length, 7);
});

const statusesOf = (text: string): string =>
  [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status).join();

test('a byte behind a body that was announced is refused, after the answer and on both ways', async () => {
  const rows: readonly (readonly [string, string, string])[] = [
    ['GET /page', 'abcd', '200,400'],
    ['GET /page', 'abc\0', '200,400'],
    ['GET /page', 'abc\r\nx', '200,400'],
    ['GET /large.bin', 'abcd', '200,400'],
    ['HEAD /no', 'abcd', '404,400'],
    ['GET /page', 'abc', '200,200'],
    ['GET /page', 'abc\r\n', '200,200'],
    ['GET /page', `abc${request('/digits.bin')}`, '200,200,200'],
    ['POST /page', 'abcd', '405'],
    // What follows a last answer is neither answered nor counted as answered.
    ['POST /page', `abc${request('/digits.bin')}`, '405'],
  ];
  for (const [line, content, statuses] of rows) {
    const head = Buffer.from(`${line} HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n`);
    const body = Buffer.from(content, 'latin1');
    for (const pieces of [[Buffer.concat([head, body])], [head, body]]) {
      assert.equal(statusesOf(await assertAlike(pieces)), statuses, `${line} ${content}`);
      assert.equal(statusesOf(await assertAlike([request('/page'), ...pieces])), `200,${statuses}`, line);
    }
  }
});

test('whatever is sent while a thread reads each body: the same bytes come back', async () => {
  const property = fc.asyncProperty(pipelines, (pieces) =>
    assertAlike(pieces, { of: slowTwins }).then(() => {}),
  );
  await fc.assertAsync(property, { numRuns: 300 });
});

test('whatever is sent, in whatever pieces: the same bytes come back', async () => {
  const before = twins.quick.answeredPlainly();
  const numRuns = 1500;
  await fc.assertAsync(
    fc.asyncProperty(pipelines, (pieces) => assertAlike(pieces).then(() => {})),
    { numRuns },
  );
  assert.ok(
    twins.quick.answeredPlainly() - before > numRuns / 5,
    `${twins.quick.answeredPlainly() - before} plainly`,
  );
});
