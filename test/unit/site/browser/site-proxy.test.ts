// What a browser reaches: the site as the bundle server answers for it behind an air gap, and no other host.

import assert from 'node:assert/strict';
import { request } from 'node:http';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { browsedSite } from '#site/browser/browsed-site.ts';
import { browsedOrigin, type SiteProxy, startSiteProxy } from '#site/browser/site-proxy.ts';

const texts: Readonly<Record<string, string>> = {
  '404.html': 'lost',
  'a b.css': 'p {}',
  'docs.html': 'page',
  'guide/index.html': 'guide',
  '.env': 'secret',
};

let proxy: SiteProxy;
before(async () => {
  const files = Object.entries(texts).map(([path, text]) => ({
    ...{ path, size: text.length, offset: 0, sha256: 'a'.repeat(64) },
  }));
  const site = browsedSite(files, '/base', async function* (path) {
    yield Buffer.from(texts[path] ?? '');
  });
  assert.deepEqual(site.pages, ['404.html', 'docs.html', 'guide/index.html']);
  proxy = await startSiteProxy(site);
});
after(() => proxy.close());

interface Answer {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly text: string;
}

function ask(path: string, method = 'GET'): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  request({ host: '127.0.0.1', port: proxy.port, path, method }, (response) => {
    let text = '';
    response.setEncoding('utf8');
    response.on('data', (piece: string) => {
      text += piece;
    });
    response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, text }));
  })
    .on('error', reject)
    .end();
  return promise;
}

const rows: readonly (readonly [string, number, string])[] = [
  [`${browsedOrigin}/base/docs`, 200, 'page'],
  [`${browsedOrigin}/base/docs?a=1`, 200, 'page'],
  [`${browsedOrigin}/base/a%20b.css`, 200, 'p {}'],
  [`${browsedOrigin}/base/guide/`, 200, 'guide'],
  [`${browsedOrigin}/base/guide`, 301, ''],
  [`${browsedOrigin}/base`, 301, ''],
  [`${browsedOrigin}/base/none`, 404, 'lost'],
  [`${browsedOrigin}/base/.env`, 404, 'lost'],
  [`${browsedOrigin}/docs`, 404, ''],
  ['http://other.example/base/docs', 502, ''],
  ['http://site.localhost.example/base/docs', 502, ''],
  ['/base/docs', 502, ''],
];
for (const [path, status, text] of rows) {
  test(`${path} is answered with ${status}`, async () => {
    const answer = await ask(path);
    assert.deepEqual([answer.status, answer.text], [status, text]);
    assert.match(`${answer.headers['content-security-policy']}`, /^default-src 'self'/);
  });
}

test('a file has its type, and a redirect its target', async () => {
  assert.equal(
    (await ask(`${browsedOrigin}/base/a%20b.css`)).headers['content-type'],
    'text/css; charset=utf-8',
  );
  assert.equal((await ask(`${browsedOrigin}/base/guide?a`)).headers['location'], './guide/?a');
});

test('a form that is sent is refused', async () => {
  assert.equal((await ask(`${browsedOrigin}/base/docs`, 'POST')).status, 405);
});

test('a tunnel is closed', async () => {
  const socket = connect(proxy.port, '127.0.0.1');
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  socket.write('CONNECT other.example:443 HTTP/1.1\r\nHost: other.example:443\r\n\r\n');
  await new Promise<void>((resolve) => socket.once('close', () => resolve()));
  assert.equal(text, '');
});
