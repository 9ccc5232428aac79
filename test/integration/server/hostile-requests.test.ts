// Requests that ended other servers' processes, showed their secrets, or sent visitors elsewhere, sent byte
// by byte to the real program. After all of them the same process still answers.

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import * as fc from '../../support/properties.ts';
import { makeArchive } from './archive.ts';
import { ask, readAnswer, sendRaw } from './raw-client.ts';
import { prepareSite, type ServedSite } from './served-site.ts';

const large = Buffer.alloc(3 * 1024 * 1024, 'large ');
let served: ServedSite;
let pid = 0;

before(async () => {
  served = await prepareSite();
  const archive = join(served.folder, 'export.tar.gz');
  await writeFile(
    archive,
    await makeArchive({
      'index.html': 'home of the docs',
      'guides/index.html': 'guides',
      'é.html': 'accents',
      'ünï/index.html': 'folder with accents',
      '日本語.html': 'Japanese',
      'a b.html': 'space',
      'a"b.html': 'quote',
      'empty.txt': '',
      'large.bin': large,
      '.env': 'SECRET=1',
      '.git/config': 'SECRET=1',
      _headers: 'SECRET=1',
      'serve.js': 'SECRET=1',
      '.well-known/security.txt': 'Contact: x',
      'admin/secret.html': 'seen',
    }),
  );
  await served.start('--bundle-url', `file://${archive}`, '--version', 'v1', '--memory-budget', '1MiB');
  await served.until('the site is served', ({ active }) => active !== null);
  pid = served.child().pid;
});
after(async () => {
  if (pid !== 0) await served.remove();
});

const targets: readonly (readonly [string, number])[] = [
  ['/', 200],
  ['/%C3%A9.html', 200],
  ['/%E6%97%A5%E6%9C%AC%E8%AA%9E', 200],
  ['/%C3%BCn%C3%AF', 301],
  ['/a%20b', 200],
  ['/a%22b', 200],
  ['/empty.txt', 200],
  ['/.well-known/security.txt', 200],
  ['/index.html?raw??', 200],
  ['/index.html?import&raw??', 200],
  ['http://evil.example/', 200],
  ['/.env', 404],
  ['/.git/config', 404],
  ['/_headers', 404],
  ['/serve.js', 404],
  ['//admin/secret.html', 404],
  ['/admin//secret.html', 404],
  ['//evil.example/guides', 404],
  ['//evil.example/%2e%2e', 400],
  ['/admin%2Fsecret.html', 400],
  ['/admin%5Csecret.html', 400],
  ['/admin\\secret.html', 400],
  ['/..%5c..%5cetc/passwd', 400],
  ['/../../../etc/passwd', 400],
  ['/.%2e/%2e%2e/etc/passwd', 400],
  ['/%%32%65%%32%65/etc/passwd', 400],
  ['/static../secret', 404],
  ['/index.html::$DATA', 404],
  ['/C:/Windows/win.ini', 404],
  ['/CON', 404],
  ['/%00', 400],
  ['/index.html%00.png', 400],
  ['/%', 400],
  ['/%c0%af', 400],
  ['/%ff', 400],
  ['/%0d%0aLocation:%20x', 400],
  ['/constructor', 404],
  ['/__proto__', 404],
  ['*', 400],
];

test('targets that mean two things are refused, secrets are absent, odd names are served', async () => {
  for (const [target, status] of targets) {
    const answer = await ask(served.port, target);
    assert.equal(answer.status, status, target);
    assert.ok(!answer.body.includes('SECRET') && !answer.head.includes('evil'), target);
    if (status >= 400) assert.match(answer.head, /Cache-Control: no-store/i, target);
  }
});

const ranges: readonly (readonly [string, string, number])[] = [
  ['/', 'bytes=5-2', 200],
  ['/', 'bytes=0-18446744073709551615', 206],
  ['/', 'bytes=18446744073709551615-', 416],
  ['/', 'bytes=-9999', 206],
  ['/', 'bytes=-5', 206],
  ['/', 'hello', 200],
  ['/', 'bytes=0-1,3-4', 200],
  ['/', 'bytes=', 200],
  ['/', `bytes=${'0-0,'.repeat(2000)}0-0`, 200],
  ['/empty.txt', 'bytes=0-', 416],
  ['/empty.txt', 'bytes=-1', 416],
  ['/empty.txt', 'bytes=0-0', 416],
];

test('ranges of every shape have an answer', async () => {
  for (const [target, range, status] of ranges) {
    const answer = await ask(served.port, target, [`Range: ${range}`]);
    assert.equal(answer.status, status, `${target} ${range.slice(0, 40)}`);
  }
  assert.equal((await ask(served.port, '/', ['Range: bytes=-5'])).body, ' docs');
});

