// Every rule of HTTP that the site port keeps, as rows: what came in, what goes out.

import assert from 'node:assert/strict';
import { validateHeaderValue } from 'node:http';
import { test } from 'node:test';
import { planReply, type Reply, type RequestFields, siteHeaders } from '#server/answer/reply.ts';
import type { SiteLookup } from '#server/content/live-site.ts';
import { createMarkdownTwins } from '#server/content/markdown-twins.ts';
import { buildRouteTable, type FileRoute, type RouteTable } from '#server/content/route-table.ts';
import type { ContentEncoding } from '#server/http/content-encoding.ts';
import { variantTagOf } from '#server/http/entity-tag.ts';
import { readRequestPath } from '#server/http/request-path.ts';
import * as fc from '../../../support/properties.ts';
import { fieldsIn, textRows } from '../../../support/text-rows.ts';
import { words } from '../../../support/words.ts';
import { bundleOf } from '../fixtures.ts';

/** Forms exist for those pages whose path is listed. */
const withForms = (table: RouteTable, ...variant: readonly string[]): SiteLookup => ({
  ...table,
  twins: undefined,
  isUnchanged: () => true,
  contentTypeOf: ({ contentType }: FileRoute): string | undefined => contentType,
  findVariant: ({ file, entityTag }: FileRoute, encoding: ContentEncoding) =>
    variant.includes(`${encoding} ${file.path}`)
      ? {
          offset: 7,
          size: encoding === 'br' ? 11 : 13,
          tag: variantTagOf(entityTag, encoding, encoding === 'br' ? 11 : 13),
        }
      : undefined,
});
const tableOf = (paths: readonly string[]) => withForms(buildRouteTable(bundleOf(paths)));

const site = tableOf(
  words(`
  index.html guides/index.html guides/start.html guides/start.txt assets/app.BxYz12_Q.js de/404.html
  404.html é/ü.html
`),
);
const bare = tableOf(['index.html']);

interface Asked extends Partial<RequestFields> {
  readonly target?: string;
  readonly site?: SiteLookup | undefined;
  readonly basePath?: string;
}

function ask(asked: Asked): Reply {
  const { target = '/guides/start.html', basePath = '', ...facts } = asked;
  return planReply(
    {
      method: 'GET',
      ifMatch: undefined,
      ifNoneMatch: undefined,
      range: undefined,
      ifRange: undefined,
      accept: undefined,
      acceptEncoding: undefined,
      ...facts,
    },
    readRequestPath(target, basePath),
    'site' in asked ? asked.site : site,
    siteHeaders('Cloud'),
  );
}

function header(reply: Reply, name: string): string | undefined {
  const at = reply.headers.findIndex((one, index) => index % 2 === 0 && one.toLowerCase() === name);
  return at < 0 ? undefined : reply.headers[at + 1];
}

const tag = header(ask({}), 'etag') ?? '';

test('the report of a search without a result is answered without content, also where the bundle has a file there', () => {
  for (const one of [bare, tableOf(['index.html', '_sx/search/none'])]) {
    const reply = ask({ site: one, target: '/docs/_sx/search/none?q=a', basePath: '/docs' });
    assert.deepEqual([reply.status, reply.body], [204, { kind: 'none' }]);
    assert.equal(header(reply, 'cache-control'), 'no-store');
    assert.equal(header(reply, 'content-length'), undefined);
  }
  assert.equal(ask({ target: '/guides/_sx/search/none?q=a' }).status, 404);
});

test('a page is sent whole, asked again by browsers, and tagged with its content', () => {
  const reply = ask({});
  assert.equal(reply.status, 200);
  assert.equal(header(reply, 'content-type'), 'text/html; charset=utf-8');
  assert.equal(header(reply, 'content-length'), '17');
  assert.equal(header(reply, 'cache-control'), 'public, max-age=0, must-revalidate');
  assert.equal(header(reply, 'accept-ranges'), 'bytes');
  assert.equal(header(reply, 'x-content-type-options'), 'nosniff');
  assert.match(tag, /^"[0-9a-f]{32}"$/);
  assert.deepEqual(
    reply.body.kind === 'file' && [reply.body.route.file.path, reply.body.start, reply.body.endExclusive],
    ['guides/start.html', 0, 17],
  );
});

test('an asset whose name holds its hash is cached for ever', () => {
  const reply = ask({ target: '/assets/app.BxYz12_Q.js' });
  assert.equal(header(reply, 'cache-control'), 'public, max-age=31536000, immutable');
  const changed = ask({ target: '/assets/app.BxYz12_Q.js', site: { ...site, isUnchanged: () => false } });
  assert.equal(header(changed, 'cache-control'), 'public, max-age=0, must-revalidate');
});

