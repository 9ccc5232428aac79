// What pages load from other hosts: copied into the bundle with all that it loads itself, named there, and reported.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { requireComplete } from '#export-service/crawler/completeness.ts';
import { type CrawlResult, defaultCrawlLimits } from '#export-service/crawler/contract.ts';
import { publishableCode } from '#platform/wire/publishable-error.ts';
import { crawl, serveSite } from '../site-server.ts';

type Body = string | { readonly type: string; readonly body: string; readonly status?: number };

const types: Readonly<Record<string, string>> = {
  css: 'text/css',
  js: 'text/javascript',
  mjs: 'text/javascript',
  png: 'image/png',
  woff2: 'font/woff2',
};

/** Answers from a table, by path and query, with the type that the ending says. */
function serve(t: TestContext, bodies: Readonly<Record<string, Body>>, agents: string[] = []) {
  return serveSite(t, (path, request) => {
    agents.push(request.headers['user-agent'] ?? '');
    const found = bodies[path];
    if (found === undefined) return undefined;
    if (typeof found !== 'string') {
      const { status = 200, type, body } = found;
      return { status, headers: { 'content-type': type }, body };
    }
    const ending = /\.(\w+)(?:\?|$)/.exec(path)?.[1] ?? '';
    return { headers: { 'content-type': types[ending] ?? 'text/html' }, body: found };
  });
}

const allowPrivate = { assets: { allowedHosts: [], allowsPrivate: true } };

async function textsOf({ files }: CrawlResult): Promise<Readonly<Record<string, string>>> {
  const texts: Record<string, string> = {};
  for (const { path, read } of files) texts[path] = Buffer.concat(await Array.fromAsync(read())).toString();
  return texts;
}

const named = (body: string, ending: string): string =>
  `_v/${createHash('sha256').update(body).digest('hex').slice(0, 16)}.${ending}`;

test('a script, a style and its font of another host are copied, named in the page, and reported', async (t) => {
  const agents: string[] = [];
  const cdn = await serve(
    t,
    {
      '/lib.js?v=2': { type: 'text/javascript', body: 'lib()' },
      '/css2?family=Inter:ital,wght@0,400;1,400&display=swap': {
        type: 'text/css; charset=utf-8',
        body: '@font-face{src:url(/f/inter.woff2) format("woff2"), url("x.png#glyph")}',
      },
      '/f/inter.woff2': 'font',
      '/x.png': 'picture',
    },
    agents,
  );
  const at = cdn.origin.href;
  const home =
    `<link rel=preconnect href="${at}" crossorigin><link rel=stylesheet href="${at}css2?family=Inter:ital,wght@0,400;1,400&amp;display=swap">` +
    `<script src='${at}lib.js?v=2'></script><img srcset="${at}x.png 1x, ${at}x.png#a 2x" src=${at}x.png>` +
    `<pre>&lt;script src="${at}lib.js?v=2"></pre><a href="${at}other">other</a>`;
  const site = await serve(t, { '/': home });
  const result = await crawl(t, site.origin, { limits: allowPrivate });
  const texts = await textsOf(result);
  const [font, picture, script] = [named('font', 'woff2'), named('picture', 'png'), named('lib()', 'js')];
  const css = `@font-face{src:url(./${font.slice(3)}) format("woff2"), url("./${picture.slice(3)}#glyph")}`;
  assert.deepEqual(texts, {
    [font]: 'font',
    [picture]: 'picture',
    [script]: 'lib()',
    [named(css, 'css')]: css,
    'index.html':
      `<link rel=stylesheet href="/${named(css, 'css')}">` +
      `<script src='/${script}'></script><img srcset="/${picture} 1x, /${picture}#a 2x" src=/${picture}>` +
      `<pre>&lt;script src="${at}lib.js?v=2"></pre><a href="${at}other">other</a>`,
  });
  const { host } = cdn.origin;
  assert.deepEqual(result.copied, [
    { path: `${host}/css2`, file: named(css, 'css') },
    { path: `${host}/f/inter.woff2`, file: font },
    { path: `${host}/lib.js`, file: script },
    { path: `${host}/x.png`, file: picture },
  ]);
  assert.deepEqual(result.skipped, []);
  requireComplete(result, 'docs.example.com', defaultCrawlLimits);
  assert.ok(
    agents.slice(0, 1).every((agent) => /^Mozilla\/5\.0 /.test(agent)),
    agents[0],
  );
});

