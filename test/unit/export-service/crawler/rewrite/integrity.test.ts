// The hashes by which a page accepts its files, after the site moved below a base path: browsers must accept what they
// accepted before, and nothing that they refused. Expectations are hashes of the moved files, taken here.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import type { Served } from '../../../../fixtures/sites/trap-site.ts';
import { domain } from '../../../../fixtures/sites/trap-site.ts';
import { crawl, serveSite, textsOf } from '../site-server.ts';

const typed = (type: string, body: string): Served => ({ headers: { 'content-type': type }, body });
/** Path → body, and what becomes of it below `/docs`. */
const bodies: Readonly<Record<string, readonly [type: string, before: string, after: string]>> = {
  '/a.css': ['text/css', '@import "/b.css";', '@import "/docs/b.css";'],
  '/b.css': ['text/css', 'a{color:red}', 'a{color:red}'],
  '/é.css': ['text/css', 'é{b:url(/b.css)}', 'é{b:url(/docs/b.css)}'],
  '/in/a.css': ['text/css', 'i{b:url(/b.css)}', 'i{b:url(/docs/b.css)}'],
  '/a.js': ['text/javascript', 'import"/b.js"', 'import"/docs/b.js"'],
  '/b.js': ['text/javascript', 'b()', 'b()'],
};

type Hash = 'sha256' | 'sha384' | 'sha512';
/** Hashes of the files as they are before or after. */
type Hashes = (path: string, algorithm?: Hash) => string;

const hashed = (text: string, algorithm: Hash): string =>
  `${algorithm}-${createHash(algorithm).update(text).digest('base64')}`;
const before: Hashes = (path, algorithm = 'sha256') => hashed(bodies[path]?.[1] ?? '', algorithm);
const after: Hashes = (path, algorithm = 'sha256') => hashed(bodies[path]?.[2] ?? '', algorithm);

const inHex = (text: string): string =>
  text.replace(/[^\w]/g, (character) => `&#x${character.charCodeAt(0).toString(16)};`);
const urlSafe = (text: string): string => text.replaceAll('+', '-').replaceAll('/', '_');

type Row = readonly [name: string, page: (address: string, of: Hashes) => string];
/** Root-absolute addresses in pages come as `${root}/x`. */
const renewed: readonly Row[] = [
  ['a style sheet', (root, of) => `<link rel=stylesheet href="${root}/a.css" integrity="${of('/a.css')}">`],
  ['a script', (root, of) => `<script src="${root}/a.js" integrity="${of('/a.js', 'sha384')}"></script>`],
  ['a preload', (root, of) => `<link integrity='${of('/a.js')}' rel=modulepreload href='${root}/a.js'>`],
  ['SHA-512', (root, of) => `<script src="${root}/a.js" integrity="${of('/a.js', 'sha512')}"></script>`],
  [
    'several hashes, in their order and with their blanks',
    (root, of) =>
      `<link href="${root}/a.css" rel=stylesheet integrity=" ${of('/a.css', 'sha512')}\n ${of('/a.css')}  ${of('/a.css', 'sha384')} ">`,
  ],
  [
    'a hash beside options, another algorithm and a hash of other bytes',
    (root, of) =>
      `<link rel=stylesheet href="${root}/a.css" integrity="md5-eHh4 ${of('/a.css')}?a='b' ${hashed('other', 'sha256')} x">`,
  ],
  ['no quotes', (root, of) => `<link rel=stylesheet integrity=${of('/a.css')} href=${root}/a.css>`],
  [
    'upper case',
    (root, of) =>
      `<LINK REL=STYLESHEET HREF="${root}/a.css" INTEGRITY="${of('/a.css').replace('sha', 'SHA')}">`,
  ],
  [
    'attributes that are there twice',
    (root, of) =>
      `<link rel=stylesheet href="${root}/a.css" href="/b.css" integrity="${of('/a.css')}" integrity="${before('/a.css')}">`,
  ],
  ['a query', (root, of) => `<link rel=stylesheet href="${root}/a.css?v=1#x" integrity="${of('/a.css')}">`],
  ['a relative address', (_, of) => `<link rel=stylesheet href="a.css" integrity="${of('/a.css')}">`],
  [
    'a relative address against a base',
    (root, of) =>
      `<base href="${root}/in/"><link rel=stylesheet href="a.css" integrity="${of('/in/a.css')}">`,
  ],
  [
    'an address in UTF-8',
    (root, of) => `<link rel=stylesheet href="${root}/é.css" integrity="${of('/é.css')}">`,
  ],
  [
    'an address in references',
    (root, of) => `<link rel=stylesheet href="${root}/&eacute;&period;css" integrity="${of('/é.css')}">`,
  ],
  [
    'a redirect to the file',
    (root, of) => `<link rel=stylesheet href="${root}/old.css" integrity="${of('/a.css')}">`,
  ],
  [
    'an import map',
    (root, of) =>
      `<script type=importmap>{"imports": {"a": "${root}/a.js"}, "integrity": { "${root}/a.js" : "${of('/a.js')}","./b.js":"${of('/b.js')}" , "./a.js":"${of('/a.js', 'sha384')}"}}</script>`,
  ],
];