test('a file whose start was not read is not answered yet, whatever the method', () => {
  for (const method of ['GET', 'HEAD']) {
    for (const target of ['/', '/no-such-page']) {
      const { body } = ask({ target, method, site: { ...site, contentTypeOf: () => undefined } });
      assert.equal(body.kind, 'unread', `${method} ${target}`);
    }
  }
});

test('a payload of a docs generator is text/plain, and its query is no part of the look-up', () => {
  const reply = ask({ target: '/guides/start.txt?_rsc=1x2y3' });
  assert.equal(reply.status, 200);
  assert.equal(header(reply, 'content-type'), 'text/plain; charset=utf-8');
});

type AnswerRow = readonly [string, Asked, number, Readonly<Record<string, string | undefined>>];
/** Rows of `name | request | status | headers`, where `null` is a header that is absent. */
const answerRows = (text: string, known: Readonly<Record<string, string>>): readonly AnswerRow[] =>
  textRows(text).map(([name = '', asked = '', status, headers = '']) => {
    const wanted: object = fieldsIn(headers, known);
    const texts = Object.entries(wanted).map(([key, value]) => [
      key,
      value === null ? undefined : `${value}`,
    ]);
    return [name, fieldsIn(asked, known), Number(status), Object.fromEntries(texts)];
  });
const rows: readonly AnswerRow[] = [
  ...answerRows(
    `
    HEAD is GET without its body | method: HEAD | 200 | content-length: '17', etag: $tag
    a known tag is not sent again | ifNoneMatch: $tag | 304 | etag: $tag, content-length: null, content-type: null
    a 304 keeps the rule of caching | ifNoneMatch: '*' | 304 | cache-control: 'public, max-age=0, must-revalidate'
    another tag does not | ifNoneMatch: '"x"' | 200
    a known tag wins over a range | ifNoneMatch: $tag, range: bytes=0-1 | 304
    If-Match of other content fails | ifMatch: '"x"' | 412 | cache-control: no-store
    If-Match of this content holds | ifMatch: $tag | 200
    a range is a part | range: bytes=2-5 | 206 | content-range: bytes 2-5/17, content-length: '4', etag: $tag
    a suffix is a part | range: bytes=-5 | 206 | content-range: bytes 12-16/17
    several ranges are the whole | range: 'bytes=0-1,3-4' | 200 | content-length: '17', content-range: null
    a range behind the end has none | range: bytes=17- | 416 | content-range: bytes */17, cache-control: no-store
    HEAD has no ranges | method: HEAD, range: bytes=2-5 | 200 | content-length: '17'
    If-Range of this content allows the part | range: bytes=2-5, ifRange: $tag | 206
    If-Range of other content sends the whole | range: bytes=2-5, ifRange: '"x"' | 200
    If-Range with a date sends the whole | range: bytes=17-, ifRange: 'Sat, 21 Nov 2026 10:00:00 GMT' | 200
    a folder leads to its slash | target: /guides | 301 | location: ./guides/, cache-control: 'public, max-age=0, must-revalidate'
    and keeps the query | target: /guides?a=1&b=2 | 301 | location: ./guides/?a=1&b=2
    raw bytes of a query are escaped | target: /guides?é" | 301 | location: ./guides/?%E9"%7F
    nothing there, the site has a page for it | target: /no | 404
      | content-type: text/html; charset=utf-8, cache-control: no-store, etag: null, content-length: '8'
    the nearest one | target: /de/no | 404 | content-length: '11'
    an absence is not conditional | target: /no, ifNoneMatch: '*', range: bytes=0-1 | 404
    a malformed address | target: /%2e%2e/x | 400 | cache-control: no-store
    two slashes lead nowhere | target: //evil.example/guides | 404 | location: null
    writing is not for this place | method: POST | 405 | allow: 'GET, HEAD', connection: close
    nor are other methods | method: OPTIONS | 405 | allow: 'GET, HEAD'
    below a base path | basePath: /docs, target: /docs/guides/start | 200
    the base path itself | basePath: /docs, target: /docs?x | 301 | location: ./docs/?x
    outside of the base path | basePath: /docs, target: /guides/start | 404
  `,
    { tag },
  ),
  ['a weak tag in a list matches', { ifNoneMatch: `"x", W/${tag}` }, 304, {}],
  [
    'nothing there, no page either',
    { target: '/no', site: bare },
    404,
    { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' },
  ],
  [
    'nothing to serve yet',
    { site: undefined },
    503,
    { 'retry-after': '5', refresh: '5', 'cache-control': 'no-store' },
  ],
  ['nothing to serve yet, for any path', { site: undefined, target: '/no' }, 503, {}],
];

test('requests and their answers', () => {
  for (const [name, asked, status, headers] of rows) {
    const reply = ask(asked);
    assert.equal(reply.status, status, name);
    for (const [key, value] of Object.entries(headers))
      assert.equal(header(reply, key), value, `${name}: ${key}`);
    if (asked.method === 'HEAD' || status === 304) assert.deepEqual(reply.body, { kind: 'none' }, name);
  }
});

test('HEAD has the status and the headers of GET, for every path', () => {
  for (const target of ['/', '/guides', '/guides/start', '/guides/start.txt', '/no', '/de/no', '/%', '//x']) {
    const [get, head] = [ask({ target }), ask({ target, method: 'HEAD' })];
    assert.deepEqual([head.status, head.headers], [get.status, get.headers], target);
  }
});

test('every answer of an air-gapped site has a policy against other hosts', () => {
  const always = siteHeaders('AirGapped');
  const none = {
    ifMatch: undefined,
    ifNoneMatch: undefined,
    range: undefined,
    ifRange: undefined,
    accept: undefined,
    acceptEncoding: undefined,
  };
  for (const target of ['/', '/no', '/%', '/guides']) {
    const reply = planReply({ method: 'GET', ...none }, readRequestPath(target, ''), site, always);
    assert.match(header(reply, 'content-security-policy') ?? '', /^default-src 'self' .*object-src 'none'$/);
  }
  assert.equal(header(ask({}), 'content-security-policy'), undefined);
});

test('an error text repeats nothing of the request', () => {
  const reply = ask({ target: '/<script>alert(1)</script>', site: bare });
  assert.ok(reply.body.kind === 'text' && !reply.body.text.includes('script'));
});

test('whatever files and requests are called, every header can be sent and every part lies in its file', () => {
  const segment = fc
    .string({ unit: 'binary', minLength: 1, maxLength: 8 })
    .filter((one) => !/[/\\\0]/.test(one));
  const path = fc.array(segment, { minLength: 1, maxLength: 3 }).map((all) => all.join('/'));
  const bytes = fc.string({
    unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)),
  });
  fc.assert(
    fc.property(
      fc.uniqueArray(path, { minLength: 1, maxLength: 5 }),
      bytes,
      bytes,
      bytes,
      (paths, query, range, match) => {
        const files = paths.flatMap((one) => [one, `${one}/index.html`, `${one}/index.html.md`]);
        const table = buildRouteTable(bundleOf(files));
        const odd = { ...withForms(table), twins: createMarkdownTwins(table, `/${query}`) };
        for (const one of [...files, 'no']) {
          const reply = planReply(
            {
              method: 'GET',
              ifMatch: undefined,
              ifNoneMatch: match,
              range: `bytes=${range}`,
              ifRange: undefined,
              accept: query,
              acceptEncoding: undefined,
            },
            { outcome: 'path', path: `/${one}`, query: `?${query}` },
            odd,
            siteHeaders('Cloud'),
          );
          for (const [at, value] of reply.headers.entries()) {
            if (at % 2 === 1) validateHeaderValue('x', value);
            assert.match(value, /^[\x20-\x7e]*$/);
          }
          if (reply.body.kind === 'file') assert.ok(reply.body.endExclusive <= reply.body.route.file.size);
        }
      },
    ),
    { numRuns: 300 },
  );
});

