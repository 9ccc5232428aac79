// Random requests made of pieces that servers have read in two ways: lengths that contradict each other, folded fields, bare
// line ends, pipelines, oversized and half-sent heads. How many is the caller's.

import assert from 'node:assert/strict';
import * as fc from '../../support/properties.ts';
import { sendRaw } from './raw-client.ts';

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
export const honest = 'GET /page HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';

/** Whatever comes, alone or in a pipeline: answers below 500, whole, and as many as requests at most. */
export async function fuzzRequests(port: number, numRuns: number, seed: number): Promise<void> {
  await fc.assertAsync(
    fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 3 }), async (requests) => {
      const sent = requests.join('') + honest;
      const text = await sendRaw(port, sent, 'and-leave');
      const answers = readAnswers(text);
      // Bodies that hold requests of their own may be read as such; each needs a request line.
      const requestLines = sent.match(/HTTP\/\d/gi)?.length ?? 0;
      assert.ok(answers.length <= requestLines + requests.length, `${answers.length} answers`);
      for (const status of answers) assert.ok(status >= 100 && status < 500, `${status}`);
    }),
    { numRuns, seed },
  );
}

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
