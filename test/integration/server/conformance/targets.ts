// RFC 9112 §3.2 and RFC 3986 (targets): the mapping of GitHub Pages' column, one canonicalisation, no open
// redirects; and the table of what made other servers show secrets or send visitors elsewhere, by CVE.

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { type ConformanceSite, exchange, hold, page, siteContent } from './conformance-site.ts';
import { defaultSite } from './default-site.ts';

let site: ConformanceSite;
before(async () => {
  site = await defaultSite();
});

const text = (name: string): string => String(siteContent[name]);

test('the mapping, and no redirect that need not be', async () => {
  await hold(site, [
    { rule: 'the home page', target: '/', status: 200, body: text('index.html') },
    { rule: 'its file', target: '/index.html', status: 200, body: text('index.html') },
    { rule: 'its name', target: '/index', status: 200, body: text('index.html') },
    { rule: 'a clean address', target: '/page', status: 200, body: page },
    { rule: 'the file itself', target: '/page.html', status: 200, body: page },
    { rule: 'a file is no folder', target: '/page/', status: 404 },
    {
      rule: 'a folder leads to its slash',
      target: '/folder',
      status: 301,
      fields: { location: './folder/' },
    },
    { rule: 'the folder', target: '/folder/', status: 200, body: text('folder/index.html') },
    { rule: 'its index', target: '/folder/index', status: 200, body: text('folder/index.html') },
    { rule: 'a file beside a folder of its name', target: '/both', status: 200, body: text('both.html') },
    { rule: 'the folder beside the file', target: '/both/', status: 200, body: text('both/index.html') },
    { rule: 'a folder with a dot', target: '/v1.4', status: 301, fields: { location: './v1.4/' } },
    { rule: 'a folder without an index', target: '/assets/', status: 404 },
    { rule: 'escapes, decoded once', target: '/a%20b/%C3%A9', status: 200 },
    { rule: 'escapes of what needs none', target: '/%70age', status: 200, body: page },
    { rule: 'decoded once, not twice', target: '/%2570age', status: 404 },
    { rule: 'letters are not folded', target: '/PAGE', status: 404 },
    { rule: 'a plus is a plus', target: '/a+b/%C3%A9', status: 404 },
  ]);
});

test('the query is no part of the look-up, and goes with a redirect', async () => {
  await hold(site, [
    { rule: 'a query', target: '/page?a=1', status: 200, body: page },
    { rule: 'of anything', target: '/page?../../etc/passwd', status: 200, body: page },
    { rule: 'kept', target: '/folder?a=1&b=%2F', status: 301, fields: { location: './folder/?a=1&b=%2F' } },
    { rule: 'empty', target: '/folder?', status: 301, fields: { location: './folder/?' } },
  ]);
});

test('RFC 9112 §3.2 forms of a target', async () => {
  await hold(site, [
    { rule: 'absolute form', target: 'http://other.example/page', status: 200, body: page },
    { rule: 'absolute form without a path', target: 'http://other.example', status: 200 },
    { rule: 'another scheme', target: 'ftp://other.example/page', status: 400 },
    { rule: 'asterisk form is for OPTIONS', target: '*', status: 400 },
    { rule: 'a fragment never comes', target: '/page#top', status: 400 },
    { rule: 'a long target that is there', target: `/page?${'a'.repeat(8000)}`, status: 200, body: page },
  ]);
});