test('scripts, data and attributes that are data name a copy; prose does not change', async (t) => {
  const cdn = await serve(t, { '/a/picture.png?w=640': { type: 'image/png', body: 'p' } });
  const url = `${cdn.origin.href}a/picture.png?w=640`;
  const escaped = url.replaceAll('/', '\\/');
  const quoted = url.replace('?', '?').replaceAll('&', '&amp;');
  const script = `load("${url}"); push("[\\"src\\":\\"${url}\\"]"); json('${escaped}'); prose("see ${url} for more")`;
  const data = JSON.stringify({ src: url, srcSet: `${url} 1x, ${url} 2x`, text: `get ${url}` });
  const site = await serve(t, {
    '/': `<img src="${url}"><script src=/app.js></script><script>load("${url}")</script><a href=/d.json>d</a><x-y props="{&quot;src&quot;:&quot;${quoted}&quot;}">`,
    '/app.js': script,
    '/d.json': { type: 'application/json', body: data },
  });
  const texts = await textsOf(await crawl(t, site.origin, { limits: allowPrivate }));
  const plain = `/${named('p', 'png')}`;
  assert.equal(
    texts['app.js'],
    `load("${plain}"); push("[\\"src\\":\\"${plain}\\"]"); json('${plain}'); prose("see ${url} for more")`,
  );
  assert.equal(
    texts['d.json'],
    JSON.stringify({ src: plain, srcSet: `${plain} 1x, ${plain} 2x`, text: `get ${url}` }),
  );
  assert.equal(
    texts['index.html'],
    `<img src="${plain}"><script src=/app.js></script><script>load("${plain}")</script><a href=/d.json>d</a><x-y props="{&quot;src&quot;:&quot;${plain}&quot;}">`,
  );
});

test('modules import their copies, also in a circle, and the page imports the first', async (t) => {
  const cdn = await serve(t, {
    '/m@1/index.mjs': 'import "./a.mjs"; export const s = "./a.mjs"; import("/m@1/b.mjs")',
    '/m@1/a.mjs': 'import "./b.mjs"; //a',
    '/m@1/b.mjs': 'import "./a.mjs"; //b',
  });
  const site = await serve(t, {
    '/': `<script type="module">import m from "${cdn.origin.href}m@1/index.mjs"; m()</script>`,
  });
  const texts = await textsOf(await crawl(t, site.origin, { limits: allowPrivate }));
  const [a, b] = [named('import "./b.mjs"; //a', 'js'), named('import "./a.mjs"; //b', 'js')];
  assert.equal(texts[a], `import "./${b.slice(3)}"; //a`);
  assert.equal(texts[b], `import "./${a.slice(3)}"; //b`);
  const index = named('import "./a.mjs"; export const s = "./a.mjs"; import("/m@1/b.mjs")', 'js');
  assert.equal(
    texts[index],
    `import "./${a.slice(3)}"; export const s = "./a.mjs"; import("./${b.slice(3)}")`,
  );
  assert.match(texts['index.html'] ?? '', new RegExp(`import m from "/${index}"; m\\(\\)`));
});

test('an import map names the copy of its module', async (t) => {
  const cdn = await serve(t, { '/three.mjs': 'export {}' });
  const map = { imports: { three: `${cdn.origin.href}three.mjs`, 'three/addons/': '/own/' } };
  const site = await serve(t, { '/': `<script type=importmap>${JSON.stringify(map)}</script>` });
  const texts = await textsOf(await crawl(t, site.origin, { limits: allowPrivate }));
  const expected = { imports: { ...map.imports, three: `/${named('export {}', 'js')}` } };
  assert.equal(texts['index.html'], `<script type=importmap>${JSON.stringify(expected)}</script>`);
});

test('hashes of a copied style are those of its new bytes, and of a wrong one stay wrong', async (t) => {
  const css = '@import "other.css";';
  const cdn = await serve(t, { '/a.css': css, '/other.css': 'b{}' });
  const hashOf = (text: string): string => `sha384-${createHash('sha384').update(text).digest('base64')}`;
  const page = (hash: string): string =>
    `<link rel=stylesheet href="${cdn.origin.href}a.css" integrity="${hash}" crossorigin>`;
  const site = await serve(t, {
    '/': `${page(hashOf(css))}<a href=/wrong>w</a>`,
    '/wrong': page(hashOf('x')),
  });
  const texts = await textsOf(await crawl(t, site.origin, { limits: allowPrivate }));
  const copy = `@import "./${named('b{}', 'css').slice(3)}";`;
  assert.ok(texts['index.html']?.includes(`href="/${named(copy, 'css')}" integrity="${hashOf(copy)}"`));
  assert.ok(texts['wrong.html']?.includes(`integrity="${hashOf('x')}"`));
});

