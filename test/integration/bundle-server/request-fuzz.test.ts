// Raw requests made of pieces that servers have read in two ways: lengths that contradict each other, folded fields,
// bare line ends, pipelines, oversized and half-sent heads. A fixed sample here; REQUEST_FUZZ_RUNS=20000 for more,
// REQUEST_FUZZ_SEED to repeat one.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { eventually } from '../../support/eventually.ts';
import * as fc from '../../support/properties.ts';
import {
  type ConformanceSite,
  exchange,
  page,
  serveConformanceSite,
} from './conformance/conformance-site.ts';
import { sendRaw } from './raw-client.ts';

const numRuns = Number(process.env['REQUEST_FUZZ_RUNS'] ?? '400');
const seed = Number(process.env['REQUEST_FUZZ_SEED'] ?? '20261121');

let site: ConformanceSite;
let pid = 0;
before(async () => {
  site = await serveConformanceSite();
  pid = site.served.child().pid;
});
after(() => site.remove());

const lineEnd = fc.constantFrom('\r\n', '\r\n', '\r\n', '\r\n', '\n', '\r', '\r\n ', '\r\n\t', '');
const method = fc.constantFrom(
  'GET',
  'GET',
  'GET',
  'HEAD',
  'POST',
  'OPTIONS',
  'CONNECT',
  'PRI',
  'get',
  'G\0T',
  '',
);
const target = fc.constantFrom(
  ...[
    '/',
    '/page',
    '/digits.bin',
    '/folder',
    '/no',
    '*',
    '//',
    '/%00',
    '/..',
    'http://a/page',
    'a:443',
    '?',
    '/ page',
  ],
  `/${'a'.repeat(9000)}`,
);
const version = fc.constantFrom(
  'HTTP/1.1',
  'HTTP/1.1',
  'HTTP/1.1',
  'HTTP/1.0',
  'HTTP/2.0',
  'HTTP/1.',
  'http/1.1',
  '',
);
const field = fc.constantFrom(
  'Host: a',
  'Host: a',
  'Host: b',
  'Host : a',
  ' Host: a',
  'Content-Length: 0',
  'Content-Length: 5',
  'Content-Length: +5',
  'Content-Length: 5, 5',
  'Content-Length: 0x5',
  'Content-Length: 99999999999999999999',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: chunked, identity',
  'Transfer-Encoding:\x0bchunked',
  'Transfer-Encoding: xchunked',
  'Transfer\u00ad-Encoding: chunked',
  'Connection: close',
  'Connection: keep-alive, Content-Length',
  'Expect: 100-continue',
  'Upgrade: h2c',
  'Trailer: Host',
  'Range: bytes=0-3',
  'Accept-Encoding: br',
  'If-None-Match: *',
  'X: \0',
  'X: \u00ff',
  ': empty',
  'no-colon',
  `X: ${'y'.repeat(17_000)}`,
);
const content = fc.constantFrom(
  '',
  '',
  'hello',
  '0\r\n\r\n',
  '5\r\nhello\r\n0\r\n\r\n',
  '5;x=y\r\nhello\r\n',
  'fffffffff\r\n',
  '-1\r\n',
);

const request = fc
  .record({
    method,
    target,
    version,
    fields: fc.array(field, { maxLength: 5 }),
    ends: fc.array(lineEnd, { minLength: 6, maxLength: 6 }),
    content,
  })
  .map(({ method, target, version, fields, ends, content }) => {
    const lines = [`${method} ${target} ${version}`, ...fields];
    return `${lines.map((line, at) => line + (ends[at] ?? '\r\n')).join('')}\r\n${content}`;
  });

/** A request that is as it should be, for a page that can be told from all others. */
const honest = 'GET /page HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';

const options = { numRuns, seed };

test('whatever comes, alone or in a pipeline: answers below 500, whole, and as many as requests at most', async () => {
  await fc.assertAsync(
    fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 3 }), async (requests) => {
      const sent = requests.join('') + honest;
      const text = await sendRaw(site.port, sent, 'and-leave');
      const answers = readAnswers(text);
      // Bodies that hold requests of their own may be read as such; each needs a request line.
      const requestLines = sent.match(/HTTP\/\d/gi)?.length ?? 0;
      assert.ok(answers.length <= requestLines + requests.length, `${answers.length} answers`);
      for (const status of answers) assert.ok(status >= 100 && status < 500, `${status}`);
    }),
    options,
  );
});

