// What each search tool asks for, and the reader of Pagefind's binary index.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { readPagefindEntry, readPagefindMeta } from '#site/references/pagefind-index.ts';
import {
  askedByFile,
  isSearchData,
  readPageSearch,
  readSearchData,
  readSearchLiterals,
  readVersionList,
  recogniseIndex,
} from '#site/references/search-index.ts';
import { englishMeta } from '../../../fixtures/sites/pagefind-site.ts';

const texts = (references: readonly { readonly text: string }[]): readonly string[] =>
  references.map(({ text }) => text);
const literalsOf = (script: string, ...anchors: readonly string[]): readonly string[] =>
  texts(readSearchLiterals([script], anchors));
const meta = (...cbor: readonly number[]): Uint8Array =>
  gzipSync(Buffer.concat([Buffer.from('pagefind_dcd'), Buffer.from(cbor)]));

test('a meta file of Pagefind names its fragments, chunks and filters', () => {
  assert.deepEqual(readPagefindMeta(englishMeta), [
    'fragment/en_63ba56e.pf_fragment',
    'fragment/en_478166e.pf_fragment',
    'fragment/en_ae54edd.pf_fragment',
    'index/en_15bf5b4.pf_index',
    'filter/en_64e9f7c.pf_filter',
  ]);
});

test('a meta file that is cut off or is not Pagefind’s names nothing that it does not hold', () => {
  for (let length = 0; length < englishMeta.length; length += 1) {
    assert.deepEqual(readPagefindMeta(englishMeta.subarray(0, length)), []);
  }
  assert.deepEqual(readPagefindMeta(gzipSync('pagefind')), []);
  assert.deepEqual(readPagefindMeta(meta()), []);
  // A list of 2^64 - 1 entries; an entry that is longer than the file; lists in lists without end; a root that is a number.
  assert.deepEqual(readPagefindMeta(meta(0x9b, ...Array.from({ length: 8 }, () => 0xff))), []);
  assert.deepEqual(readPagefindMeta(meta(0x82, 0x60, 0x81, 0x81, 0x7a, 0xff, 0xff, 0xff, 0xff)), []);
  assert.deepEqual(readPagefindMeta(meta(...Array.from({ length: 100_000 }, () => 0x81))), []);
  assert.deepEqual(readPagefindMeta(meta(0x01, 0x82)), []);
  // A name that leads out of the folder.
  assert.deepEqual(readPagefindMeta(meta(0x82, 0x60, 0x81, 0x81, 0x63, 0x2e, 0x2e, 0x2f)), []);
});

test('a meta file that unpacks to more than its limit names nothing', () => {
  assert.deepEqual(readPagefindMeta(gzipSync(Buffer.alloc(33 * 1024 * 1024))), []);
});

test('an entry of Pagefind names the meta file and the program of each language', () => {
  const entry = { languages: { en: { hash: 'en_1', wasm: 'en' }, xx: { hash: 'xx_2', wasm: null } } };
  assert.deepEqual(readPagefindEntry(JSON.stringify(entry)), [
    'pagefind.en_1.pf_meta',
    'wasm.en.pagefind',
    'pagefind.xx_2.pf_meta',
  ]);
  assert.deepEqual(readPagefindEntry(JSON.stringify({ languages: { en: { hash: '../x' } } })), []);
  assert.deepEqual(readPagefindEntry('{'), []);
});

test('the name of an index in a script is tried as it is, and in each folder above the script', () => {
  assert.deepEqual(literalsOf('fetch("../index.json")', '/blog/js/search.js'), [
    '../index.json',
    '/index.json',
    '/blog/index.json',
    '/blog/js/index.json',
  ]);
  assert.deepEqual(literalsOf('u="search-index{dir}.json?_=1f2e"', '/fr/assets/js/main.1.js'), [
    'search-index.json',
    '/search-index.json',
    '/fr/search-index.json',
    '/fr/assets/search-index.json',
    '/fr/assets/js/search-index.json',
  ]);
  assert.ok(
    literalsOf('a=e+"/pagefind/"', '/docs/_astro/s.js').includes('/docs/pagefind/pagefind-entry.json'),
  );
  assert.ok(
    literalsOf('import(`}pagefind/pagefind.js`)', '/a/s.js').includes('/a/pagefind/pagefind-entry.json'),
  );
  assert.ok(
    literalsOf("createElem(doc, tag, 'type-search-index.js');", '/api/script.js').includes(
      '/api/type-search-index.js',
    ),
  );
  assert.ok(literalsOf('load("lunr-index-17.json")', '/d/assets/js/m.js').includes('/d/lunr-index-17.json'));
  assert.deepEqual(literalsOf('window.path_to_searchindex_js = "../searchindex-1a2b.js";'), [
    '../searchindex-1a2b.js',
  ]);
  assert.deepEqual(literalsOf('x = "package.json" + "research-index.json" + "index.jsonp"'), []);
});

