// Each rule alone, as `spec.transform.repair` lists it: a vendor's defect before and after, the addresses that a server answers then,
// and that nothing else changes. Also after a second repair.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planRepair } from '#bundle/repair/repair.ts';
import { readRuleSet, repairRuleNames } from '#bundle/repair/rule-modes.ts';
import { buildRouteTable } from '#server/content/route-table.ts';
import { type MemorySite, memoryBundle } from '../../../support/memory-bundle.ts';

interface Case {
  /** As in status and in `bundle.json`. */
  readonly rules: string;
  readonly before: MemorySite;
  readonly after: MemorySite;
  /** Addresses that no file answers before. */
  readonly answered?: readonly string[];
  /** Files that the rule counts. */
  readonly files: number;
}

const home = '<html><head></head><body><a href="/guide">Guide</a></body></html>';
const pageAt = (address: string): string =>
  `<html><head><link rel="canonical" href="${address}"><meta property="og:url" content="${address}"></head></html>`;
const stripped = '<html><head></head></html>';
const box = '<html><head></head><body><button id="search-bar-entry">Search</button></body></html>';
const finder = 'Mac OS X';
const sitemapOf = (...addresses: readonly string[]): string =>
  `<urlset>${addresses.map((address) => `<url><loc>https://docs.example.com${address}</loc></url>`).join('')}</urlset>`;

const cases: Readonly<Record<string, Case>> = {
  'addresses of a host that was not known get the host': {
    rules: 'canonical=set=docs.example.com',
    before: { 'index.html': home, 'guide.html': pageAt('https://undefined.docs.example.com/guide') },
    after: { 'index.html': home, 'guide.html': pageAt('https://docs.example.com/guide') },
    files: 1,
  },
  'addresses of a host that was not known go': {
    rules: 'canonical=strip',
    before: { 'index.html': home, 'guide.html': pageAt('https://undefined/guide') },
    after: { 'index.html': home, 'guide.html': stripped },
    files: 1,
  },
  'a page that is only one folder too deep is where links lead': {
    rules: 'folder-index',
    before: {
      'index.html': home,
      'guide/index/index.html': '<a href="a.html">a</a>',
      'guide/index/a.html': '',
    },
    after: {
      ...{ 'index.html': home, 'guide/index/index.html': '<a href="a.html">a</a>', 'guide/index/a.html': '' },
      'guide/index.html': '<a href="index/a.html">a</a>',
    },
    answered: ['/guide/'],
    files: 1,
  },
  'scripts that serve an export by hand go': {
    rules: 'launchers',
    before: { 'index.html': home, 'serve.js': 'http', 'start.bat': 'node serve.js', 'start.command': 'node' },
    after: { 'index.html': home },
    files: 3,
  },
  'files of Finder and Explorer go, and the folder around the site with them': {
    rules: 'wrapping-folder',
    before: {
      ...{ 'site/index.html': '<h1>home</h1>', 'site/guide.html': '<h1>guide</h1>' },
      ...{ '__MACOSX/._site': finder, '__MACOSX/site/._index.html': finder, '.DS_Store': finder },
      ...{ 'desktop.ini': '[.ShellClassInfo]', './._site': finder },
    },
    after: { 'index.html': '<h1>home</h1>', 'guide.html': '<h1>guide</h1>' },
    answered: ['/', '/guide'],
    files: 7,
  },
  'a sitemap names addresses that are answered': {
    rules: 'sitemap',
    before: {
      ...{ 'index.html': home, 'guide.html': '', 'a/index.html': '' },
      'sitemap.xml': sitemapOf('/', '/guide/', '/a', '/gone'),
    },
    after: {
      ...{ 'index.html': home, 'guide.html': '', 'a/index.html': '' },
      'sitemap.xml': sitemapOf('/', '/guide', '/a/'),
    },
    files: 1,
  },
};

async function repairBy(rules: string, site: MemorySite) {
  const modes = readRuleSet(rules);
  assert.ok(typeof modes === 'object', String(modes));
  const plan = await planRepair(memoryBundle(site), modes, new AbortController().signal);
  const after: Record<string, string> = {};
  for (const { path, read } of plan.files) {
    const pieces: Uint8Array[] = [];
    for await (const piece of read()) pieces.push(piece);
    after[path] = Buffer.concat(pieces).toString();
  }
  return { plan, after };
}

for (const [name, { rules, before, after, answered = [], files }] of Object.entries(cases)) {
  test(`${name} (${rules})`, async () => {
    const [table, repairedTable] = [before, after].map((site) => buildRouteTable(memoryBundle(site).index));
    for (const address of answered) {
      assert.equal(table?.find(address), undefined, `${address} is answered before`);
      assert.equal(repairedTable?.find(address)?.kind, 'file', `${address} is not answered`);
    }
    const once = await repairBy(rules, before);
    assert.deepEqual(once.after, after);
    assert.equal(once.plan.digest, memoryBundle(after).index.digest);
    const [first = ''] = rules.split(/[ =]/);
    assert.equal(once.plan.rules.find(({ rule }) => rule === first)?.files, files);
    const twice = await repairBy(rules, after);
    assert.deepEqual([twice.plan.isChanged, twice.plan.digest], [false, once.plan.digest]);
  });
}

test('a style hides a search box without an index, and nothing else of its page changes (search-box)', async () => {
  const { after } = await repairBy('search-box', { 'index.html': box });
  const page = after['index.html'] ?? '';
  assert.match(page, /<style data-static-export="search-box">[^<]*#search-bar-entry/);
  assert.equal(page.replace(/<style.*<\/style>/, ''), box);
  assert.equal((await repairBy('search-box', after)).plan.isChanged, false);
  const withIndex = { 'index.html': box, 'search/search_index.json': '{}' };
  assert.equal((await repairBy('search-box', withIndex)).plan.isChanged, false);
});

test('every rule has its defect here, and changes nothing where the others alone are listed', async () => {
  const shown = new Set(['search-box', ...Object.values(cases).map(({ rules }) => rules.split(/[ =]/)[0])]);
  assert.deepEqual([...shown].sort(), [...repairRuleNames].sort());
  for (const { rules, before } of Object.values(cases)) {
    // Every reader takes the folder off, whatever the rules are.
    if (rules === 'wrapping-folder') continue;
    const others = repairRuleNames.filter((name) => !rules.includes(name) && name !== 'canonical');
    const { plan } = await repairBy(others.join(' '), before);
    const changed = plan.rules.filter(({ files }) => files > 0).map(({ rule }) => rule);
    assert.deepEqual(changed, [], `${others.join(' ')} on the defect of ${rules}`);
  }
});
