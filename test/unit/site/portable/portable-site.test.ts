// A portable site as a whole: which files go, what else changes, and that a second time changes nothing.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Script } from 'node:vm';
import { maxPortableBytes, planPortable, readerScriptPath } from '#site/portable/portable-site.ts';
import { readerScript } from '#site/portable/reader-script.ts';
import * as fc from '../../../support/properties.ts';
import { portable, portableFiles } from './portable-files.ts';

const framework =
  '<html><head><script type="module" src="/assets/app.js"></script></head><a href="/guide">g</a></html>';

test('style sheets, manifests and pictures get relative addresses', async () => {
  const { site } = await portable({
    'assets/a.css': '@charset "x";a{b:url(/assets/f.woff2?v=1#x)}@namespace url(/assets/a.css);',
    'assets/f.woff2': '',
    'site.webmanifest': '{"icons":[{"src":"\\/assets\\/i.svg"}],"start_url":"/"}',
    'assets/i.svg':
      '<svg><a href="/"><image xlink:href="/assets/f.woff2"/></a><script>import "/x"</script></svg>',
    'index.html': 'h',
  });
  assert.equal(site['assets/a.css'], '@charset "x";a{b:url(f.woff2?v=1#x)}@namespace url(/assets/a.css);');
  assert.equal(site['site.webmanifest'], '{"icons":[{"src":"assets/i.svg"}],"start_url":"index.html"}');
  assert.equal(
    site['assets/i.svg'],
    '<svg><a href="../index.html"><image xlink:href="f.woff2"/></a><script>import "/x"</script></svg>',
  );
});

test('with the scripts of a framework go its code and payloads, and what a page still asks for stays', async () => {
  const { site, plan } = await portable({
    'index.html': framework,
    'guide.html': '<a href="/assets/kept.js" download>',
    'guide.txt': '1:"$Sreact.fragment"\n0:["$","p",null,{}]\n',
    'llms.txt': '# Docs',
    'assets/app.js': '',
    'assets/kept.js': '',
    'assets/chunks/x.js': '',
    'assets/a.css': '',
    '_next/static/y.js': '',
    'other/z.js': '',
  });
  const scripts = ['assets/app.js', 'assets/chunks/x.js', '_next/static/y.js', 'guide.txt'];
  const left = Object.keys(site);
  assert.equal(left.includes('other/z.js'), true);
  assert.deepEqual(left.includes(readerScriptPath), true);
  // A script of the folder stays, so its neighbours may be its own.
  assert.deepEqual(
    scripts.filter((path) => left.includes(path)),
    ['assets/chunks/x.js'],
  );
  assert.deepEqual([plan.scripts, plan.dropped, plan.changed], [1, 3, 2]);
  const whole = await portable({ 'index.html': framework, 'assets/app.js': '', 'assets/chunks/x.js': '' });
  assert.deepEqual(Object.keys(whole.site), [readerScriptPath, 'index.html']);
});

test('a site whose scripts are classic keeps them all, and gets no script', async () => {
  const before = {
    'index.html': '<script src="_static/x.js"></script><a href="guide.html#a">g</a>',
    'guide.html': '<a href="./index.html">h</a>',
    '_static/x.js': 'fetch("/x")',
    'searchindex.js': 'Search.setIndex({})',
  };
  const { site, plan } = await portable(before);
  assert.deepEqual(site, Object.fromEntries(Object.entries(before).sort(([a], [b]) => (a < b ? -1 : 1))));
  assert.equal(plan.isChanged, false);
});

test('a search box that needs a server is hidden, and one whose index is a classic script stays', async () => {
  const box = '<head></head><div class="md-search"></div>';
  const hidden = await portable({ 'index.html': box, 'search/search_index.json': '{}' });
  assert.match(hidden.site['index.html'] ?? '', /display:none/);
  const shown = await portable({ 'index.html': box, 'search/search_index.js': '' });
  assert.equal(shown.site['index.html'], box);
});

