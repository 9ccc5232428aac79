// A site that moves below a base path: which addresses get it, one row for each position of an address, and that everything else
// keeps its bytes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CrawlRequest } from '#export-service/crawler/contract.ts';
import * as traps from '../../../../fixtures/sites/trap-site.ts';
import { crawl, type SiteServer, serveSite, textsOf } from '../site-server.ts';

type Row = readonly [name: string, before: string, after: string];

/** Crawls a home page that loads the file, and returns what became of the file. */
async function moved(
  t: Parameters<typeof serveSite>[0],
  path: string,
  served: traps.Served,
  request: Partial<CrawlRequest> = { basePath: '/docs' },
  prefix = '',
): Promise<string | undefined> {
  const home = `<a href=".${path}">x</a><img src=".${path}"><link rel=manifest href=".${path}">`;
  const html = { headers: { 'content-type': 'text/html' }, body: home };
  const files: Readonly<Record<string, traps.Served>> = {
    '/': html,
    '/j/app.js': { headers: { 'content-type': 'text/javascript' }, body: '' },
    [path]: served,
  };
  const { origin } = await serveSite(t, (asked) =>
    asked.startsWith(prefix) ? files[asked.slice(prefix.length)] : undefined,
  );
  const texts = await textsOf(await crawl(t, new URL(`${prefix}/`, origin), { request }));
  assert.equal(texts['index.html'], home, 'a page without root-absolute addresses keeps its bytes');
  return texts[path.slice(1)];
}

const pages: readonly Row[] = [
  ['a link', '<a href="/x">', '<a href="/docs/x">'],
  ['a link without quotes', '<a href=/x class=y>', '<a href=/docs/x class=y>'],
  ['a link in single quotes, with blanks', "<a href = '  /x '>", "<a href = '  /docs/x '>"],
  ['the home page, with query and fragment', '<a href="/?a=1&amp;b=2#c">', '<a href="/docs/?a=1&amp;b=2#c">'],
  ['an escaped slash', '<a href="&#x2F;a&#x2F;b">', '<a href="/docs&#x2F;a&#x2F;b">'],
  ['a name that is not ASCII', '<p>é<a href="/é">ü', '<p>é<a href="/docs/é">ü'],
  ['lines that end as on Windows', '<p>\r\n\r\n<a href="/x">\r\n', '<p>\r\n\r\n<a href="/docs/x">\r\n'],
  ['a canonical link', '<link rel=canonical href="/x">', '<link rel=canonical href="/docs/x">'],
  [
    'a form',
    '<form action="/s"><button formaction="/t">',
    '<form action="/docs/s"><button formaction="/docs/t">',
  ],
  ['the base of other links', '<base href="/b/"><a href="x">', '<base href="/docs/b/"><a href="x">'],
  ['a source and a poster', '<video src="/v" poster="/p">', '<video src="/docs/v" poster="/docs/p">'],
  [
    'a srcset',
    '<img srcset="/a.png 1x, b.png 2x,/c,d.png">',
    '<img srcset="/docs/a.png 1x, b.png 2x,/docs/c,d.png">',
  ],
  [
    'a refresh',
    '<meta http-equiv=refresh content="0; url=/x">',
    '<meta http-equiv=refresh content="0; url=/docs/x">',
  ],
  [
    'a refresh in escaped quotes',
    '<meta http-equiv=refresh content="0; URL=&#39;/x&#39;">',
    '<meta http-equiv=refresh content="0; URL=&#39;/docs/x&#39;">',
  ],
  [
    'a picture for other sites',
    '<meta property=og:image content="/o.png">',
    '<meta property=og:image content="/docs/o.png">',
  ],
  [
    'an inline style',
    '<p style="background:url(&quot;/a.png&quot;)">',
    '<p style="background:url(&quot;/docs/a.png&quot;)">',
  ],
  ['a style sheet', '<style>a{b:url( "/a.png")}</style>', '<style>a{b:url( "/docs/a.png")}</style>'],
  ['SVG', '<svg><use xlink:href="/s.svg#i"/></svg>', '<svg><use xlink:href="/docs/s.svg#i"/></svg>'],
  ['a file in a script', '<script>x("/j/app.js")</script>', '<script>x("/docs/j/app.js")</script>'],
];
const kept: readonly (readonly [name: string, html: string])[] = [
  ['a relative link', '<a href="x"><a href="../x"><a href="#x"><a href="?x">'],
  [
    'another host',
    '<a href="https://other.example.com/x"><a href="//other.example.com/x"><a href="/\\other/x">',
  ],
  ['another host after a tab that browsers drop', '<a href="/\t/other.example.com/x">'],
  ['a link below another base', '<base href="https://other.example.com/"><a href="/x">'],
  ['the public name of the site', `<a href="https://${traps.domain}/x"><a href="//${traps.domain}/x">`],
  ['the public name after a tab that browsers drop', `<a href="/\t/${traps.domain}/x">`],
  ['a blank that browsers do not drop', '<a href="\u00a0/x"><a href="&nbsp;/x">'],
  ['other schemes', '<a href="mailto:/x"><img src="data:/x">'],
  ['text and comments', '/x "/x" <!-- <a href="/x"> --><textarea><a href="/x"></textarea>'],
  ['other attributes', '<p title="/x" data-x="/x">'],
  ['a path in a script that is no file of the site', '<script>x("/api/none.json", "/y")</script>'],
];
for (const [name, before, after] of [...pages, ...kept.map(([name, html]) => [name, html, html] as const)]) {
  test(`html: ${name}`, async (t) => {
    assert.equal(
      await moved(t, '/page.html', { headers: { 'content-type': 'text/html' }, body: before }),
      after,
    );
  });
}

