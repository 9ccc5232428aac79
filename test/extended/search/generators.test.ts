// The search in sites of nine generators, exported and served below the air-gap policy, in a real Chromium. Without their own index
// their boxes are dead: the search opens instead, before and after a click that the framework handles, and finds a known page. With
// it they stay as they are. Either way the element causes no error, and a framework that runs goes on running.

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { ownSearchOf } from '#site/search-program/own-search-files.ts';
import { eventually } from '../../support/eventually.ts';
import type { MemorySite } from '../../support/memory-bundle.ts';
import { soughtPage } from '../corpora/content.ts';
import { fileCorpora, serverCorpora } from '../corpora/corpora.ts';
import type { Corpus } from '../corpora/corpus.ts';
import { exportOrigin } from '../corpora/exported.ts';
import { startOrigin } from '../corpora/origin.ts';
import { follow, search, startSealedBrowser } from '../corpora/visit.ts';
import { searchBrowser } from './search-browser.ts';
import {
  closeSearch,
  heading,
  openPageWithSearch,
  openSearch,
  searchFor,
  untilSearch,
} from './search-page.ts';
import { type SearchedSite, serveSite, withSearch } from './searched-site.ts';

const sealed = searchBrowser(async () => {
  const { browser, close } = await startSealedBrowser();
  return { ...browser, close };
});

async function exportFiles(corpus: Corpus): Promise<MemorySite> {
  const folder = await mkdtemp(join(tmpdir(), 'searched-corpus-'));
  const origin = await startOrigin(corpus);
  try {
    const { contents } = await exportOrigin(origin.url, folder);
    return Object.fromEntries([...contents].map(([path, text]) => [path, Buffer.from(text, 'latin1')]));
  } finally {
    await origin.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Files without which the site's own search is dead. */
function withoutIndex(files: MemorySite): MemorySite {
  const isIndex = (path: string): boolean =>
    ownSearchOf([
      { path, size: 1 },
      { path: 'index.html', size: 1 },
    ]) !== 'none';
  return Object.fromEntries(Object.entries(files).filter(([path]) => !isIndex(path)));
}

/** What goes wrong when a reader clicks through the site, without the host of the site. */
async function clickThrough(corpus: Corpus, { url }: SearchedSite) {
  const followed = [];
  for (const navigation of corpus.navigations) followed.push(await follow(sealed.browser(), url, navigation));
  return {
    places: followed.map(({ heading: shown, isSoft }) => ({ shown, isSoft })),
    troubles: followed.flatMap(({ troubles }) => troubles),
  };
}

async function checkDead(t: TestContext, corpus: Corpus, files: MemorySite): Promise<void> {
  const plain = await serveSite(t, new Map(Object.entries(files)));
  const site = await serveSite(t, await withSearch(files));
  const atOrigin = await clickThrough(corpus, plain);
  const seen = await clickThrough(corpus, site);
  assert.deepEqual(seen.places, atOrigin.places);
  assert.deepEqual(
    seen.troubles.filter((trouble) => !atOrigin.troubles.includes(trouble)),
    [],
  );

  const [navigation] = corpus.navigations;
  assert.ok(navigation !== undefined);
  const page = await sealed.open(new URL(navigation.from, site.url));
  await page.untilQuiet();
  const before = page.troubles.length;
  await openSearch(page);
  await closeSearch(page);
  await page.click(navigation.link);
  await eventually('the link is followed', async () =>
    (await page.evaluate(`location.pathname.startsWith(${JSON.stringify(navigation.to)})`)) === true
      ? true
      : undefined,
  );
  await page.untilQuiet();
  await openPageWithSearch(page, new URL(navigation.to, site.url));
  await openSearch(page, '/');
  const { results } = await searchFor(page, soughtPage.word);
  assert.match(results[0] ?? '', new RegExp(soughtPage.title));
  await page.press('Enter');
  await eventually('the page is shown', async () =>
    String(await heading(page)).includes(soughtPage.title) ? true : undefined,
  );
  const own = page.troubles.slice(before).map((text) => text.replaceAll(site.url.host, 'SITE'));
  // The result may be of a version of the docs that no click leads to.
  const found = await sealed.browser().openPage();
  await found.goTo(new URL(String(await page.evaluate('location.pathname')), plain.url).href);
  await found.untilQuiet();
  const known = [
    ...atOrigin.troubles,
    ...found.troubles.map((text) => text.replaceAll(plain.url.host, 'SITE')),
  ];
  assert.deepEqual(
    own.filter((trouble) => !known.includes(trouble)),
    [],
  );
}

async function checkOwn(t: TestContext, corpus: Corpus, files: MemorySite): Promise<void> {
  if (corpus.search === undefined) return;
  const site = await serveSite(t, await withSearch(files));
  const { text } = await search(sealed.browser(), site.url, corpus.search);
  assert.match(text, new RegExp(soughtPage.title));
  const page = await sealed.open(new URL(corpus.search.path, site.url));
  await page.untilQuiet();
  const shown = await untilSearch(page, 'nothing is shown', ({ isButtonShown }) => !isButtonShown);
  assert.equal(shown.isOpen, false);
}

for (const corpus of [...fileCorpora, ...serverCorpora]) {
  test(`${corpus.name}: the search works where its own does not, and is silent where it does`, {
    timeout: 10 * 60_000,
  }, async (t) => {
    const files = await exportFiles(corpus);
    await checkOwn(t, corpus, files);
    await checkDead(t, corpus, withoutIndex(files));
  });
}