const attacks: readonly (readonly [string, string, number])[] = [
  ['CVE-2026-6414 @fastify/static', '/admin%2Fsecret.html', 400],
  ['GHSA-q5qw-h33p-qvwr hono', '/admin%2fsecret.html', 400],
  ['CVE-2026-39406 @hono/node-server', '//admin/secret.html', 404],
  ['the same inside', '/admin//secret.html', 404],
  ['CVE-2026-54286 hono on Windows', '/admin%5Csecret.html', 400],
  ['CVE-2026-53779 WebP Server Go', '/..%5c..%5cetc/passwd', 400],
  ['JLSEC-2026-612 HTTP.jl, drive', '/C:%5CWindows%5Cwin.ini', 400],
  ['the same, plain', '/C:/Windows/win.ini', 404],
  ['the same, share', '/%5C%5Chost%5Cshare', 400],
  ['CVE-2025-30208 Vite', '/.env?raw??', 404],
  ['its follow-up', '/.env?import&raw??', 404],
  ['another', '/.env?.svg?.wasm?init', 404],
  ['CVE-2025-58751 a sibling of the same prefix', '/../store-secret/x', 400],
  ['CVE-2026-53571 Vite on Windows, stream', '/.env::$DATA', 404],
  ['the same, of a page', '/page.html::$DATA', 404],
  ['the same, 8.3 names', '/ADMIN~1/SECRET~1.HTM', 404],
  ['CVE-2024-29041 express open redirect', '//evil.example/folder', 404],
  ['the same, escaped', '/%2F%2Fevil.example/folder', 400],
  ['the same, backslash', '/%5Cevil.example/folder', 400],
  ['CVE-2024-43799 send, reflected markup', '/folder%22%3E%3Cscript%3Ealert(1)%3C/script%3E', 404],
  ['CVE-2014-6394 send', '/../static-secret', 400],
  ['CVE-2021-41773 Apache', '/.%2e/.%2e/etc/passwd', 400],
  ['the same', '/%2e%2e/%2e%2e/etc/passwd', 400],
  ['CVE-2021-42013 Apache', '/%%32%65%%32%65/etc/passwd', 400],
  ['the same, decoded twice', '/%252e%252e/etc/passwd', 404],
  ['Caddy and serve-handler: a NUL', '/page%00.html', 400],
  ['serve-handler: a control that splits a field', '/folder%0d%0aX-Evil:%201', 400],
  ['overlong UTF-8', '/%c0%ae%c0%ae/etc/passwd', 400],
  ['half a surrogate', '/%ed%a0%80', 400],
  ['dotfiles', '/.env', 404],
  ['dotfiles by escape', '/%2eenv', 404],
  ['Object.prototype', '/__proto__', 404],
  ['the same', '/hasOwnProperty', 404],
];

test('targets of published vulnerabilities', async () => {
  for (const [name, target, status] of attacks) {
    const lines = [`GET ${target} HTTP/1.1`, 'Host: docs.example.com', 'Connection: close'];
    const answer = await exchange(site.port, lines);
    assert.equal(answer.status, status, `${name}: ${target}`);
    assert.ok(!/SECRET|root:|script>alert/.test(answer.body), name);
    assert.equal(answer.headers.get('location'), undefined, name);
    assert.equal(answer.headers.get('x-evil'), undefined, name);
    assert.ok(answer.body !== text('admin/secret.html'), name);
  }
});

test('a redirect is relative, and no field of the request shows in it', async () => {
  for (const more of [
    ['Host: evil.example'],
    ['Host: a', 'X-Forwarded-Host: evil.example', 'X-Forwarded-Proto: ftp'],
  ]) {
    const { status, headers, body } = await exchange(site.port, [
      'GET /folder?next=//evil.example HTTP/1.1',
      ...more,
      'Connection: close',
    ]);
    assert.equal(status, 301);
    assert.equal(headers.get('location'), './folder/?next=//evil.example');
    assert.ok(!body.includes('evil'));
  }
});

const hostileFields: readonly (readonly [string, readonly string[], readonly number[]])[] = [
  ['sirv: a range backwards ended the process', ['Range: bytes=5-2'], [200]],
  ['sirv#175: a range beyond 2^64', ['Range: bytes=0-18446744073709551616'], [206]],
  [
    'CVE-2011-3192 Apache: many ranges',
    [`Range: bytes=${Array.from({ length: 1000 }, (_, at) => `${at}-`).join(',')}`],
    [200],
  ],
  ['CVE-2017-7529 nginx: a suffix that overflows', ['Range: bytes=-18446744073709551615'], [206]],
  ['sirv: a refused encoding was sent', ['Accept-Encoding: br;q=0, gzip;q=0'], [200]],
  ['CVE-2022-24999 kind: prototype in a query', ['X-Query: __proto__[a]=1'], [200]],
  ['httpoxy', ['Proxy: http://evil.example'], [200]],
  ['a list without end', [`If-None-Match: ${'"x",'.repeat(3000)}`], [200]],
  ['a list of commas', [`Accept-Encoding: ${','.repeat(8000)}`], [200]],
  ['two hosts', ['Host: b'], [400]],
  ['the same host twice', ['Host: a'], [400]],
];

test('fields of published vulnerabilities', async () => {
  for (const [name, more, statuses] of hostileFields) {
    const { status, body } = await exchange(site.port, [
      'GET /page HTTP/1.1',
      'Host: a',
      ...more,
      'Connection: close',
    ]);
    assert.ok(statuses.includes(status), `${name}: ${status}`);
    if (status === 200) assert.ok(body === page, name);
  }
});