const kept: readonly Row[] = [
  [
    'a file that did not change',
    (root, of) => `<link rel=stylesheet href="${root}/b.css" integrity="${of('/b.css')}">`,
  ],
  [
    'the public name of the site, where the file is as it was',
    () => `<link rel=stylesheet href="https://${domain}/a.css" integrity="${before('/a.css')}">`,
  ],
  [
    'a base with the public name',
    () =>
      `<base href="https://${domain}/"><link rel=stylesheet href="a.css" integrity="${before('/a.css')}">`,
  ],
  [
    'another host',
    () => `<script src="https://cdn.example.net/a.js" integrity="${before('/a.js')}"></script>`,
  ],
  [
    'a hash that refused the file before',
    (root) => `<link rel=stylesheet href="${root}/a.css" integrity="${before('/b.css')}">`,
  ],
  [
    'a hash with other letters behind it',
    (root) => `<link rel=stylesheet href="${root}/a.css" integrity="${before('/a.css')}!">`,
  ],
  [
    'an element that loads nothing',
    (root) => `<a href="${root}/a.css" integrity="${before('/a.css')}">x</a>`,
  ],
  [
    'a script that is no import map',
    () => `<script type=application/json>{"integrity":{"./a.js":"${before('/a.js')}"}}</script>`,
  ],
];

/** Its name comes before those of the files, as it does in the crawl. */
const pagePath = '/0.html';
/** Crawls a page that has links to every file, and returns what became of it. */
async function moved(
  t: Parameters<typeof serveSite>[0],
  page: string,
  type = 'text/html',
): Promise<Readonly<Record<string, string>>> {
  const files = new Map<string, Served>(
    Object.entries(bodies).map(([path, [type, body]]) => [encodeURI(path), typed(type, body)]),
  );
  const links = [...files.keys(), '/old.css'].map((path) => `<link rel=stylesheet href=".${path}">`).join('');
  files.set('/', typed('text/html', `<a href=".${pagePath}">x</a>${links}`));
  files.set(pagePath, typed(type, page));
  files.set('/old.css', { status: 301, headers: { location: '/a.css' } });
  // The query of a page's link is part of the request for a file.
  const { origin } = await serveSite(t, (path) => files.get(path.replace(/\?.*/, '')));
  return textsOf(await crawl(t, origin, { request: { basePath: '/docs' } }));
}

for (const [name, page] of renewed) {
  test(`a hash of a changed file is renewed: ${name}`, async (t) => {
    assert.notEqual(page('', before), page('', after));
    assert.equal((await moved(t, page('', before)))['0.html'], page('/docs', after));
  });
}

for (const [name, page] of kept) {
  test(`a hash keeps its bytes: ${name}`, async (t) => {
    assert.equal((await moved(t, page('', before)))['0.html'], page('/docs', after));
  });
}

const coded: readonly (readonly [
  name: string,
  write: (hash: string) => string,
  page: (hash: string) => string,
])[] = [
  ['as references', inHex, (hash) => `<link rel=stylesheet href="a.css" integrity="${hash}">`],
  ['in the alphabet of addresses', urlSafe, (hash) => `<link rel=stylesheet href=a.css integrity='${hash}'>`],
  [
    'with the escaped slashes of JSON',
    (hash) => hash.replaceAll('/', '\\/'),
    (hash) => `<script type=" ImportMap ">{"integrity":{".\\/a.css":"sha256-x ${hash}"}}</script>`,
  ],
];
for (const [name, write, page] of coded) {
  test(`a hash that is written ${name} is renewed in plain letters`, async (t) => {
    const [algorithm = '', hash = ''] = before('/a.css', 'sha512').split(/-(.*)/);
    assert.notEqual(write(hash), hash);
    const texts = await moved(t, page(`${algorithm}-${write(hash)}`));
    assert.equal(texts['0.html'], page(after('/a.css', 'sha512')));
  });
}

test('a hash of a changed file is renewed: in SVG', async (t) => {
  const picture: Row[1] = (root, of) =>
    `<svg><link rel="stylesheet" href="${root}/a.css" integrity="${of('/a.css')}"/></svg>`;
  const texts = await moved(t, picture('', before), 'image/svg+xml');
  assert.equal(texts['0.html'], picture('/docs', after));
});

test('every file of the archive is one that its pages accept', async (t) => {
  const page = renewed
    .filter(([name]) => !name.includes('base'))
    .map(([, page]) => page('', before))
    .join('\n');
  const texts = await moved(t, page);
  for (const [path, [, , text]] of Object.entries(bodies)) assert.equal(texts[path.slice(1)], text, path);
  const tags = [...(texts['0.html'] ?? '').matchAll(/<(?:link|script)[^>]*?\sintegrity="([^"]*)"[^>]*>/g)];
  const checked = tags.map(([tag, hashes = '']) => {
    const name = /(?:src|href)="(?:\/docs\/)?([^"?]*)/.exec(tag)?.[1] ?? '';
    const body = texts[name.replaceAll('&eacute;', 'é').replaceAll('&period;', '.')] ?? '';
    // Browsers look at the strongest algorithm alone.
    const strongest = (['sha512', 'sha384', 'sha256'] as const).find((one) => hashes.includes(`${one}-`));
    const known = hashes.split(/\s+/).map((hash) => hash.replace(/\?.*/, ''));
    assert.ok(strongest !== undefined && known.includes(hashed(body, strongest)), tag);
    return name;
  });
  assert.ok(checked.length >= 8, checked.join(' '));
});
