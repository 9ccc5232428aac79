// Files whose query decides what they are: each gets a path of its own, and all that names it names that path.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { editOptimizer, editVariants } from '#export-service/crawler/rewrite/variant-edits.ts';
import { applyEdits } from '#platform/html/source-edits.ts';
import { createScope } from '#site/site-scope.ts';
import * as fc from '../../../../support/properties.ts';
import { crawl, pages, serveSite, textsOf } from '../site-server.ts';

const names = ['logo', 'step-1', 'step-2', 'step-3', 'architecture', 'team'];
const image = (name: string, width: number): string => `/_next/image?url=%2F${name}.png&w=${width}&q=75`;
const escaped = (address: string): string => address.replaceAll('&', '&amp;');
const element = (name: string): string =>
  `<img srcset="${escaped(image(name, 640))} 1x, ${escaped(image(name, 1200))} 2x" src="${escaped(image(name, 1200))}">`;
const payload = (name: string): string =>
  `:HL["${image(name, 640)}","image",{"imageSrcSet":"${image(name, 640)} 1x, ${image(name, 1200)} 2x"}]`;
const pushed = (text: string): string =>
  `<script>self.__next_f.push([1,${JSON.stringify(text).replaceAll('&', '\\u0026')}])</script>`;

const nextSite = (url: string) => {
  const { pathname, searchParams } = new URL(url, 'http://site');
  if (pathname === '/_next/image') {
    const body = `picture ${searchParams.get('url')} at ${searchParams.get('w')}`;
    return { headers: { 'content-type': 'image/webp' }, body };
  }
  const source = names.find((name) => pathname === `/${name}.png`);
  if (source !== undefined) return { headers: { 'content-type': 'image/png' }, body: `original ${source}` };
  return pages({ '/': names.map(element).join('') + names.map((name) => pushed(payload(name))).join('') })(
    url,
  );
};

test('each picture of an optimizer is a file of its own, and pages and their data name it', async (t) => {
  const { origin } = await serveSite(t, nextSite);
  const result = await crawl(t, origin);
  const texts = await textsOf(result);
  const variants = Object.entries(texts).filter(([path]) => path.startsWith('_v/'));
  assert.equal(variants.length, 12);
  assert.ok(variants.every(([path]) => /^_v\/[0-9a-f]{16}\.webp$/.test(path)));
  const home = texts['index.html'] ?? '';
  assert.ok(!home.includes('/_next/image'), home);
  for (const name of names) {
    const [path = ''] = variants.find(([, body]) => body === `picture /${name}.png at 640`) ?? [];
    assert.equal(home.split(`/${path}`).length - 1, 3, `${name}: in a srcset, and twice in data`);
    assert.equal(texts[`${name}.png`], `original ${name}`);
  }
  assert.equal(texts['_next/image'], undefined, 'no picture stands for another one');
  assert.deepEqual(result.skipped, []);
  assert.deepEqual(result.queryVariants, [{ path: '/_next/image', queries: 12, contents: 12 }]);
});

test('widths of one picture are files of their own, also where the first of them have the same body', async (t) => {
  const widths = [1200, 1080, 828, 750, 640, 384];
  const site = (url: string) => {
    const { pathname, searchParams } = new URL(url, 'http://site');
    if (pathname !== '/_next/image') {
      return pages({ '/': widths.map((width) => `<img src="${escaped(image('small', width))}">`).join('') })(
        url,
      );
    }
    // A server makes no picture wider than its source.
    const width = Math.min(600, Number(searchParams.get('w')));
    return { headers: { 'content-type': 'image/webp' }, body: `picture at ${width}` };
  };
  const { origin } = await serveSite(t, site);
  const { 'index.html': home = '', ...texts } = await textsOf(await crawl(t, origin));
  const shown = [...home.matchAll(/src="\/([^"]+)"/g)].map(([, path = '']) => texts[path]);
  assert.deepEqual(
    shown,
    widths.map((width) => `picture at ${Math.min(600, width)}`),
  );
});

test('what a framework counts keeps its length', async (t) => {
  const { origin } = await serveSite(t, nextSite);
  const home = (await textsOf(await crawl(t, origin)))['index.html'] ?? '';
  const lengths = (html: string) =>
    [...html.matchAll(/push\(\[1,("[^<]*")\]\)/g)].map(([, text = '']) => text.length);
  assert.deepEqual(lengths(home), lengths(nextSite('/')?.body?.toString() ?? ''));
});