test('a script of a tool shows what its search asks for, in the folder of the tool', () => {
  assert.deepEqual(texts(askedByFile('/p/search/main.js')), ['search_index.json', 'worker.js', 'lunr.js']);
  assert.deepEqual(texts(askedByFile('/v/assets/javascripts/workers/search.a7633da7.min.js')), [
    '../../../search/search_index.json',
    '../../../sitemap.xml',
    '../../../../versions.json',
  ]);
  assert.ok(texts(askedByFile('/py/_static/doctools.js')).includes('../searchindex.js'));
  assert.ok(texts(askedByFile('/api/type-search-index.js')).includes('member-search-index.js'));
  assert.deepEqual(askedByFile('/assets/app.js'), []);
});

test('an index of MkDocs names the languages of its search, and a list of mike its versions', () => {
  const index = Buffer.from('{"config":{"lang":["en","ja"],"separator":"x"},"docs":[]}');
  const named = texts(readSearchData('/search/search_index.json', index));
  for (const name of [
    'lunr.ja.js',
    'lunr.multi.js',
    'tinyseg.js',
    '../assets/javascripts/lunr/min/lunr.ja.min.js',
  ]) {
    assert.ok(named.includes(name), name);
  }
  assert.deepEqual(readSearchData('/search/search_index.json', Buffer.from('{"config":{"lang":["en"]}')), []);
  const listed = (list: unknown) => readVersionList('/p/versions.json', Buffer.from(JSON.stringify(list)));
  const mike = (version: string, ...aliases: readonly string[]) => ({ version, title: version, aliases });
  assert.deepEqual(listed([mike('2.0', 'latest'), mike('../x', '..')]), {
    versions: ['2.0'],
    folders: ['2.0', 'latest'],
    notTried: 0,
  });
  const many = listed(Array.from({ length: 33 }, (_, at) => mike(`1.${at}`)));
  assert.deepEqual([many.versions.length, many.folders.length, many.notTried], [20, 33, 13]);
  const others = [{ a: 1 }, [{ name: '1.0', version: '1.0', url: '/1.0/' }], [{ version: '1', title: '1' }]];
  for (const other of others) assert.deepEqual(listed(other).folders, []);
});

test('a page of Docusaurus is searched in the index of its version, tag and context', () => {
  const head =
    '<meta data-rh="true" name="docusaurus_version" content="1.2"><meta name=docusaurus_tag content=docs-default-1.2>';
  const asked = texts(readPageSearch(head, '/p/docs/1.2/intro', ['/p/assets/js/main.js']));
  assert.deepEqual(asked, [
    '/p/search-index.json',
    '/p/search-index-docs-default-1.2.json',
    '/p/search-index-docs.json',
    '/p/docs/1.2/search-index.json',
    '/p/docs/1.2/search-index-docs-default-1.2.json',
    '/p/docs/1.2/search-index-docs.json',
  ]);
  assert.deepEqual(readPageSearch('<meta name="description" content="x">', '/p/', []), []);
});

test('an index is recognised by its name, and where tools share a name by its beginning', () => {
  const recognised = (path: string, head: string) => recogniseIndex(path, Buffer.from(head));
  assert.equal(recognised('/a/searchindex.js', 'Search.setIndex({"alltitles":'), 'sphinx');
  assert.equal(recognised('/a/searchindex.js', 'Object.assign(window.search, {"doc_urls":'), 'mdbook');
  assert.equal(recognised('/a/searchindex-1a2b.js', 'window.search = Object.assign('), 'mdbook');
  assert.equal(recognised('/a/searchindex.json', '{"doc_urls":['), 'mdbook');
  assert.equal(recognised('/assets/chunks/@localSearchIndexroot.x1.js', 'const e='), 'vitepress');
  assert.equal(recognised('/index.json', '[{"title":"x","permalink":"/x/"}]'), 'hugo');
  assert.equal(recognised('/index.json', '{"name":"x"}'), undefined);
  assert.equal(recognised('/en.search-data.min.1a.json', '[{"id":0,"href":"/x/"}]'), 'hugo');
  assert.equal(recognised('/d/search-index-docs.json', '[{"documents":[]}]'), 'docusaurus');
  assert.equal(recognised('/api/type-search-index.js', ''), 'javadoc');
  assert.equal(recognised('/p/search/search_index.json', '{"config":{'), 'mkdocs');
  assert.equal(recognised('/p/pagefind/pagefind-entry.json', '{"version":"1","languages":{}}'), 'pagefind');
  assert.equal(recognised('/x.json', '{}'), undefined);
  assert.ok(isSearchData('/p/pagefind/pagefind.en_1.pf_meta') && !isSearchData('/p/data.json'));
});