test('headers of every shape have an answer', async () => {
  const headers = [
    'If-None-Match: ,,,"',
    `If-None-Match: ${'"a",'.repeat(3000)}`,
    'If-None-Match: \u00ff\u00fe',
    'If-Modified-Since: never',
    'If-Range: \u0001'.replace('\u0001', '"'),
    'Accept-Encoding: gzip;q=0, vibrate, *;q=x',
    'Upgrade: websocket',
    'Range: bytes=0-1\r\nRange: bytes=2-3',
  ];
  for (const header of headers) {
    assert.equal((await ask(served.port, '/', [header])).status, 200, header.slice(0, 40));
  }
});

test('every method other than GET and HEAD gets a 405, and its body is not waited for', async () => {
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND', 'M-SEARCH']) {
    const answer = await ask(served.port, '/', ['Content-Length: 1000000'], method);
    assert.equal(answer.status, 405, method);
    assert.match(answer.head, /Allow: GET, HEAD/, method);
  }
  const head = await ask(served.port, '/', [], 'HEAD');
  assert.deepEqual([head.status, head.body], [200, '']);
  assert.match(head.head, /Content-Length: 16/);
});

test('bytes that are not HTTP cost only their own connection', async () => {
  const garbage = [
    '\0\0\0\0',
    '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
    'GET\r\n\r\n',
    'GET / HTTP/9.9\r\n\r\n',
    'GET / HTTP/1.1\r\n\r\n',
    'GET /\u00c3\u00a9 HTTP/1.1\r\nHost: a\r\n\r\n',
    'GET / HTTP/1.1\r\nHost : a\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n',
    `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`,
    `GET / HTTP/1.1\r\nHost: a\r\n${'X: y\r\n'.repeat(5000)}\r\n`,
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example\r\n\r\n',
  ];
  for (const bytes of garbage) {
    const answer = readAnswer(await sendRaw(served.port, bytes));
    assert.ok(
      answer.status === 0 || (answer.status >= 400 && answer.status < 500),
      `${bytes.slice(0, 40)}: ${answer.status}`,
    );
  }
});

test('several requests sent at once on one connection are answered in order', async () => {
  const one = (target: string, more = ''): string => `GET ${target} HTTP/1.1\r\nHost: a\r\n${more}\r\n`;
  const text = await sendRaw(
    served.port,
    one('/large.bin', 'Range: bytes=0-3\r\n') +
      one('/') +
      one('/nothing') +
      one('/guides', 'Connection: close\r\n'),
  );
  assert.deepEqual(
    [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map((match) => match[1]),
    ['206', '200', '404', '301'],
  );
});

test('a large file comes whole, in parts, and to readers that stop in the middle', async () => {
  const whole = Buffer.from(await (await fetch(`${served.site}/large.bin`)).arrayBuffer());
  assert.ok(whole.equals(large));
  const middle = await fetch(`${served.site}/large.bin`, { headers: { Range: 'bytes=1000001-2000003' } });
  assert.equal(middle.headers.get('content-range'), `bytes 1000001-2000003/${large.length}`);
  assert.ok(Buffer.from(await middle.arrayBuffer()).equals(large.subarray(1_000_001, 2_000_004)));
  for (let reader = 0; reader < 10; reader += 1) {
    const socket = connect(served.port, '127.0.0.1');
    socket.write('GET /large.bin HTTP/1.1\r\nHost: a\r\n\r\n');
    await new Promise((resolve) => socket.once('data', resolve));
    socket.resetAndDestroy();
  }
});

test('requests torn and twisted at random have an answer or none, and never an end of the process', async () => {
  const sane =
    'GET /guides?x=%41 HTTP/1.1\r\nHost: a\r\nRange: bytes=0-1\r\nIf-None-Match: "a", W/"b"\r\n\r\n';
  const byte = fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code));
  const twist = fc.record({
    at: fc.nat(sane.length),
    cut: fc.nat(8),
    put: fc.string({ unit: byte, maxLength: 8 }),
  });
  await fc.assertAsync(
    fc.asyncProperty(fc.array(twist, { minLength: 1, maxLength: 4 }), async (twists) => {
      let bytes = sane;
      for (const { at, cut, put } of twists) bytes = bytes.slice(0, at) + put + bytes.slice(at + cut);
      const { status } = readAnswer(await sendRaw(served.port, bytes, 'and-leave'));
      assert.ok(status < 500, `${status}`);
    }),
    { numRuns: 300 },
  );
});

test('after all of that it is the same process, it serves, and it has logged no fault of its own', async () => {
  assert.equal(served.child().hasExited(), false);
  assert.equal(served.child().pid, pid);
  assert.equal((await ask(served.port, '/')).body, 'home of the docs');
  assert.equal((await fetch(`${served.admin}/livez`)).status, 200);
  assert.doesNotMatch(served.output(), /"level":"(warn|error)"/);
});