test('with a base path, copies are named below it', async (t) => {
  const cdn = await serve(t, { '/x.png': 'p' });
  const site = await serve(t, { '/': `<a href=/a>a</a><img src="${cdn.origin.href}x.png">`, '/a': 'a' });
  const result = await crawl(t, site.origin, { limits: allowPrivate, request: { basePath: '/docs' } });
  assert.equal(
    (await textsOf(result))['index.html'],
    `<a href=/docs/a>a</a><img src="/docs/${named('p', 'png')}">`,
  );
});

test('a load that cannot be copied fails the job with host, reason and page, and never with a query', async (t) => {
  const cdn = await serve(t, {
    '/login.js?token=secret': { type: 'text/html', body: '<p>log in' },
    '/refused.js': { type: 'text/plain', body: '', status: 403 },
    '/gone.png': { type: 'text/plain', body: '', status: 410 },
  });
  const at = cdn.origin.href;
  const site = await serve(t, {
    '/': `<script src="${at}login.js?token=secret"></script><a href=/b>b</a>`,
    '/b': `<script src="${at}refused.js"></script><img src="${at}gone.png"><script src="http://127.0.0.1:1/x.js"></script>`,
  });
  const result = await crawl(t, site.origin, { limits: allowPrivate });
  const { host } = cdn.origin;
  assert.deepEqual(result.skipped, [
    { path: '127.0.0.1:1/x.js', reason: 'ExternalUnreachable', from: '/b' },
    { path: `${host}/gone.png`, reason: 'Gone', from: '/b' },
    { path: `${host}/login.js`, reason: 'ExternalNotAnAsset', from: '/' },
    { path: `${host}/refused.js`, reason: 'ExternalAccessDenied', from: '/b' },
  ]);
  assert.throws(
    () => requireComplete(result, 'docs.example.com', defaultCrawlLimits),
    (error) => {
      assert.equal(publishableCode(error), 'AssetsNotCopied');
      const words = error instanceof Error ? error.message : '';
      assert.match(words, /login\.js \(NotAnAsset, from \/\).*--allow-external 127\.0\.0\.1:1$/);
      assert.doesNotMatch(words, /secret/);
      return true;
    },
  );
  // What its host does not have is asked for from nobody: the bundle answers 404 as the host did.
  const { 'b.html': page = '' } = await textsOf(result);
  assert.match(page, /<img src="\/_v\/[0-9a-f]{16}\.png">/);
  assert.ok(page.includes(`src="${at}refused.js"`));
});

test('an allowed host is not asked, and its loads and connections stay', async (t) => {
  const cdn = await serve(t, { '/x.png': 'p' });
  const page = `<link rel=dns-prefetch href="${cdn.origin.href}"><img src="${cdn.origin.href}x.png">`;
  const site = await serve(t, { '/': page });
  const assets = { allowedHosts: [cdn.origin.host], allowsPrivate: true };
  const result = await crawl(t, site.origin, { limits: { assets } });
  assert.deepEqual([await textsOf(result), cdn.requests], [{ 'index.html': page }, []]);
  assert.deepEqual(result.skipped, [{ path: `${cdn.origin.host}/x.png`, reason: 'External', from: '/' }]);
  requireComplete(result, 'docs.example.com', defaultCrawlLimits);
});

test('an internal address is not asked unless that is allowed, also behind a redirect', async (t) => {
  const cdn = await serve(t, { '/x.png': 'p' });
  const site = await serve(t, { '/': `<img src="${cdn.origin.href}x.png">` });
  const assets = { allowedHosts: [], allowsPrivate: false };
  const result = await crawl(t, site.origin, { limits: { assets } });
  assert.deepEqual([result.skipped[0]?.reason, cdn.requests], ['ExternalInternal', []]);
  assert.throws(
    () => requireComplete(result, 'docs.example.com', defaultCrawlLimits),
    /--allow-private-assets/,
  );
  const metadata = await serveSite(t, () => ({
    status: 302,
    headers: { location: 'http://169.254.169.254/latest/meta-data/' },
  }));
  const other = await serve(t, { '/': `<img src="${metadata.origin.href}x.png">` });
  const redirected = await crawl(t, other.origin, { limits: allowPrivate });
  assert.equal(redirected.skipped[0]?.reason, 'ExternalInternal');
});