const others: readonly (readonly [...Row, path: string, type: string])[] = [
  [
    'a style sheet',
    '@import "/a.css";a{b:url(/b.png)}',
    '@import "/docs/a.css";a{b:url(/docs/b.png)}',
    '/s.css',
    'text/css',
  ],
  ['a script', 'f("/j/app.js","/no.js")', 'f("/docs/j/app.js","/no.js")', '/a.js', 'text/javascript'],
  [
    'a manifest',
    '{"start_url":" /","icons":[{"src":"\\/i.png"}],"name":"/x"}',
    '{"start_url":" /docs/","icons":[{"src":"/docs\\/i.png"}],"name":"/x"}',
    '/site.webmanifest',
    'application/manifest+json',
  ],
  [
    'SVG',
    '<svg><image href="/a.png"/></svg>',
    '<svg><image href="/docs/a.png"/></svg>',
    '/a.svg',
    'image/svg+xml',
  ],
  [
    'a text that is no stream',
    'write "href":"/x" and "/j/app.js"',
    'write "href":"/x" and "/j/app.js"',
    '/a.txt',
    'text/plain',
  ],
  ['a download', '<a href="/x">', '<a href="/x">', '/a.bin', 'application/octet-stream'],
];
for (const [name, before, after, path, type] of others) {
  test(`${name} at ${path}`, async (t) => {
    assert.equal(await moved(t, path, { headers: { 'content-type': type }, body: before }), after);
  });
}

test('a sitemap has the base path behind the public name, and llms.txt at root-absolute links', async (t) => {
  const site: Readonly<Record<string, string>> = {
    '/': '<p>home',
    '/sitemap.xml': `<urlset><url><loc> https://${traps.domain}/a</loc></url><url><loc>https://x.example/b</loc></url></urlset>`,
    '/llms.txt': '[a](/a) [b](b) [c]( </c>)',
  };
  const { origin } = await serveSite(t, (path) => {
    const type = path === '/' ? 'text/html' : path === '/llms.txt' ? 'text/plain' : 'application/xml';
    const body = site[path];
    return body === undefined ? undefined : { headers: { 'content-type': type }, body };
  });
  const texts = await textsOf(await crawl(t, origin, { request: { basePath: '/documentation' } }));
  assert.equal(
    texts['sitemap.xml'],
    `<urlset><url><loc> https://${traps.domain}/documentation/a</loc></url><url><loc>https://x.example/b</loc></url></urlset>`,
  );
  assert.equal(texts['llms.txt'], '[a](/documentation/a) [b](b) [c]( </documentation/c>)');
});