/** Walks from answer to answer by what each announces; a body that is cut or too long shows as a torn head. */
function readAnswers(text: string): readonly number[] {
  const statuses: number[] = [];
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf('\r\n\r\n', at);
    const head = text.slice(at, end < 0 ? undefined : end);
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1]);
    assert.ok(status > 0 && end >= 0, `not a head: ${JSON.stringify(head.slice(0, 80))}`);
    statuses.push(status);
    at = end + 4;
    // The parser's own refusals are the only answers in chunks, and they are empty.
    if (/\r\nTransfer-Encoding: chunked/i.test(head)) at = text.indexOf('0\r\n\r\n', at) + 5;
    const length = Number(/\r\nContent-Length: (\d+)/i.exec(head)?.[1] ?? 0);
    // A HEAD has the length and no content: the next head, or the end, follows at once.
    const isBodiless =
      status === 304 || status < 200 || at === text.length || text.startsWith('HTTP/1.1 ', at);
    if (!isBodiless) at += length;
    assert.ok(at <= text.length, 'a body was cut');
  }
  return statuses;
}

test('smuggled requests are refused with the connection, never answered as the next one', async () => {
  const inner = 'GET /digits.bin HTTP/1.1\r\nHost: a\r\n\r\n';
  const shapes = [
    [
      'CL.TE',
      `POST /page HTTP/1.1\r\nHost: a\r\nContent-Length: ${inner.length + 5}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${inner}`,
    ],
    [
      'TE.CL',
      `POST /page HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n5c\r\n${inner}\r\n0\r\n\r\n`,
    ],
    [
      'TE.TE',
      `POST /page HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${inner}`,
    ],
    [
      'two lengths',
      `GET /page HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nContent-Length: ${inner.length}\r\n\r\n${inner}`,
    ],
    ['a length in hexadecimal', `GET /page HTTP/1.1\r\nHost: a\r\nContent-Length: 0x0\r\n\r\n${inner}`],
    [
      'space before the colon',
      `GET /page HTTP/1.1\r\nHost: a\r\nContent-Length : ${inner.length}\r\n\r\n${inner}`,
    ],
    ['bare LF', `GET /page HTTP/1.1\nHost: a\nX: y\n\n${inner}`],
    [
      'chunk extension with LF',
      `POST /page HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0;\n\r\n\r\n${inner}`,
    ],
    ['after a method without rights', `POST /page HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n${inner}`],
  ] as const;
  for (const [name, sent] of shapes) {
    const text = await sendRaw(site.port, sent, 'and-leave');
    assert.ok(!text.includes('0123456789'), `${name}: ${text.slice(0, 60)}`);
  }
});

test('half-sent and slow requests delay no other request', async () => {
  const waiting = Array.from({ length: 100 }, (_, at) => {
    const socket = connect(site.port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write(honest.slice(0, at % honest.length));
    return socket;
  });
  try {
    await Promise.all(waiting.map((socket) => (socket.connecting ? once(socket, 'connect') : undefined)));
    const answer = await exchange(site.port, honest.trimEnd().split('\r\n'));
    assert.equal(answer.status, 200);
    const [slow] = waiting.slice(-1);
    assert.ok(slow !== undefined);
    // A byte at a time, each seen out before the next: late is not wrong.
    const rest = honest.slice(99 % honest.length);
    const parts: string[] = [];
    slow.on('data', (part) => parts.push(part.toString('latin1')));
    for (const byte of rest) await new Promise((resolve) => slow.write(byte, resolve));
    await once(slow, 'close');
    assert.ok(parts.join('').endsWith(page));
  } finally {
    for (const socket of waiting) socket.destroy();
  }
});

test('after all of it: the same process, no open connection left, no fault in its log, the same page', async () => {
  assert.equal(site.served.child().pid, pid);
  assert.equal(site.served.child().hasExited(), false);
  assert.ok((await exchange(site.port, honest.trimEnd().split('\r\n'))).body === page);
  assert.doesNotMatch(site.served.output(), /"level":"(warn|error)"/);
  await eventually('no request is left open', async () => {
    const metrics = await (await fetch(`${site.served.admin}/metrics`)).text();
    const sockets = Number(/^nodejs_active_resources\{type="TCPSocketWrap"\} (\d+)/m.exec(metrics)?.[1] ?? 0);
    return sockets <= 3 ? true : undefined;
  });
});