test('a redirect is followed, and addresses of a style are relative to its end', async (t) => {
  const cdn = await serveSite(t, (path) => {
    if (path === '/lib@latest/a.css') return { status: 302, headers: { location: '/lib@2.0.0/a.css' } };
    if (path === '/lib@2.0.0/a.css')
      return { headers: { 'content-type': 'text/css' }, body: 'b{background:url(p.png)}' };
    return path === '/lib@2.0.0/p.png' ? { headers: { 'content-type': 'image/png' }, body: 'p' } : undefined;
  });
  const site = await serve(t, { '/': `<link rel=stylesheet href="${cdn.origin.href}lib@latest/a.css">` });
  const result = await crawl(t, site.origin, { limits: allowPrivate });
  const css = `b{background:url(./${named('p', 'png').slice(3)})}`;
  assert.equal((await textsOf(result))[named(css, 'css')], css);
});

test('two crawls of one site give the same files, whatever the order of answers', async (t) => {
  const bodies = Object.fromEntries(
    Array.from({ length: 12 }, (_, index) => [`/${index}.png`, `${index % 5}`]),
  );
  let turn = 0;
  const cdn = await serveSite(t, async (path) => {
    await new Promise((resolve) => setTimeout(resolve, (turn++ * 7) % 20));
    return { headers: { 'content-type': 'image/png' }, body: bodies[path] ?? '' };
  });
  const images = Object.keys(bodies).map((path) => `<img src="${new URL(path, cdn.origin).href}">`);
  const site = await serve(t, { '/': images.join('') });
  const [one, two] = [
    await crawl(t, site.origin, { limits: allowPrivate }),
    await crawl(t, site.origin, { limits: allowPrivate }),
  ];
  assert.deepEqual(await textsOf(one), await textsOf(two));
  assert.equal(one.files.length, 6);
});

test('links that prefetch stay where they are of the site, and go as a whole where they are not', async (t) => {
  const cdn = await serve(t, { '/x.js': 'x' });
  const url = `${cdn.origin.href}x.js`;
  const own = '<link rel="prefetch" href="/n.png?w=1"><img src="/n.png?w=1"><img src="/n.png?w=2">';
  const site = await serve(t, {
    '/': `<link rel="prefetch" href="${url}"><script src="${url}"></script>${own}`,
    '/n.png?w=1': { type: 'image/png', body: '1' },
    '/n.png?w=2': { type: 'image/png', body: '2' },
  });
  const texts = await textsOf(await crawl(t, site.origin, { limits: allowPrivate }));
  const [one, two] = [named('1', 'png'), named('2', 'png')];
  assert.equal(
    texts['index.html'],
    `<script src="/${named('x', 'js')}"></script><link rel="prefetch" href="/${one}"><img src="/${one}"><img src="/${two}">`,
  );
});

test('no copy is a page of the site, whatever its host says', async (t) => {
  const cdn = await serve(t, { '/x.html': { type: 'text/plain', body: '<script>alert(1)</script>' } });
  const site = await serve(t, { '/': `<img src="${cdn.origin.href}x.html">` });
  const { files } = await crawl(t, site.origin, { limits: allowPrivate });
  assert.deepEqual(
    files.map(({ path }) => path),
    [named('<script>alert(1)</script>', 'bin'), 'index.html'],
  );
});

test('a failure shows, also where another query of the address is only missing', async (t) => {
  const cdn = await serve(t, {
    '/b.js?v=1': { type: 'text/plain', body: '', status: 418 },
    '/b.js?v=2': { type: 'text/plain', body: '', status: 404 },
  });
  const at = `${cdn.origin.href}b.js`;
  const site = await serve(t, { '/': `<script src="${at}?v=1"></script><script src="${at}?v=2"></script>` });
  const { skipped } = await crawl(t, site.origin, { limits: allowPrivate });
  assert.deepEqual(
    skipped.map(({ reason }) => reason),
    ['ExternalStatus418'],
  );
});

test('a picture that loads late is copied, and folders and scopes of an import map are named as not copied', async (t) => {
  const cdn = await serve(t, { '/late.png': 'p' });
  const at = cdn.origin.href;
  const map = { imports: { 'm/': `${at}m/` }, scopes: { [`${at}s/`]: { b: `${at}s/b.js` } } };
  const site = await serve(t, {
    '/': `<img class=lazy data-src="${at}late.png"><iframe data-src="${at}frame"></iframe><script type=importmap>${JSON.stringify(map)}</script>`,
  });
  const result = await crawl(t, site.origin, { limits: allowPrivate });
  assert.match((await textsOf(result))['index.html'] ?? '', new RegExp(`data-src="/${named('p', 'png')}"`));
  assert.deepEqual(
    result.skipped.map(({ path, reason }) => `${path.replace(cdn.origin.host, '')} ${reason}`),
    ['/m/ ExternalNotTried', '/s/ ExternalNotTried', '/s/b.js ExternalNotTried'],
  );
});

