// The same bytes to a port with the quick way and to one without: a reader cannot tell them apart.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { systemClock } from '../../../src/runtime/clock.ts';
import { type HttpListener, listenHttp } from '../../../src/runtime/http-listener.ts';
import { silentLogger } from '../../../src/runtime/logger.ts';
import type { AnswerPlainly } from '../../../src/runtime/plain-door.ts';
import { createBodyCache } from '../../../src/site/body-cache.ts';
import { goLive } from '../../../src/site/live-bundle.ts';
import { createLiveSite } from '../../../src/site/live-site.ts';
import { plainAnswerer } from '../../../src/site/plain-answer.ts';
import { createReadPace } from '../../../src/site/read-pace.ts';
import { siteHeaders } from '../../../src/site/reply.ts';
import { siteHandler } from '../../../src/site/site-handler.ts';
import { storedBundle } from './fixtures.ts';
import { requestBytes, requestText } from './request-bytes.ts';

const keepAliveTimeout = 75_000;
const local = { host: '127.0.0.1', port: 0 };
const now = { lingerMs: 0, graceMs: 1000 };

const text = 'a page that is worth coding. '.repeat(40);
const stored = storedBundle({
  'page.html': text,
  'a b.html': 'spaced',
  'digits.bin': '0123456789',
  'large.bin': 'x'.repeat(3 * 1024 * 1024),
  'middle.bin': 'y'.repeat(100 * 1024),
  'folder/index.html': 'in a folder',
  'hash.0123abcd.js': 'hashed',
  '404.html': `nothing here. ${text}`,
  'index.html': 'home',
});

const codedPage = 'coded by brotli, or so it seems';

interface Side {
  readonly listener: HttpListener;
  /** Statuses and body sizes, as the metrics are told. */
  readonly counted: string[];
  readonly answeredPlainly: () => number;
}

async function serve(isPlain: boolean): Promise<Side> {
  const site = createLiveSite(2);
  const bundle = goLive(stored);
  const coded = storedBundle({ 'page.html': codedPage });
  const ordinal = stored.index.files.findIndex(({ path }) => path === 'page.html');
  const form = { offset: 0, size: codedPage.length, tag: '"coded"' };
  const find = (at: number, coding: string) => (at === ordinal && coding === 'br' ? form : undefined);
  bundle.attach({ find, counts: { br: 1, gzip: 0 }, sizeBytes: form.size }, coded);
  site.swap({ bundle, version: 'v1', activatedAt: 0, provenance: 'disk' });
  const counted: string[] = [];
  const serving = {
    site,
    cache: createBodyCache(4 * 1024 * 1024),
    pace: createReadPace(systemClock),
    basePath: '',
    always: siteHeaders('Cloud'),
    countReply: (status: number, bytes: number) => counted.push(`${status} ${bytes}`),
    clock: systemClock,
    logger: silentLogger,
  };
  let plainly = 0;
  const answerPlainly = plainAnswerer(serving, keepAliveTimeout);
  const answer: AnswerPlainly = (piece, send) => {
    const isAnswered = answerPlainly(piece, send);
    if (isAnswered) plainly += 1;
    return isAnswered;
  };
  const door = { answer, silentMs: 20_000, idleMs: keepAliveTimeout, stalledMs: 60_000 };
  const options = { optimizeEmptyRequests: true, keepAliveTimeout };
  const listener = await listenHttp(
    local,
    siteHandler(serving),
    systemClock,
    options,
    isPlain ? door : undefined,
  );
  return { listener, counted, answeredPlainly: () => plainly };
}

let full: Side;
let quick: Side;
before(async () => {
  full = await serve(false);
  quick = await serve(true);
});
after(() => Promise.all([full, quick].map(({ listener }) => listener.close(now))));

const last = Buffer.from('GET /page HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');

/** Behind an answer, the parser's own refusal comes or not, by how the garbage reached it. The connection ends either way. */
const refusalBehind =
  /(.)HTTP\/1\.1 4\d\d [^\r]*\r\nDate: now\r\nCache-Control: no-store\r\nConnection: close\r\nContent-Length: 0\r\n\r\n$/s;

