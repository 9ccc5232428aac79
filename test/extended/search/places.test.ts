// Where a site with a search may be: below a base path, on a disk, and open in a page while the server swaps to another version.

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { eventually } from '../../support/eventually.ts';
import { searchBrowser } from './search-browser.ts';
import { closeSearch, heading, openSearch, searchFor, untilSearch } from './search-page.ts';
import { englishPages, pageOf, serveSite, unpackSite, withSearch } from './searched-site.ts';

const browser = searchBrowser();

test('below a base path, results lead to pages below it', async (t) => {
  const site = await serveSite(t, await withSearch(englishPages), '/docs/v2');
  const page = await browser.open(new URL('reference/metrics', site.url));
  await openSearch(page);
  await searchFor(page, 'upgrade');
  await page.press('Enter');
  await eventually('the page is shown', async () => ((await heading(page)) === 'Upgrade' ? true : undefined));
  assert.match(String(await page.evaluate('location.pathname')), /^\/docs\/v2\/guides\/upgrade/);
  assert.deepEqual(page.troubles, []);
});

test('from a disk, the search finds pages and opens their files', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'searched site ä#%-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  await unpackSite(await withSearch(englishPages), folder);
  const page = await browser.open(pathToFileURL(join(folder, 'guides/index.html')));
  await openSearch(page);
  await searchFor(page, 'zebra');
  await closeSearch(page);
  await openSearch(page);
  const { results } = await searchFor(page, 'hippopotamus');
  assert.equal(results[0], 'Install the operatorWith a quorum');
  await page.press('Enter');
  const wanted = pathToFileURL(join(folder, 'guides/install.html'));
  await eventually('the file is open', async () =>
    (await page.evaluate('location.href')) === `${wanted.href}#zookeeper` ? true : undefined,
  );
  assert.deepEqual(page.troubles, []);
  assert.deepEqual(
    page.requests.filter((address) => !/^(?:file|data):/.test(address) || address.includes('/none')),
    [],
  );
});

test('from a disk, where an index of JSON cannot be read, the box of the page opens the search', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'searched-site-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const box = '<header><form role="search"><input type="search"></form></header><main><h1>Box</h1></main>';
  const pages = { ...englishPages, 'search.json': '[]', 'box.html': pageOf({ title: 'Box', body: box }) };
  await unpackSite(await withSearch(pages), folder);
  const page = await browser.open(pathToFileURL(join(folder, 'box.html')));
  await page.click('header input');
  await untilSearch(page, 'the search is open', ({ isOpen }) => isOpen);
  await searchFor(page, 'metrics');
  assert.deepEqual(page.troubles, []);
});

test('a page that is open during a swap searches the newer version', async (t) => {
  const { 'guides/upgrade.html': _, ...others } = englishPages;
  const site = await serveSite(t, await withSearch(englishPages));
  const page = await browser.open(site.url);
  await openSearch(page);
  await page.untilQuiet();
  const added = pageOf({
    title: 'Giraffes',
    body: '<main><h1>Giraffes</h1><p>A quagga is no giraffe.</p></main>',
  });
  site.swap(await withSearch({ ...others, 'giraffes.html': added }));
  await page.write('quagga');
  await untilSearch(page, 'the newer version answers', ({ results }) => results[0] === 'Giraffes');
  await page.press('Enter');
  await eventually('its page is shown', async () =>
    (await heading(page)) === 'Giraffes' ? true : undefined,
  );
});

test('a result whose page is gone leads to the 404 page of the site', async (t) => {
  const { 'guides/upgrade.html': _, ...others } = englishPages;
  const site = await serveSite(t, await withSearch(englishPages));
  const page = await browser.open(site.url);
  await openSearch(page);
  await searchFor(page, 'upgrade');
  site.swap(await withSearch(others));
  await page.press('Enter');
  await eventually('the page for 404 is shown', async () =>
    (await heading(page)) === 'Not found' ? true : undefined,
  );
});