test('a host that keeps failing is given up, and others are not', async (t) => {
  const cdn = await serveSite(t, (path) =>
    path === '/0.png'
      ? { headers: { 'content-type': 'image/png' }, body: 'p' }
      : { status: 503, headers: { 'content-type': 'text/plain' }, body: '' },
  );
  const images = Array.from({ length: 20 }, (_, index) => `<img src="${cdn.origin.href}${index}.png">`);
  const site = await serve(t, { '/': images.join('') });
  const { skipped } = await crawl(t, site.origin, { limits: { ...allowPrivate, concurrency: 1 } });
  assert.deepEqual(new Set(skipped.map(({ reason }) => reason)), new Set(['ExternalFailed']));
  assert.deepEqual([skipped.length, cdn.requests.length], [19, 7]);
});

test('a text of a stream says its new length, also where its ampersand was an escape', async (t) => {
  const cdn = await serve(t, { '/p.png?a=1&b=2': { type: 'image/png', body: 'p' } });
  const url = `${cdn.origin.href}p.png?a=1&b=2`;
  const row = (address: string): string => {
    const text = `{"src":"${address}"}`;
    return `5:T${text.length.toString(16)},${text}6:["$"]`;
  };
  const pushed = (stream: string): string =>
    `<script>self.__next_f.push([1,${JSON.stringify(stream).replaceAll('&', '\\u0026')}])</script>`;
  const site = await serve(t, { '/': `<img src="${url.replace('&', '&amp;')}">${pushed(row(url))}` });
  const { 'index.html': page = '' } = await textsOf(await crawl(t, site.origin, { limits: allowPrivate }));
  const stream = /push\(\[1,(".*")\]\)/.exec(page)?.[1] ?? '';
  const text = JSON.parse(stream);
  const address = /"src":"([^"]*)"/.exec(text)?.[1] ?? '';
  assert.match(address, new RegExp(`^/${named('p', 'png')}\\?_+$`));
  assert.equal(text, row(address));
});

test('a page whose base is on another host loads its copies, and its other addresses lead where they led', async (t) => {
  const cdn = await serve(t, { '/assets/x.png': 'p', '/assets/late.js': 'l' });
  const at = `${cdn.origin.href}assets/`;
  const home =
    `<link rel=stylesheet href=own.css><base href="${at}" target=_top><img src=x.png><script src="late.js"></script>` +
    '<a href="../a?b=1&amp;c=2#d">a</a><a href=#part>part</a><a href="http://e.example/">e</a>';
  const site = await serve(t, { '/': home, '/own.css': 'b{}' });
  const texts = await textsOf(await crawl(t, site.origin, { limits: allowPrivate }));
  assert.equal(
    texts['index.html'],
    `<link rel=stylesheet href=own.css><base href="" target=_top><img src=/${named('p', 'png')}><script src="/${named('l', 'js')}"></script>` +
      `<a href="${cdn.origin.href}a?b=1&amp;c=2#d">a</a><a href=#part>part</a><a href="http://e.example/">e</a>`,
  );
  assert.equal(texts['own.css'], 'b{}');
});

test('a page whose base is on another host and that loads nothing of it stays as it is', async (t) => {
  const home = '<base href=http://127.0.0.1:1/docs/><a href=a>a</a>';
  const site = await serve(t, { '/': home });
  const texts = await textsOf(await crawl(t, site.origin, { limits: allowPrivate }));
  assert.equal(texts['index.html'], home);
});

test('HTML that a page’s data carry names the copy too', async (t) => {
  const cdn = await serve(t, { '/x.png': 'p' });
  const image = `<img src="${cdn.origin.href}x.png">`;
  const sample = { text: image };
  const page = (address: string): string => `<p>${image.replace(`${cdn.origin.href}x.png`, address)}</p>`;
  const data = (html: string): string => JSON.stringify({ html, sample });
  const site = await serve(t, {
    '/': `${image}<script src=/app.js></script><link rel=preload as=fetch href=/page.json>`,
    '/app.js': 'fetch("/page.json")',
    '/page.json': { type: 'application/json', body: data(page(`${cdn.origin.href}x.png`)) },
  });
  const texts = await textsOf(await crawl(t, site.origin, { limits: allowPrivate }));
  assert.equal(texts['page.json'], data(page(`/${named('p', 'png')}`)));
});
