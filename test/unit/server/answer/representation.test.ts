// Pages and their Markdown as rows: who gets which, and what each answer says of the other one.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planReply, type Reply, type RequestFields, siteHeaders } from '#server/answer/reply.ts';
import type { SiteLookup } from '#server/content/live-site.ts';
import { createMarkdownTwins } from '#server/content/markdown-twins.ts';
import { buildRouteTable } from '#server/content/route-table.ts';
import { variantTagOf } from '#server/http/entity-tag.ts';
import { readRequestPath } from '#server/http/request-path.ts';
import { fieldsIn, textRows } from '../../../support/text-rows.ts';
import { words } from '../../../support/words.ts';
import { bundleOf } from '../fixtures.ts';

const paths = words(
  'index.html index.md page.html page.md own/index.html own/index.html.md bare.html app.js notes.md 404.html',
);
const index = bundleOf(paths, (path) => path.padEnd(path.startsWith('page') ? 1000 : 20, ' docs'));
const table = buildRouteTable(index);
const site: SiteLookup = {
  ...table,
  twins: createMarkdownTwins(table, '/docs'),
  find: (path) => table.find(path) ?? createMarkdownTwins(table, '/docs').findByName(path),
  isUnchanged: () => true,
  contentTypeOf: ({ contentType }) => contentType,
  findVariant: ({ entityTag, isCompressible }, encoding) =>
    isCompressible && encoding === 'br'
      ? { offset: 0, size: 11, tag: variantTagOf(entityTag, encoding, 11) }
      : undefined,
};
const off: SiteLookup = { ...site, twins: undefined };

interface Asked extends Partial<RequestFields> {
  readonly path?: string;
}

function ask({ path = '/page', ...fields }: Asked, of = site): Reply {
  const none = { ifMatch: undefined, ifNoneMatch: undefined, range: undefined, ifRange: undefined };
  return planReply(
    { method: 'GET', ...none, accept: undefined, acceptEncoding: undefined, ...fields },
    readRequestPath(`/docs${path}`, '/docs'),
    of,
    siteHeaders('Cloud'),
  );
}

function header(reply: Reply, name: string): string | undefined {
  const at = reply.headers.findIndex((one, position) => position % 2 === 0 && one.toLowerCase() === name);
  return at < 0 ? undefined : reply.headers[at + 1];
}

const tagOf = (path: string): string => {
  const route = table.find(path);
  return route?.kind === 'file' ? route.entityTag : '';
};
const known = {
  md: tagOf('/page.md'),
  html: tagOf('/page.html'),
  mdBr: variantTagOf(tagOf('/page.md'), 'br', 11),
  link: '</docs/page.md>; rel="alternate"; type="text/markdown"',
  ownLink: '</docs/own/index.html.md>; rel="alternate"; type="text/markdown"',
  markdown: 'text/markdown; charset=utf-8',
  browser: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
};

/** `request | status | headers`, where `null` is a header that is absent. */
const rows = `
  accept: text/markdown | 200 | content-type: $markdown, etag: $md, link: null, x-robots-tag: noindex, vary: 'Accept, Accept-Encoding'
  accept: 'text/markdown;q=0.5, text/html;q=0.5' | 200 | content-type: $markdown
  accept: 'text/html, text/markdown;q=0.9' | 200 | content-type: text/html; charset=utf-8, etag: $html, link: $link, x-robots-tag: null, vary: 'Accept, Accept-Encoding'
  accept: $browser | 200 | etag: $html, link: $link
  accept: '*/*' | 200 | etag: $html, link: $link
  accept: 'text/*' | 200 | etag: $html, link: $link
  {} | 200 | etag: $html, link: $link
  path: /page.html, accept: text/markdown | 200 | etag: $md
  method: HEAD, accept: text/markdown | 200 | content-type: $markdown, etag: $md, content-length: '1000'
  accept: text/markdown, acceptEncoding: br | 200 | content-encoding: br, content-length: '11', etag: $mdBr, x-robots-tag: noindex
  accept: text/markdown, range: bytes=2-5 | 206 | content-range: bytes 2-5/1000, content-type: $markdown, etag: $md, vary: 'Accept, Accept-Encoding'
  accept: text/markdown, range: bytes=2-5, ifRange: $md | 206
  accept: text/markdown, range: bytes=2-5, ifRange: $html | 200 | etag: $md
  range: bytes=2-5, ifRange: $md | 200 | etag: $html
  accept: text/markdown, range: bytes=1000- | 416
  accept: text/markdown, ifNoneMatch: $md | 304 | etag: $md, vary: 'Accept, Accept-Encoding'
  accept: text/markdown, acceptEncoding: br, ifNoneMatch: $mdBr | 304 | etag: $mdBr
  accept: text/markdown, ifNoneMatch: $html | 200 | etag: $md
  ifNoneMatch: $md | 200 | etag: $html
  ifNoneMatch: $html | 304 | etag: $html, vary: 'Accept, Accept-Encoding'
  accept: text/markdown, ifMatch: $html | 412
  accept: text/markdown, ifMatch: $md | 200
  path: /page.md | 200 | content-type: $markdown, etag: $md, x-robots-tag: noindex, vary: Accept-Encoding, link: null
  path: /page.md, accept: text/html | 200 | etag: $md
  path: /page/index.html.md | 200 | etag: $md, x-robots-tag: noindex
  path: /page.html.md | 200 | etag: $md
  path: /page/index.md | 200 | etag: $md
  path: /own/ | 200 | link: $ownLink, vary: Accept
  path: /own.md | 200 | content-type: $markdown, x-robots-tag: noindex
  path: /own | 301 | vary: null, link: null
  path: /bare, accept: text/markdown | 200 | content-type: text/html; charset=utf-8, link: null, vary: null
  path: /app.js, accept: text/markdown | 200 | content-type: text/javascript; charset=utf-8, vary: null
  path: /notes.md | 200 | content-type: $markdown, x-robots-tag: null
  path: /no, accept: text/markdown | 404 | content-type: text/html; charset=utf-8, link: null
  path: /no.md | 404 | content-type: text/html; charset=utf-8
  path: /bare.md | 404
`;

for (const [request = '', status, headers = ''] of textRows(rows)) {
  test(`${request} → ${status}`, () => {
    const asked: Asked = request === '{}' ? {} : fieldsIn(request, known);
    const reply = ask(asked);
    assert.equal(reply.status, Number(status));
    for (const [name, value] of Object.entries(fieldsIn(headers, known))) {
      assert.equal(header(reply, name), value ?? undefined, name);
    }
  });
}

test('without --markdown no answer depends on Accept', () => {
  for (const path of ['/page', '/', '/own/', '/page.md', '/bare', '/app.js', '/no']) {
    const plain = ask({ path }, off);
    assert.deepEqual(ask({ path, accept: 'text/markdown' }, off), plain, path);
    for (const name of ['link', 'x-robots-tag']) assert.equal(header(plain, name), undefined, path);
    assert.ok(!(header(plain, 'vary') ?? '').includes('Accept,'), path);
  }
});

test('a page and its Markdown never share a key in memory', () => {
  const keys = ['text/markdown', undefined].map((accept) => {
    const { body } = ask({ accept });
    return body.kind === 'file' ? body.contentKey : undefined;
  });
  assert.equal(new Set(keys).size, 2);
});