test('a page gets copies of the symbols that it uses from another file, each once', async () => {
  const { site } = await portable({
    'img/icons.svg':
      '<svg id="all"><symbol id="a" viewBox="0 0 1 1"><symbol/><symbol></symbol></symbol><g id="b"/><symbol id="c"><script>x</script></symbol></svg>',
    'guides/x.html':
      '<body><svg><use href="/img/icons.svg#a"/><use xlink:href="../img/icons.svg#a"/><use href="../img/icons.svg#b"/></svg></body>',
    'index.html':
      '<svg><use href="/img/icons.svg#c"/><use href="/img/icons.svg#none"/><use href="#a"/></svg>',
  });
  const [, id = ''] = /href="#(sx-[0-9a-f]{8}-a)"/.exec(site['guides/x.html'] ?? '') ?? [];
  const other = id.replace(/a$/, 'b');
  assert.equal(
    site['guides/x.html'],
    `<body><svg><use href="#${id}"/><use xlink:href="#${id}"/><use href="#${other}"/></svg>` +
      `<svg style="display:none" aria-hidden="true"><symbol id="${id}" viewBox="0 0 1 1"><symbol/><symbol></symbol></symbol>` +
      `<g id="${other}"/></svg></body>`,
  );
  // Code is not copied, and what is not there cannot be.
  assert.equal(
    site['index.html'],
    '<svg><use href="img/icons.svg#c"/><use href="img/icons.svg#none"/><use href="#a"/></svg>',
  );
});

test('a page that holds JSON stays as it is, and so does a text of more than 8 MiB, which is named', async () => {
  const long = '<a href="/">'.padEnd(maxPortableBytes + 1, ' ');
  const data = '{"html": "<a href=\\"/\\">"}';
  const { site, plan } = await portable({ 'index.html': 'h', 'a.html': data, 'long.html': long });
  assert.equal(site['a.html'], data);
  assert.equal(site['long.html'] === long, true);
  assert.deepEqual(plan.unread, ['long.html']);
});

test('addresses that lead to no file are counted, with the first pages that have one', async () => {
  const { plan } = await portable({ 'index.html': '<a href="/no"><a href="no">', 'b.html': '<a href="/b">' });
  assert.deepEqual(plan.lost, { count: 2, examples: ['index.html'] });
});

test('links of a page below a base path lead to the files of the archive', async () => {
  const { site } = await portable(
    { 'index.html': '<a href="/docs/a"><a href="/other">', 'a.html': '' },
    { basePath: '/docs/' },
  );
  assert.equal(site['index.html'], '<a href="a.html"><a href="/other">');
});

test('a signal ends the plan', async () => {
  const reason = new Error('ended');
  await assert.rejects(planPortable(portableFiles({ a: 'b' }), {}, AbortSignal.abort(reason)), reason);
});

test('the script for readers is a classic script of ASCII that asks for nothing', () => {
  assert.doesNotThrow(() => new Script(readerScript));
  assert.match(readerScript, /^[\n\x20-\x7e]+$/);
  assert.doesNotMatch(readerScript, /\b(?:fetch|import|XMLHttpRequest|Worker)\b|<\/script/);
  assert.equal(readerScript.length < 12 * 1024, true);
});

for (const [protocol, origin, target] of [
  ['file:', 'null', '*'],
  ['https:', 'https://docs.example.com', 'https://docs.example.com'],
] as const) {
  test(`a page of ${protocol} in a frame gives the list of a category to ${target}`, () => {
    const list = { outerHTML: '<ul>list</ul>', querySelectorAll: () => [] };
    const item = { querySelector: (selector: string) => (selector === 'ul' ? list : {}) };
    const category = { querySelector: () => ({ textContent: 'Guides' }), parentElement: item };
    const sent: unknown[] = [];
    const context = {
      document: {
        documentElement: { classList: { contains: () => false }, dataset: {} },
        head: { append: () => {} },
        createElement: () => ({}),
        addEventListener: () => {},
        querySelectorAll: (selector: string) =>
          selector === '.menu__list-item-collapsible' ? [category] : [],
      },
      location: { protocol, origin },
      parent: { postMessage: (...message: readonly unknown[]) => sent.push(message) },
      window: { name: 'sx-list Guides', addEventListener: () => {} },
    };
    new Script(readerScript).runInNewContext(context);
    assert.deepEqual(sent, [['<ul>list</ul>', target]]);
    new Script(readerScript).runInNewContext({ ...context, window: { ...context.window, name: '' } });
    assert.equal(sent.length, 1);
  });
}