const long = (path: string): string => path.padEnd(2000, ' docs');
const compressedSite = withForms(
  buildRouteTable(
    bundleOf(['page.html', 'fresh.html', 'short.html', 'logo.png', '404.html'], (path) =>
      path === 'short.html' ? 'short' : long(path),
    ),
  ),
  'br page.html',
  'gzip page.html',
  'gzip 404.html',
);
const plainTag = header(ask({ target: '/page', site: compressedSite }), 'etag') ?? '';
const brTag = variantTagOf(plainTag, 'br', 11);
const gzipTag = variantTagOf(plainTag, 'gzip', 13);
const browser = 'gzip, deflate, br, zstd';

const negotiated: readonly AnswerRow[] = [
  ...answerRows(
    `
    a browser gets brotli, with a tag of its own | acceptEncoding: $browser | 200
      | content-encoding: br, content-length: '11', etag: $brTag, vary: Accept-Encoding, accept-ranges: null
    an older one gzip | acceptEncoding: gzip | 200 | content-encoding: gzip, content-length: '13', etag: $gzipTag
    nothing said, nothing variant, and still it varies |  | 200
      | content-encoding: null, content-length: '2000', etag: $plainTag, vary: Accept-Encoding, accept-ranges: bytes
    what is refused is not sent | acceptEncoding: 'br;q=0, gzip' | 200 | content-encoding: gzip
    a refused identity is sent where nothing else is | target: /fresh, acceptEncoding: identity;q=0 | 200 | content-encoding: null
    before the forms exist the answer varies all the same | target: /fresh, acceptEncoding: $browser | 200
      | content-encoding: null, vary: Accept-Encoding, content-length: '2000'
    an image is as it is | target: /logo.png, acceptEncoding: $browser | 200 | vary: null, content-encoding: null
    so is what is short | target: /short, acceptEncoding: $browser | 200 | vary: null, content-encoding: null
    a range is of the file itself | acceptEncoding: $browser, range: bytes=0-9 | 206
      | content-encoding: null, content-range: bytes 0-9/2000, etag: $plainTag, vary: Accept-Encoding
    one of an unknown unit is ignored, and the form is the one of a request without it | acceptEncoding: $browser, range: pages=1 | 200
      | content-encoding: br, etag: $brTag, content-length: '11', content-range: null
    so are several | acceptEncoding: $browser, range: 'bytes=0-1,4-5' | 200 | content-encoding: br, etag: $brTag
    so is one of a HEAD request, which shows what GET without it would | method: HEAD, acceptEncoding: $browser, range: bytes=0-9 | 200
      | content-encoding: br, etag: $brTag, content-length: '11'
    a range of a precompressed body is the whole of it | acceptEncoding: $browser, range: bytes=0-9, ifRange: $brTag | 200
      | content-encoding: br, content-length: '11', etag: $brTag
    a range behind the end is judged by the file itself | acceptEncoding: $browser, range: bytes=1999- | 206 | content-range: bytes 1999-1999/2000
    a known form is not sent again | acceptEncoding: $browser, ifNoneMatch: $brTag | 304
      | etag: $brTag, vary: Accept-Encoding, content-encoding: null, content-length: null
    the file itself too | acceptEncoding: $browser, ifNoneMatch: $plainTag | 304 | etag: $plainTag
    a form that this client does not take is no answer for it | acceptEncoding: gzip, ifNoneMatch: $brTag | 200 | etag: $gzipTag
    a form of the same content that another build made is known too, and before the forms exist | target: /page, acceptEncoding: $browser, ifNoneMatch: $otherTag | 304
      | etag: $otherTag
    but it is not the one that is here | acceptEncoding: $browser, ifMatch: $otherTag | 412
    nor for one that takes none | ifNoneMatch: $brTag | 200 | etag: $plainTag
    a tag of a form that is gone still names the content | target: /fresh, acceptEncoding: $browser, ifNoneMatch: '*' | 304 | vary: Accept-Encoding
    a condition on any form holds | acceptEncoding: $browser, ifMatch: $gzipTag | 200 | etag: $brTag
    HEAD is variant as GET is | method: HEAD, acceptEncoding: $browser | 200 | content-encoding: br, content-length: '11'
    the page for an absence is variant too | target: /no, acceptEncoding: $browser | 404
      | content-encoding: gzip, content-length: '13', vary: Accept-Encoding, etag: null, cache-control: no-store
    and as it is for those who take nothing | target: /no | 404 | content-encoding: null, content-length: '2000', vary: Accept-Encoding
  `,
    { browser, brTag, gzipTag, plainTag, otherTag: variantTagOf(plainTag, 'br', 99) },
  ),
  [
    'any form that the client takes will do',
    { acceptEncoding: browser, ifNoneMatch: `"x", W/${gzipTag}` },
    304,
    { etag: gzipTag },
  ],
];