test('below a base path the file is named with it, and a relative address stays relative', async (t) => {
  const { origin } = await serveSite(t, (url) =>
    url.startsWith('/img/a.png?')
      ? { headers: { 'content-type': 'image/png' }, body: url }
      : pages({
          '/': '<a href="/guide/x">',
          '/guide/x': '<img src="../img/a.png?1"><img src="/img/a.png?2">',
        })(url),
  );
  const page = async (basePath?: string) =>
    (await textsOf(await crawl(t, origin, { request: { basePath } })))['guide/x.html'] ?? '';
  assert.match(await page(), /<img src="\.\.\/_v\/[0-9a-f]{16}\.png"><img src="\/_v\/[0-9a-f]{16}\.png">/);
  assert.match(await page('/docs'), /<img src="\.\.\/_v\/[0-9a-f]{16}\.png"><img src="\/docs\/_v\//);
});

test('a style with a stamp is one file, and no body that names it changes', async (t) => {
  const home = '<link rel=stylesheet href="/a.css?v=1"><link rel=stylesheet href="/a.css?v=2">';
  const { origin } = await serveSite(t, (url) =>
    url.startsWith('/a.css')
      ? { headers: { 'content-type': 'text/css' }, body: 'a{}' }
      : pages({ '/': home })(url),
  );
  const texts = await textsOf(await crawl(t, origin));
  assert.deepEqual(Object.keys(texts), ['a.css', 'index.html']);
  assert.ok(texts['index.html']?.includes(home));
});

test('a redirect to a file with a query is a copy of that file', async (t) => {
  const { origin } = await serveSite(t, (url) => {
    if (url === '/logo.png') return { status: 302, headers: { location: '/pictures?id=2' } };
    if (url.startsWith('/pictures?')) return { headers: { 'content-type': 'image/png' }, body: url };
    return pages({ '/': '<img src="/pictures?id=1"><img src="/logo.png">' })(url);
  });
  const result = await crawl(t, origin);
  assert.equal((await textsOf(result))['logo.png'], '/pictures?id=2');
  assert.deepEqual(result.skipped, []);
});

const scope = createScope('docs.example.com', new URL('http://127.0.0.1:4000/'));
const paths = new Map([
  ['/a.png?1', '_v/one.png'],
  ['/i?url=%2Fa.png&w=6', '_v/two.webp'],
]);
const edited = (role: 'document' | 'style' | 'script' | 'other', source: string): string =>
  applyEdits(
    source,
    editVariants(
      { role, source, base: new URL('http://127.0.0.1:4000/g/x'), scripts: [] },
      { scope, paths, basePath: '' },
    ),
  );
const rows: readonly (readonly [string, string, string])[] = [
  ['an attribute', edited('document', '<img src="/a.png?1">'), '<img src="/_v/one.png">'],
  ['without quotes', edited('document', '<img src=/a.png?1>'), '<img src=/_v/one.png>'],
  [
    'the public name',
    edited('document', '<img src="https://docs.example.com/a.png?1">'),
    '<img src="/_v/one.png">',
  ],
  ['the end of a srcset', edited('document', '"/i?url=%2Fa.png&amp;w=6, /x 2x"'), '"/_v/two.webp, /x 2x"'],
  ['a style', edited('style', 'a{b:url(../a.png?1)}'), 'a{b:url(../_v/one.png)}'],
  ['JSON', edited('other', '{"a":"\\/i?url=%2Fa.png\\u0026w=6"}'), '{"a":"/_v/two.webp?____________"}'],
  ['another query', edited('document', '<img src="/a.png?2">'), '<img src="/a.png?2">'],
  [
    'another host',
    edited('document', '<img src="https://x.example/a.png?1">'),
    '<img src="https://x.example/a.png?1">',
  ],
  ['a script with a relative address', edited('script', 'a("../a.png?1")'), 'a("../a.png?1")'],
  ['a question in a text', edited('document', 'a.png? 1'), 'a.png? 1'],
];
for (const [name, actual, expected] of rows)
  test(`${name}: ${expected}`, () => assert.equal(actual, expected));

test('text without such an address keeps its bytes, whatever it holds', () => {
  const token = fc.constantFrom(
    '/a.png?1',
    '/a.png',
    '?',
    '\\u0026',
    '&amp;',
    '"',
    ' ',
    '\\',
    '=',
    'x',
    '\u00e9',
    ',',
  );
  fc.assert(
    fc.property(fc.array(token, { maxLength: 40 }), (parts) => {
      const source = parts.join('');
      const left = edited('document', source).replaceAll('/_v/one.png', '').replaceAll('_v/one.png', '');
      assert.ok(source.length >= left.length);
      if (!source.includes('a.png?1')) assert.equal(left, source);
    }),
  );
});

const options =
  'deviceSizes:[640],path:"/_next/image",loader:"default",dangerouslyAllowSVG:!1,unoptimized:!1';
const json = '"deviceSizes":[640],"path":"/docs/_next/image","loader":"default","unoptimized":false';

test('a script of an optimizer shows originals from then on, in both spellings and at the same length', () => {
  const patched = (source: string): string => applyEdits(source, editOptimizer(source));
  assert.equal(patched(`{${options}}`), `{${options.replace('unoptimized:!1', 'unoptimized:!0')}}`);
  assert.equal(patched(`{${json}}`), `{${json.replace('false', 'true ')}}`);
  const other = options.replace('"default"', '"custom"');
  assert.equal(patched(other), other);
});

test('a script is changed only where pictures of an optimizer are files of their own', async (t) => {
  const script = `var o={${options}}`;
  const withScript = (url: string) =>
    url === '/a.js' ? { headers: { 'content-type': 'text/javascript' }, body: script } : undefined;
  const plain = await serveSite(
    t,
    (url) => withScript(url) ?? pages({ '/': '<script src="/a.js"></script>' })(url),
  );
  assert.equal((await textsOf(await crawl(t, plain.origin)))['a.js'], script);
  const optimized = await serveSite(t, (url) => {
    const home = names.map(element).join('').concat('<script src="/a.js"></script>');
    return withScript(url) ?? (url === '/' ? pages({ '/': home })(url) : nextSite(url));
  });
  assert.match((await textsOf(await crawl(t, optimized.origin)))['a.js'] ?? '', /unoptimized:!0/);
});

test('a long text of question marks takes linear time', () => {
  const time = (length: number): number => {
    const source = 'a.png?'.repeat(length);
    const before = process.cpuUsage();
    edited('document', source);
    const { user } = process.cpuUsage(before);
    return user;
  };
  time(2000);
  const [short, long] = [time(5000), time(40_000)];
  assert.ok(long < 40 * Math.max(short, 2000), `${short} and ${long} microseconds`);
});