const html = { 'content-type': 'text/html' };
const prefixed: readonly (readonly [...Row, basePath: string])[] = [
  ['has it once', '<a href="/docs/x"><a href="/docs">', '<a href="/docs/x"><a href="/docs">', '/docs'],
  [
    'gets another',
    '<a href="/docs/x"><a href="/docs?a">',
    '<a href="/documentation/x"><a href="/documentation?a">',
    '/documentation',
  ],
  [
    'loses it',
    '<a href="/docs/x"><a href="/docs"><a href="/blog">',
    '<a href="/x"><a href="/"><a href="/blog">',
    '',
  ],
];
for (const [name, before, after, basePath] of prefixed) {
  test(`a site that is served below /docs ${name} with the base path "${basePath}"`, async (t) => {
    assert.equal(await moved(t, '/page.html', { headers: html, body: before }, { basePath }, '/docs'), after);
  });
}

const stream = (address: string, length: string): string =>
  `1:"$S"\n2:T${length},<a href=\\"${address}/x\\">é</a>3:["$","a",null,{"href":"${address}/y","src":"${address}/j/app.js"}]\n`;
/** In UTF-8: 20 characters and a second byte of é, without the base path. */
const lengths = {
  plain: Buffer.byteLength('<a href=\\"/x\\">é</a>'),
  moved: Buffer.byteLength('<a href=\\"/docs/x\\">é</a>'),
};

test("a text of React's stream says its new length, in the file beside a page", async (t) => {
  const type = { 'content-type': 'text/plain' };
  const after = await moved(t, '/page.txt', { headers: type, body: stream('', lengths.plain.toString(16)) });
  assert.equal(after, stream('/docs', lengths.moved.toString(16)));
});

test("a text of React's stream says its new length, also where scripts push it in pieces", async (t) => {
  const page = (address: string, length: number): string => {
    const counted = (id: number): string => `${id}:T${length.toString(16)},<a href="${address}/x">é</a>`;
    const text = `${counted(2)}${counted(4)}3:["$","a",null,{"href":"${address}/y"}]\n`;
    const pieces = [text.slice(0, 3), text.slice(3, 14), text.slice(14)];
    const push = (piece: string): string =>
      `<script>self.__next_f.push([1,${JSON.stringify(piece).replaceAll('<', '\\u003c').replaceAll('é', '\\u00e9')}])</script>`;
    return `<a href="${address}/z">${pieces.map(push).join(`<img src="${address}/i.png">`)}`;
  };
  const text = (address: string): number => Buffer.byteLength(`<a href="${address}/x">é</a>`);
  // The pieces end at other positions of the text once it has grown, so only the joined stream is compared.
  const joined = (source: string): string =>
    [...source.matchAll(/push\(\[1,(".*?[^\\]")\]\)/g)].map(([, piece = '']) => JSON.parse(piece)).join('');
  const after = await moved(t, '/page.html', { headers: html, body: page('', text('')) });
  assert.equal(joined(after ?? ''), joined(page('/docs', text('/docs'))));
  assert.equal(after?.match(/<img src="\/docs\/i\.png">/g)?.length, 2);
});

test('without a base path the trap site has its bytes; with one, the same files', async (t) => {
  let site: Readonly<Record<string, traps.Served>> = {};
  const server: SiteServer = await serveSite(t, (path) => site[path]);
  site = traps.trapSite(server.origin.origin);
  const hashes = async (request: Partial<CrawlRequest>): Promise<ReadonlyMap<string, string>> =>
    new Map((await crawl(t, server.origin, { request })).files.map(({ path, sha256 }) => [path, sha256]));
  const plain = await hashes({});
  assert.deepEqual(await hashes({ basePath: '' }), plain, 'the site is at the root already');
  const below = await hashes({ basePath: '/docs' });
  assert.deepEqual([...below.keys()], [...plain.keys()]);
  const changed = [...below].filter(([path, sha256]) => plain.get(path) !== sha256).map(([path]) => path);
  assert.ok(changed.includes('index.html') && changed.includes('s/more.css'), changed.join(' '));
  assert.ok(!changed.some((path) => /\.(?:png|woff2|pdf)$/.test(path)), changed.join(' '));
});
