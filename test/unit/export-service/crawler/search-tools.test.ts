// Crawls of sites whose search is in a folder: every file that the search asks for is in the export, and the report names the
// index. Each site has the layout of its tool.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pagefindSite } from '../../../fixtures/sites/pagefind-site.ts';
import type { Served } from '../../../fixtures/sites/trap-site.ts';
import { words } from '../../../support/words.ts';
import { crawl, serveSite } from './site-server.ts';

const types: Readonly<Record<string, string>> = {
  js: 'text/javascript',
  json: 'application/json',
  css: 'text/css',
};

/** Path → body; a path without an ending is a page. */
function site(bodies: Readonly<Record<string, string>>): Readonly<Record<string, Served>> {
  return Object.fromEntries(
    Object.entries(bodies).map(([path, body]) => {
      const ending = /\.(\w+)$/.exec(path)?.[1] ?? 'html';
      const type = ending === 'html' ? 'text/html' : (types[ending] ?? 'application/octet-stream');
      return [path, { headers: { 'content-type': type }, body }];
    }),
  );
}

interface Exported {
  readonly paths: readonly string[];
  readonly indexes: readonly string[];
  readonly skipped: readonly string[];
}

async function exported(
  t: Parameters<typeof crawl>[0],
  served: Readonly<Record<string, Served>>,
): Promise<Exported> {
  const { origin } = await serveSite(t, (path) => served[path.split('?')[0] ?? '']);
  const { files, searchIndexes, skipped } = await crawl(t, origin);
  return {
    paths: files.map(({ path }) => path),
    indexes: searchIndexes.map(({ tool, path }) => `${tool} ${path}`),
    skipped: skipped.map(({ path, reason, from }) => `${path} ${reason} ${from}`),
  };
}

const assertHas = (paths: readonly string[], wanted: string): void => {
  for (const path of words(wanted)) assert.ok(paths.includes(path), path);
};

test('Pagefind below the root is exported whole: entry, program, worker, chunks, filters and fragments', async (t) => {
  const served = pagefindSite('docs/pagefind');
  const { paths, indexes, skipped } = await exported(t, served);
  const files = Object.keys(served).filter((path) => path.includes('/pagefind/'));
  assert.deepEqual(
    paths.filter((path) => path.includes('/pagefind/')),
    files.map((path) => path.slice(1)).sort(),
  );
  assert.deepEqual(indexes, ['pagefind docs/pagefind/pagefind-entry.json']);
  assert.deepEqual(skipped, []);
});

test('a chunk that an index of Pagefind names and the origin lacks is reported', async (t) => {
  const { '/pagefind/index/fr_5f459ff.pf_index': _, ...served } = pagefindSite('pagefind');
  const { skipped } = await exported(t, served);
  assert.deepEqual(skipped, [
    '/pagefind/index/fr_5f459ff.pf_index NotFound /pagefind/pagefind.fr_c83c97d497.pf_meta',
  ]);
});

test('MkDocs Material with mike is exported with the search of each version', async (t) => {
  const page =
    '<script id="__config" type="application/json">{"base":".","search":"assets/javascripts/workers/search.a7.min.js"}</script>';
  const versionOf = (folder: string): Readonly<Record<string, string>> => ({
    [`${folder}/`]: page.replace('"assets', '"./assets'),
    [`${folder}/assets/javascripts/workers/search.a7.min.js`]: '',
    [`${folder}/assets/javascripts/lunr/min/lunr.stemmer.support.min.js`]: '',
    [`${folder}/assets/javascripts/lunr/min/lunr.fr.min.js`]: '',
    [`${folder}/sitemap.xml`]: '<urlset/>',
    [`${folder}/search/search_index.json`]: '{"config":{"lang":["fr"]},"docs":[]}',
  });
  const { paths, indexes, skipped } = await exported(
    t,
    site({
      '/': '<a href="/p/2.0/">docs</a>',
      '/p/versions.json':
        '[{"version":"2.0","title":"2.0","aliases":[]},{"version":"1.0","title":"1.0","aliases":[]}]',
      ...versionOf('/p/1.0'),
      ...versionOf('/p/2.0'),
    }),
  );
  assert.deepEqual(indexes, [
    'mkdocs p/1.0/search/search_index.json',
    'mkdocs p/2.0/search/search_index.json',
  ]);
  assertHas(
    paths,
    'p/versions.json p/1.0/sitemap.xml p/1.0/index.html p/1.0/assets/javascripts/lunr/min/lunr.fr.min.js',
  );
  assert.deepEqual(skipped, []);
});

test('a list of versions is tried next to a version of the site, without a report of what is missing', async (t) => {
  const list = (count: number): string =>
    JSON.stringify(
      Array.from({ length: count }, (_, at) => ({ version: `1.${at}`, title: `1.${at}`, aliases: [] })),
    );
  const { origin, requests } = await serveSite(
    t,
    (path) =>
      site({
        '/': '<a href="/p/1.3/">docs</a><img src="/_static/versions.json"><img src="/p/versions.json">',
        '/p/1.3/': 'three',
        '/p/1.4/': 'four',
        '/p/versions.json': list(30),
        '/_static/versions.json': list(5),
      })[path],
  );
  const { files, skipped, notes } = await crawl(t, origin);
  assert.deepEqual(
    files.map(({ path }) => path),
    ['_static/versions.json', 'index.html', 'p/1.3/index.html', 'p/1.4/index.html', 'p/versions.json'],
  );
  assert.deepEqual(skipped, []);
  assert.deepEqual(notes, [{ code: 'VersionsNotTried', count: 10, example: '/p/versions.json' }]);
  assert.ok(requests.includes('/p/1.19/') && !requests.includes('/p/1.20/'));
  assert.ok(!requests.some((path) => path.startsWith('/_static/1.')));
});

