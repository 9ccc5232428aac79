// Which manifest a search uses, and what happens in a page that was open while the site got a newer version.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSiteIndex } from '#site/search-client/site-index.ts';
import { missingReportAddress } from '#site/search-client/zero-results.ts';

/** An index that answers with the number of the version whose files it has. */
function openSite() {
  let version = 1;
  const asked: string[] = [];
  const index = createSiteIndex({
    load: async (name, address) => {
      asked.push(address);
      if (name === 'index') return address.includes('?') ? `${version}` : '1';
      if (!name.startsWith(`${version}-`)) throw new Error(`no ${name}`);
      return name;
    },
    open: async (load, language) => {
      const manifest = await load('index');
      await load(`${manifest}-titles`);
      return {
        language,
        searchTitles: () => ({ count: 0, results: [] }),
        search: async () => {
          const isThere = await load(`${manifest}-terms`).then(
            () => true,
            () => false,
          );
          return { count: isThere ? Number(manifest) : 0, results: [] };
        },
      };
    },
  });
  return { index, asked, swap: () => (version += 1) };
}

test('a manifest is loaded once for a language', async () => {
  const { index, asked } = openSite();
  await Promise.all([index.open('en'), index.open('en')]);
  assert.deepEqual(asked, ['_sx/search/index.js', '_sx/search/1-titles.js']);
  await index.open('de');
  assert.equal(asked.length, 4);
});

test('a search in a page of an earlier version loads the newer manifest, and answers', async () => {
  const { index, asked, swap } = openSite();
  const before = await index.open('en');
  assert.equal((await before.search('a', 10)).count, 1);
  swap();
  assert.equal((await before.search('a', 10)).count, 2);
  assert.equal((await (await index.open('en')).search('a', 10)).count, 2);
  assert.deepEqual(asked.slice(3), [
    '_sx/search/1-terms.js',
    '_sx/search/index.js?again=2',
    '_sx/search/2-titles.js',
    '_sx/search/2-terms.js',
    '_sx/search/2-terms.js',
  ]);
});

test('a manifest that a browser kept too long is loaded again', async () => {
  const { index, swap } = openSite();
  swap();
  assert.equal((await (await index.open('en')).search('a', 10)).count, 2);
});

test('an index whose manifest is absent fails, and is asked for again by the next search', async () => {
  let loads = 0;
  const index = createSiteIndex({
    load: async () => {
      loads += 1;
      throw new Error('absent');
    },
    open: async (load) => {
      await load('index');
      throw new Error('not reached');
    },
  });
  await assert.rejects(index.open('en'), /absent/);
  await assert.rejects(index.open('en'), /absent/);
  assert.equal(loads, 2);
});

test('a search without a result is reported to the site itself, below its base path, and from a disk to no server', () => {
  const report = (root: string): string | undefined => missingReportAddress(new URL(root), 'a & b?')?.href;
  assert.equal(
    report('https://docs.example.com/base/'),
    'https://docs.example.com/base/_sx/search/none?q=a+%26+b%3F',
  );
  assert.equal(report('file:///srv/site/'), undefined);
});

test('a search that comes while a started server has no index yet is answered the next time', async () => {
  let state: 'old' | 'starting' | 'new' = 'old';
  const index = createSiteIndex({
    load: async (name) => {
      if (state === 'starting' || (state === 'new' && name === 'old')) throw new Error('not there');
      return name === 'index' ? state : name;
    },
    open: async (load, language) => {
      const version = await load('index');
      const search = async () => {
        const isThere = await load(version).catch(() => undefined);
        return { count: isThere === 'new' ? 1 : 0, results: [] };
      };
      return { language, searchTitles: () => ({ count: 0, results: [] }), search };
    },
  });
  const open = await index.open('en');
  state = 'starting';
  await assert.rejects(open.search('a', 10));
  state = 'new';
  assert.equal((await (await index.open('en')).search('a', 10)).count, 1);
});
