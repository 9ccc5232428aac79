import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { Duplex } from 'node:stream';
import { test } from 'node:test';
import { longestPlainHead, readPlainRequest } from '#server/fast-path/plain-request.ts';
import * as fc from '../../../support/properties.ts';
import { requestBytes } from '../request-bytes.ts';

const read = readPlainRequest;
const head = (...fields: readonly string[]): string =>
  `${['GET /page HTTP/1.1', 'Host: a', ...fields].join('\r\n')}\r\n\r\n`;

test('a plain request is read with the fields that matter, their white space taken off', () => {
  assert.deepEqual(
    read(
      head(
        'user-agent: x',
        'ACCEPT-ENCODING: \t br, gzip \t',
        'Accept: text/markdown,*/*;q=0.1',
        'If-Match:"a"',
        'If-None-Match: ',
        'Range: bytes=0-1',
        'If-Range: "b"',
        'Connection: Keep-Alive',
        'Upgrade-Insecure-Requests: 1',
        'Cookie: a=b; c="d"',
        'Cookie: e=f',
      ),
    ),
    {
      method: 'GET',
      target: '/page',
      ifMatch: '"a"',
      ifNoneMatch: '',
      range: 'bytes=0-1',
      ifRange: '"b"',
      accept: 'text/markdown,*/*;q=0.1',
      acceptEncoding: 'br, gzip',
    },
  );
  assert.equal(read('HEAD /a%20b?x=1&y=/ HTTP/1.1\r\nHost: a\r\n\r\n')?.method, 'HEAD');
});

const others: readonly (readonly [string, string])[] = [
  ['nothing', ''],
  ['another method', 'POST /page HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['a method in small letters', 'get /page HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['HTTP/1.0', 'GET /page HTTP/1.0\r\nHost: a\r\n\r\n'],
  ['HTTP/0.9', 'GET /page\r\n\r\n'],
  ['an absolute target', 'GET http://a/page HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['the asterisk', 'GET * HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['a fragment', 'GET /page#x HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['two spaces', 'GET  /page HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['a tab in the request line', 'GET\t/page HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['a space after the version', 'GET /page HTTP/1.1 \r\nHost: a\r\n\r\n'],
  ['an empty line first', `\r\n${head()}`],
  ['no host', 'GET /page HTTP/1.1\r\n\r\n'],
  ['two hosts', head('Host: a')],
  [
    'more fields than a half of what the full parser takes',
    head(...Array.from({ length: 500 }, () => 'a: b')),
  ],
  ['a length', head('Content-Length: 0')],
  ['a transfer encoding', head('Transfer-Encoding: chunked')],
  ['a transfer encoding in capitals', head('TRANSFER-ENCODING: chunked')],
  ['an expectation', head('Expect: 100-continue')],
  ['an upgrade', head('Upgrade: h2c')],
  ['the last request', head('Connection: close')],
  ['a connection that names fields', head('Connection: keep-alive, Upgrade')],
  ['two connections', head('Connection: keep-alive', 'Connection: keep-alive')],
  ["a proxy's connection", head('Proxy-Connection: keep-alive')],
  ['trailers', head('TE: trailers')],
  ['two ranges', head('Range: bytes=0-1', 'Range: bytes=2-3')],
  ['two lists of tags', head('If-None-Match: "a"', 'If-None-Match: "b"')],
  ['a folded field', head('X: a\r\n b')],
  ['a space before the colon', head('X : a')],
  ['no colon', head('X')],
  ['no name', head(': a')],
  ['a bare line feed', 'GET /page HTTP/1.1\nHost: a\n\n'],
  ['a bare line feed in a field', head('X: a\nContent-Length: 5')],
  ['a bare carriage return in a field', head('X: a\rb')],
  ['a control', head('X: \x00')],
  ['a delete', head('X: \x7f')],
  ['a byte beyond ASCII', head('X: é')],
  ['a byte beyond ASCII in a name', head('Transfer\xad-Encoding: chunked')],
  ['a second request', head() + head()],
  ['a body', `${head()}x`],
  ['a head without its end', head().slice(0, -1)],
  ['a long head', head(`X: ${'x'.repeat(longestPlainHead)}`)],
];
for (const [what, text] of others) {
  test(`left to the full parser: ${what}`, () => assert.equal(read(text), undefined));
}

test('no part of a plain request is one', () => {
  const whole = head('Accept-Encoding: br');
  assert.ok(read(whole));
  for (let at = 0; at < whole.length; at += 1) {
    assert.equal(read(whole.slice(0, at)), undefined, `up to ${at}`);
    assert.equal(at === 0 ? undefined : read(whole.slice(at)), undefined, `from ${at}`);
  }
});

/** What Node's own parser makes of the bytes: requests with their bodies, or the code of its refusal. */
async function fullParser(bytes: Buffer): Promise<readonly (readonly [IncomingMessage, number])[] | string> {
  const requests: [IncomingMessage, number][] = [];
  let refusal: string | undefined;
  const server = createServer((request, response) => {
    const counted: [IncomingMessage, number] = [request, 0];
    requests.push(counted);
    request.on('data', (piece: Buffer) => {
      counted[1] += piece.length;
    });
    response.end();
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    refusal = error.code ?? 'unknown';
    socket.destroy();
  });
  const stream = new Duplex({ read: () => {}, write: (_piece, _encoding, done) => done() });
  stream.on('error', () => {});
  server.emit('connection', stream);
  stream.push(bytes);
  stream.push(null);
  if (!stream.closed) await once(stream, 'close');
  return refusal ?? requests;
}

test('what is read here, the full parser reads the same way, alone and without a body', async () => {
  let plain = 0;
  await fc.assertAsync(
    fc.asyncProperty(requestBytes, async (bytes) => {
      const request = readPlainRequest(bytes.toString('latin1'));
      if (request === undefined) return;
      plain += 1;
      const all = await fullParser(bytes);
      assert.ok(typeof all !== 'string', `refused: ${all}`);
      assert.equal(all.length, 1);
      const [[full, bodyBytes] = assert.fail()] = all;
      assert.equal(bodyBytes, 0);
      assert.equal(full.complete, true);
      const { headers } = full;
      assert.deepEqual(request, {
        method: full.method,
        target: full.url,
        ifMatch: headers['if-match'],
        ifNoneMatch: headers['if-none-match'],
        range: headers.range,
        ifRange: headers['if-range'],
        accept: headers.accept,
        acceptEncoding: headers['accept-encoding'],
      });
      assert.equal(full.httpVersion, '1.1');
      assert.match(headers.connection ?? 'keep-alive', /^keep-alive$/i);
    }),
    { numRuns: 4000 },
  );
  assert.ok(plain > 400, `${plain} were plain`);
});