test('the search of Sphinx, Javadoc and mdBook is exported from folders below the root', async (t) => {
  const names = words('type member tag package module').map((name) => `${name}-search-index.js`);
  const { paths, indexes, skipped } = await exported(
    t,
    site({
      '/': '<a href="/py/">py</a> <a href="/api/a/b/X">api</a> <a href="/book/ch/one">book</a>',
      '/py/': '<script src="_static/doctools.js"></script><link rel="search" href="search.html">',
      '/py/search.html': '<script src="_static/base-stemmer.js"></script>',
      '/py/_static/base-stemmer.js': '',
      '/py/_static/doctools.js': '',
      '/py/_static/language_data.js': '',
      '/py/_static/searchtools.js': '',
      '/py/searchindex.js': 'Search.setIndex({})',
      '/py/objects.inv': '# Sphinx inventory version 2',
      '/api/a/b/X': '<script src="../../script.js"></script><script>var pathtoroot = "../../";</script>',
      '/api/script.js': names.map((name) => `createElem(doc, tag, '${name}');`).join('\n'),
      '/api/search.js': '',
      '/api/element-list': 'a.b',
      ...Object.fromEntries(names.map((name) => [`/api/${name}`, `updateSearchResults();`])),
      '/book/ch/one': '<script>window.path_to_searchindex_js = "../searchindex-1a2b.js";</script>',
      '/book/searchindex-1a2b.js': 'window.search = Object.assign(window.search, JSON.parse("{}"))',
    }),
  );
  assert.deepEqual(indexes, [
    'javadoc api/type-search-index.js',
    'mdbook book/searchindex-1a2b.js',
    'sphinx py/searchindex.js',
  ]);
  assertHas(
    paths,
    'py/search.html py/_static/base-stemmer.js py/objects.inv py/_static/language_data.js api/search.js',
  );
  for (const name of names) assertHas(paths, `api/${name}`);
  assert.deepEqual(skipped, []);
});

test('the search of Docusaurus, VitePress and Hugo is exported from folders below the root', async (t) => {
  const docusaurus =
    '<script src="/d/assets/js/main.js"></script><meta name="docusaurus_version" content="1.0">';
  const { paths, indexes, skipped } = await exported(
    t,
    site({
      '/': '<a href="/d/">d</a> <a href="/d/docs/1.0/x">old</a> <a href="/v/">v</a> <a href="/blog/search/">h</a>',
      '/d/': docusaurus,
      '/d/docs/1.0/x': docusaurus,
      '/d/assets/js/main.js': 'const u="search-index{dir}.json?_=1f2e"',
      '/d/search-index.json': '[{"documents":[]}]',
      '/d/docs/1.0/search-index.json': '[{"documents":[]}]',
      '/v/': '<script type="module" src="/v/assets/chunks/theme.js"></script>',
      '/v/assets/chunks/theme.js': 'm={root:()=>import("./@localSearchIndexroot.B1.js")}',
      '/v/assets/chunks/@localSearchIndexroot.B1.js': 'export default "{}"',
      '/blog/search/': '<script src="/blog/js/fastsearch.js"></script>',
      '/blog/js/fastsearch.js': "xhr.open('GET', '../index.json')",
      '/blog/index.json': '[{"title":"x","permalink":"/blog/x/"}]',
    }),
  );
  assert.deepEqual(indexes, [
    'hugo blog/index.json',
    'docusaurus d/docs/1.0/search-index.json',
    'docusaurus d/search-index.json',
    'vitepress v/assets/chunks/@localSearchIndexroot.B1.js',
  ]);
  assert.equal(paths.length, 12);
  assert.deepEqual(skipped, []);
});

test('an origin that fails on unknown names does not end the crawl at the guesses of a search', async (t) => {
  const served = site({
    '/': '<script src="/a/b/c/s.js"></script><script src="/m/search/main.js"></script>',
    '/a/b/c/s.js': 'x("search-doc-13.json");y("lunr-index-13.json")',
    '/m/search/main.js': '',
    '/m/search/search_index.json': '{"config":{"lang":["fr","ja","th"]},"docs":[]}',
    '/robots.txt': '',
    '/sitemap.xml': '<urlset/>',
  });
  const { origin } = await serveSite(t, (path) => served[path] ?? { status: 503 });
  const { files } = await crawl(t, origin);
  assert.ok(files.some(({ path }) => path === 'm/search/search_index.json'));
});

test('a file that only a guess at a search asks for may fail without ending the crawl', async (t) => {
  const served = site({ '/': '<script src="/a/s.js"></script>', '/a/s.js': 'fetch("../index.json")' });
  const { origin } = await serveSite(t, (path) =>
    path.endsWith('index.json') ? { status: 500 } : served[path],
  );
  const { files, searchIndexes } = await crawl(t, origin);
  assert.deepEqual(
    files.map(({ path }) => path),
    ['a/s.js', 'index.html'],
  );
  assert.deepEqual(searchIndexes, []);
});
