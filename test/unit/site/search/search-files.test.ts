import assert from 'node:assert/strict';
import { test } from 'node:test';
import vm from 'node:vm';
import { openSearchIndex } from '#site/search/search-index.ts';
import type { SearchAnswer } from '#site/search/search-results.ts';
import type { MemorySite } from '../../../support/memory-bundle.ts';
import { builtSearch } from './built-search.ts';

const page = (title: string, text: string, language = 'en', head = ''): string =>
  `<!doctype html><html lang="${language}"><head><title>${title} | Site</title>${head}</head><body><nav>menu</nav><main><h1>${title}</h1>${text}</main></body></html>`;
const site: MemorySite = {
  'index.html': page('Home', '<p>Welcome</p>'),
  'guide/index.html': page('Guides', '<p>All guides</p>'),
  'guide/keys.html': page(
    'Rotate keys',
    `<p>A key expires.</p><h2 id="how">How it works</h2><p>${'filler '.repeat(80)}The operator replaces the secret.</p>`,
  ),
  'guide/backup.html': page('Back up', '<p>Copy the volume. Rotate nothing.</p><a href="keys">x</a>'),
  'hidden.html': page('Rotate in secret', '', 'en', '<meta name="robots" content="noindex">'),
  '404.html': page('Rotate not found', ''),
  'style.css': 'rotate{}',
};

test('a page is found by its title before pages whose text has the words', async () => {
  const { results, count } = await (await builtSearch(site)).find('rotate');
  assert.deepEqual(
    results.map(({ path }) => path),
    ['guide/keys.html', 'guide/backup.html'],
  );
  assert.equal(count, 2);
});

test('a result shows its folder, its section, and an excerpt around what was found', async () => {
  const { results } = await (await builtSearch(site)).find('operator secret');
  const [result] = results;
  assert.equal(result?.path, 'guide/keys.html');
  assert.equal(result.title.text, 'Rotate keys');
  assert.deepEqual(result.breadcrumbs, ['Guides']);
  assert.equal(result.heading.text, 'How it works');
  assert.equal(result.anchor, 'how');
  const { text, marks } = result.excerpt;
  assert.deepEqual(
    marks.map(([from, to]) => text.slice(from, to)),
    ['operator', 'secret'],
  );
  assert.match(text, /^… filler .*secret\.$/);
});

test('what is typed so far, and one mistake, find a page', async () => {
  const search = await builtSearch(site);
  for (const query of ['rot', 'rotaet keys', 'rotat key', 'ROTATE  Keys!', 'rotates', 'how it wroks']) {
    const { results } = await search.find(query);
    assert.equal(results[0]?.path, 'guide/keys.html', query);
  }
  assert.equal((await search.find('zebra')).count, 0);
  assert.equal((await search.find(' !? ')).count, 0);
});

test('titles answer without a text, and a file that cannot be loaded costs what it holds', async () => {
  const { load, manifest } = await builtSearch(site);
  const titles = manifest.languages['en']?.titles;
  const index = await openSearchIndex(
    async (name) => {
      if (name !== titles) throw new Error('gone');
      return load(name);
    },
    manifest,
    'en',
  );
  for (const { results } of [index.searchTitles('keys', 5), await index.search('keys', 5)]) {
    assert.deepEqual(
      results.map(({ path, excerpt }) => [path, excerpt.text]),
      [['guide/keys.html', '']],
    );
  }
  assert.deepEqual(await index.search('operator', 5), { count: 0, results: [], isPartial: true });
});

test('an answer depends on its query, and not on the queries before it', async () => {
  const letters = [...'abcdefghijklmnopqrstuvwxyz'];
  const words = letters.flatMap((letter) => Array.from({ length: 300 }, (_, at) => `${letter}word${at}x`));
  const search = await builtSearch({
    'words.html': page('Many words', words.join(' ')),
    'package.html': page('Install', 'A package is installed.'),
    'zone.html': page('Time', 'The zone of a server.'),
  });
  assert.ok((search.manifest.languages['en']?.terms.length ?? 0) > 2, 'the terms are in one file');
  const queries = ['zackage', 'z', 'package', 'pone', 'zone', 'pack', 'zackage package'];
  const alone = new Map<string, SearchAnswer>();
  for (const query of queries) alone.set(query, await search.find(query));
  assert.equal(alone.get('zackage')?.count, 0);
  assert.equal(alone.get('package')?.count, 1);
  const session = await openSearchIndex(search.load, search.manifest, 'en');
  for (const query of [...queries, ...queries.toReversed()]) {
    assert.deepEqual(await session.search(query, 10), alone.get(query), query);
  }
});

test('each language has an index, regions together, and pages without one are of the most common', async () => {
  const search = await builtSearch({
    'a.html': page('Apple', ''),
    'b.html': page('Pear', '', 'en-GB'),
    'c.html': page('Apfel', '', 'de-AT'),
    'd.html': page('Plum', '').replace(' lang="en"', ''),
  });
  assert.deepEqual(
    Object.entries(search.manifest.languages).map(([language, { pages }]) => [language, pages]),
    [
      ['de', 1],
      ['en', 3],
    ],
  );
  assert.equal(search.manifest.defaultLanguage, 'en');
  assert.equal((await search.find('apfel', 'de')).count, 1);
  assert.equal((await search.find('apfel', 'en')).count, 0);
  assert.equal((await search.find('plum', 'fr')).count, 1);
});

test('every file is one call with its name and JSON, and the same site gives the same files', async () => {
  const odd = { ...site, 'odd.html': page(`It's a \\ "test" \u2028 </script> é 漢`, '') };
  const { files } = await builtSearch(odd);
  const called = new Map<string, unknown>();
  const sxSearch = (name: string, text: string): void => void called.set(name, JSON.parse(text));
  for (const bytes of files.values()) vm.runInNewContext(bytes.toString(), { sxSearch });
  assert.deepEqual(
    [...called.keys()].map((name) => `_sx/search/${name}.js`).sort(),
    [...files.keys()].sort(),
  );
  assert.deepEqual((await builtSearch(odd)).files, files);
});

test('pages without blanks are read as far as one search can spare', async () => {
  const pages = Object.fromEntries(
    Array.from({ length: 8 }, (_, at) => [
      `p${at}.html`,
      `<html lang=ja><title>頁${at}</title><main>${'検索の文章。'.repeat(6000)}終点`,
    ]),
  );
  const { results } = await (await builtSearch(pages)).find('終点', 'ja');
  assert.equal(results.length, 8);
  for (const { excerpt } of results) assert.deepEqual(excerpt.marks, []);
});

test('an index of no page finds nothing', async () => {
  const search = await builtSearch({ 'style.css': '' });
  assert.deepEqual(search.manifest.languages, {});
  assert.deepEqual(await search.find('a'), { count: 0, results: [] });
});

test('a site whose links name files says so', async () => {
  const linked = (href: string) => builtSearch({ 'a.html': page('A', `<a href="${href}">x</a>`) });
  assert.equal((await linked('b.html#c')).manifest.linksToFiles, true);
  assert.equal((await linked('/b')).manifest.linksToFiles, false);
  assert.equal((await linked('https://example.com/b.html')).manifest.linksToFiles, false);
});