/** Everything that came back, without the time of day. The pieces go out one after another. */
async function talk(
  { listener, counted }: Side,
  pieces: readonly Buffer[],
  longestLookMs: number,
): Promise<string> {
  counted.length = 0;
  const socket = connect(listener.port, '127.0.0.1').setNoDelay(true);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  const parts: Buffer[] = [];
  socket.on('data', (part) => parts.push(part));
  socket.on('error', () => {});
  await once(socket, 'connect');
  for (const piece of pieces) {
    if (!socket.writable) break;
    socket.write(piece);
    // Until it is answered, or was looked at without an answer.
    await Promise.race([
      new Promise((resolve) => socket.once('data', resolve)),
      closed,
      systemClock.after(longestLookMs),
    ]);
  }
  if (socket.writable) socket.end(last);
  await closed;
  const dated = Buffer.concat(parts).toString('latin1');
  return dated.replace(/\r\nDate: [^\r]*/g, '\r\nDate: now').replace(refusalBehind, '$1');
}

/**
 * Whether a reset overtakes an answer is a matter of moments and the same for both: such a difference goes away on
 * another try, one of bytes does not.
 */
async function assertAlike(pieces: readonly Buffer[], longestLookMs = 2, tries = 5): Promise<string> {
  const [expected, actual = ''] = await Promise.all(
    [full, quick].map((side) => talk(side, pieces, longestLookMs)),
  );
  const counted = [full, quick].map((side) => side.counted.toSorted().join());
  const isAlike = actual === expected && counted[0] === counted[1];
  if (!isAlike && tries > 1) return assertAlike(pieces, longestLookMs, tries - 1);
  assert.equal(actual, expected);
  assert.equal(counted[1], counted[0]);
  return actual;
}

const request = (target: string, ...fields: readonly string[]): Buffer =>
  Buffer.from(`${[`GET ${target} HTTP/1.1`, 'Host: a', ...fields].join('\r\n')}\r\n\r\n`);

test('the usual answers come the quick way and are the same', async () => {
  const cases: readonly (readonly [Buffer, RegExp])[] = [
    [request('/page'), /^HTTP\/1\.1 200 OK\r\n/],
    [request('/page', 'Accept-Encoding: gzip, deflate, br, zstd'), /\r\nContent-Encoding: br\r\n/],
    [request('/digits.bin', 'Range: bytes=2-5'), /^HTTP\/1\.1 206 .*\r\n\r\n2345HTTP/s],
    [request('/digits.bin', 'Range: bytes=99-'), /^HTTP\/1\.1 416 /],
    [request('/page', 'If-None-Match: *'), /^HTTP\/1\.1 304 /],
    [request('/page', 'If-Match: "x"'), /^HTTP\/1\.1 412 /],
    [request('/folder?x=1'), /^HTTP\/1\.1 301 .*\r\nLocation: \.\/folder\/\?x=1\r\n/s],
    [request('/no'), /^HTTP\/1\.1 404 .*nothing here/s],
    [request('/%00'), /^HTTP\/1\.1 400 .*malformed/s],
    [request('/middle.bin'), /\r\nContent-Length: 102400\r\n/],
    [Buffer.from('HEAD /page HTTP/1.1\r\nHost: a\r\n\r\n'), /\r\n\r\nHTTP/],
  ];
  for (const [bytes, expected] of cases) {
    const before = quick.answeredPlainly();
    assert.match(await assertAlike([bytes], 10_000), expected);
    assert.equal(quick.answeredPlainly(), before + 1, `${bytes}`);
  }
});

test('what cannot be answered at once comes from the full server, and what follows it', async () => {
  const before = quick.answeredPlainly();
  await assertAlike([request('/page'), request('/large.bin'), request('/page')], 10_000);
  assert.equal(quick.answeredPlainly(), before + 1);
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

test('whatever is sent, in whatever pieces: the same bytes come back', async () => {
  const piece = fc.oneof(
    requestBytes,
    requestText.map((one) => Buffer.from(one, 'latin1')),
  );
  const parted = fc
    .tuple(
      fc.array(piece, { minLength: 1, maxLength: 3 }),
      fc.oneof(
        { arbitrary: fc.constant<number[]>([]), weight: 3 },
        { arbitrary: fc.array(fc.nat(), { minLength: 1, maxLength: 2 }), weight: 1 },
      ),
    )
    .map(([requests, cuts]) => {
      const whole = Buffer.concat(requests);
      if (cuts.length === 0) return requests;
      const places = cuts.map((cut) => cut % (whole.length + 1)).toSorted((a, b) => a - b);
      return [0, ...places].map((from, index) => whole.subarray(from, places[index] ?? whole.length));
    });
  const before = quick.answeredPlainly();
  const numRuns = 1500;
  await fc.assert(
    fc.asyncProperty(parted, (pieces) => assertAlike(pieces).then(() => {})),
    { numRuns },
  );
  assert.ok(quick.answeredPlainly() - before > numRuns / 5, `${quick.answeredPlainly() - before} plainly`);
});