test('requests for precompressed variants and their answers', () => {
  for (const [name, asked, status, headers] of negotiated) {
    const reply = ask({ target: '/page', site: compressedSite, ...asked });
    assert.equal(reply.status, status, name);
    for (const [key, value] of Object.entries(headers))
      assert.equal(header(reply, key), value, `${name}: ${key}`);
  }
});

test('two variants never share one cache key', () => {
  const keys = [browser, 'gzip', undefined].map((acceptEncoding) => {
    const { body } = ask({ target: '/page', site: compressedSite, acceptEncoding });
    return body.kind === 'file' ? body.contentKey : undefined;
  });
  assert.equal(new Set(keys).size, 3);
});

test('two builds of a compressor give one page two tags and two keys, so that neither takes the other for itself', () => {
  const keyOf = (fingerprint: number): string | undefined => {
    const forms = {
      ...compressedSite,
      findVariant: ({ entityTag }: FileRoute, encoding: ContentEncoding) =>
        encoding === 'br'
          ? { offset: 0, size: fingerprint, tag: variantTagOf(entityTag, encoding, fingerprint) }
          : undefined,
    };
    const reply = ask({ target: '/page', site: forms, acceptEncoding: 'br' });
    assert.equal(header(reply, 'content-length'), `${fingerprint}`);
    assert.equal(header(reply, 'etag'), variantTagOf(plainTag, 'br', fingerprint));
    return reply.body.kind === 'file' ? reply.body.contentKey : undefined;
  };
  assert.notEqual(keyOf(63), keyOf(32));
  assert.equal(keyOf(32), keyOf(32));
});
