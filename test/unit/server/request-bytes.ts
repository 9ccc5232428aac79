// Bytes that are a plain request, or one that was harmed: what a strict reader and a lenient one could take in two ways.

import * as fc from '../../support/properties.ts';

const target = fc.constantFrom(
  ...[
    '/',
    '/page',
    '/page.html',
    '/page.md',
    '/page/index.html.md',
    '/digits.bin',
    '/digits.bin',
    '/folder',
    '/folder?x=%20',
    '/folder/',
    '/no',
  ],
  ...[
    '/hash.0123abcd.js',
    '/%70age',
    '/a%20b',
    '/%',
    '/%2e%2e/x',
    '/%00',
    '/..',
    '/./page',
    '//page',
    '/pa\\ge',
  ],
  ...[
    '/page#x',
    '*',
    'http://a/page',
    '/é',
    '/a b',
    '',
    `/${'x'.repeat(9000)}`,
    '/page?"<>[]{}|^`',
    '/page?;,',
  ],
);
const plainField = fc.constantFrom(
  ...[
    'Accept: */*',
    'Accept: text/markdown',
    'accept: text/html, text/markdown;q=0.9',
    'User-Agent: x y/1',
    'Cookie: a=b',
    'accept-language:en',
    'Upgrade-Insecure-Requests: 1',
    'X:',
  ],
  ...[
    'Accept-Encoding: br',
    'Accept-Encoding: gzip;q=0.5, br;q=0',
    'accept-encoding:\t gzip \t',
    'Accept-Encoding:',
  ],
  ...['If-None-Match: *', 'If-None-Match: "x", "y"', 'If-None-Match:', 'If-Match: "x"', 'If-Match: *'],
  ...['Range: bytes=2-5', 'Range: bytes=-3', 'Range: bytes=99-', 'Range: bytes=0-1,3-4', 'If-Range: "x"'],
  ...['Connection: keep-alive', 'connection: Keep-Alive', 'Date: x', 'X-Forwarded-For: 1.2.3.4, ::1'],
);
const oddField = fc.constantFrom(
  ...[
    'Host: b',
    'Host : b',
    ' Host: b',
    'Connection: close',
    'Connection: upgrade',
    'Connection: keep-alive, x',
  ],
  ...[
    'Content-Length: 0',
    'Content-Length: 5',
    'content-length: 5',
    'Content-Length: +5',
    'Content-Length: 5, 5',
  ],
  ...[
    'Transfer-Encoding: chunked',
    'transfer-encoding: identity',
    'Transfer-Encoding:\x0bchunked',
    'TE: trailers',
  ],
  ...[
    'Expect: 100-continue',
    'Expect: x',
    'Upgrade: h2c',
    'Upgrade: websocket',
    'Trailer: X',
    'Keep-Alive: 5',
  ],
  ...['X: \0', 'X: \xff', 'X\xad: a', ': x', 'nothing', 'X: a\r\n b', 'X: a\nY: b', 'X: a\rb', 'X: \x7f', ''],
  ...[
    'Content-Length: 3',
    'Content-Length : 5',
    'Proxy-Connection: close',
    'HTTP2-Settings: x',
    `X: ${'y'.repeat(9000)}`,
  ],
);
/** Mostly as it should be. */
const mostly = <T>(usual: T, odd: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.oneof({ arbitrary: fc.constant(usual), weight: 40 }, { arbitrary: odd, weight: 1 });
const lineEnd = mostly('\r\n', fc.constantFrom('\n', '\r', '\r\n ', '\r\r\n', '', '\n\r', '\r\n\r\n'));

/** One request, more often plain than not. */
export const requestText: fc.Arbitrary<string> = fc
  .record({
    method: mostly(
      'GET',
      fc.constantFrom('HEAD', 'HEAD', 'POST', 'OPTIONS', 'get', 'GET ', 'G', 'CONNECT', 'PRI'),
    ),
    target,
    version: mostly('HTTP/1.1', fc.constantFrom('HTTP/1.0', 'HTTP/2.0', 'http/1.1', 'HTTP/1.1 ', '')),
    host: mostly(['Host: a'], fc.constantFrom<string[]>([], ['host:'], ['Host: a', 'Host: a'])),
    fields: fc.array(fc.oneof({ arbitrary: plainField, weight: 25 }, { arbitrary: oddField, weight: 1 }), {
      maxLength: 6,
    }),
    ends: fc.array(lineEnd, { minLength: 10, maxLength: 10 }),
    content: mostly(
      '',
      fc.constantFrom('hello', 'hell', '0\r\n\r\n', '5\r\nhello\r\n0\r\n\r\n', '\r\n', ' '),
    ),
  })
  .map(({ method, target, version, host, fields, ends, content }) => {
    const lines = [`${method} ${target} ${version}`, ...host, ...fields];
    return `${lines.map((line, at) => line + (ends[at] ?? '\r\n')).join('')}${ends.at(-1)}${content}`;
  });

/** One request, or one with a byte changed, or two. */
export const requestBytes: fc.Arbitrary<Buffer> = fc
  .oneof(
    { arbitrary: requestText, weight: 6 },
    {
      arbitrary: fc.tuple(requestText, fc.nat(), fc.nat(255)).map(([text, place, code]) => {
        const at = text.length === 0 ? 0 : place % text.length;
        return text.slice(0, at) + String.fromCharCode(code) + text.slice(at + 1);
      }),
      weight: 3,
    },
    { arbitrary: fc.tuple(requestText, requestText).map((both) => both.join('')), weight: 1 },
  )
  .map((text) => Buffer.from(text, 'latin1'));