for (const [what, message, parsed] of [
  ['of another origin is refused', { origin: 'https://evil.example', data: '<ul></ul>' }, []],
  ['that is not a text is refused', { data: { toString: () => '<ul></ul>' } }, []],
  ['of another window is refused', { source: {}, data: '<ul></ul>' }, []],
  ['of its own origin is read as a document', { data: '<ul></ul>' }, ['<ul></ul>']],
] as const) {
  test(`a message to an open category ${what}`, () => {
    const origin = 'https://docs.example.com';
    const read: string[] = [];
    const listeners = new Map<string, (event: object) => void>();
    const addEventListener = (name: string, listener: (event: object) => void): void =>
      void listeners.set(name, listener);
    const frame = { contentWindow: {}, remove: () => {} };
    const category = {
      querySelector: () => ({ origin, textContent: 'Guides', href: `${origin}/guides/` }),
      parentElement: { querySelector: () => null },
    };
    class FakeElement {
      readonly localName = 'a';
      readonly closest = (selector: string): object | null =>
        selector === '.menu__list-item-collapsible' ? category : null;
      readonly matches = (): boolean => false;
    }
    new Script(readerScript).runInNewContext({
      document: {
        documentElement: { classList: { contains: () => false }, dataset: {} },
        head: { append: () => {} },
        body: { append: () => {} },
        createElement: (name: string) => (name === 'iframe' ? frame : {}),
        addEventListener,
        querySelectorAll: () => [],
      },
      location: { origin },
      self: { origin },
      window: { name: '', addEventListener },
      Element: FakeElement,
      DOMParser: class {
        parseFromString(text: string): object {
          read.push(text);
          return { querySelector: () => null };
        }
      },
    });
    listeners.get('click')?.({ target: new FakeElement(), preventDefault: () => {} });
    listeners.get('message')?.({ origin, source: frame.contentWindow, ...message });
    assert.deepEqual(read, parsed);
  });
}

const names = fc.constantFrom(
  'index.html',
  'a.html',
  'b/index.html',
  'a.css',
  'b/x.js',
  'assets/app.js',
  'i.svg',
  'm.webmanifest',
);
const pieces = fc.constantFrom(
  ...[
    '<',
    '</',
    '<!--',
    '-->',
    '>',
    '"',
    "'",
    ' ',
    '\n',
    '&amp;',
    '\xe4',
    '<head>',
    '</head>',
    '<body>',
    '<style>',
  ],
  ...[
    '</style>',
    '<script>',
    '</script>',
    '<svg>',
    '<use href="i.svg#a"/>',
    '<symbol id="a">',
    '</symbol>',
    '<g id="a"/>',
    'url(/a)',
    'url("/b/")',
    '@import "/a.css";',
  ],
  ...[
    '<a href="/a">',
    '<a href=/b/>',
    '<base href="/b/">',
    '<base href="/" target=x>',
    '<a href="a.html#x">',
    '<a href="#x">',
  ],
  ...[
    '<script type="module" src="/assets/app.js">',
    '<script src="/b/x.js" integrity="x">',
    'import',
    '__next_f',
    '{"src":"/a"}',
  ],
  ...[
    '<img srcset="/a.css 1x, /b 2x" crossorigin>',
    '<link rel="manifest" href="/a">',
    '<link rel="modulepreload" href="/b/x.js">',
  ],
  ...[
    '<meta http-equiv="refresh" content="0;url=/a">',
    '<p style="a:url(&quot;/a&quot;)">',
    '<i href="/a" href="/b">',
    '<div class="md-search">',
  ],
  ...[
    '<template>',
    '<title>',
    '<noscript>',
    '<a href="https://docs.example.com/a">',
    '<a href="/missing/">',
    '\\',
    ')',
    '(',
    ';',
  ],
);
const texts = fc.array(pieces, { maxLength: 14 }).map((parts) => parts.join(''));

test('a portable site is not changed by a second time, whatever its pages hold', async () => {
  await fc.assertAsync(
    fc.asyncProperty(fc.dictionary(names, texts, { maxKeys: 5, noNullPrototype: true }), async (site) => {
      const options = { domain: 'docs.example.com' };
      const once = await portable(site, options);
      const twice = await portable(once.site, options);
      assert.deepEqual(twice.site, once.site);
      assert.deepEqual([twice.plan.isChanged, twice.plan.digest], [false, once.plan.digest]);
    }),
    { numRuns: 1500 },
  );
});
