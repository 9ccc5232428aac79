// The search of a site as a reader uses it, in a real Chromium: by keys, with a screen reader, in light and dark, from right to left, on
// a telephone; what it loads and when, and that a search without a result is reported once. `SCREENSHOTS=folder` keeps pictures.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Page, type PageOptions, startBrowser } from '../../support/browser.ts';
import { eventually } from '../../support/eventually.ts';
import { searchBrowser } from './search-browser.ts';
import {
  assertAccessible,
  closeSearch,
  focused,
  heading,
  layoutShift,
  openPageWithSearch,
  openSearch,
  searchFor,
  seeSearch,
  untilSearch,
} from './search-page.ts';
import { englishPages, pageOf, type SearchedSite, serveSite, withSearch } from './searched-site.ts';

/** A window without a screen has no mouse, and the hints for keys are for readers who have one. */
const browser = searchBrowser(() =>
  startBrowser({
    flags: [
      '--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4',
    ],
  }),
);

async function openSite(
  t: TestContext,
  path = '',
  pages: Readonly<Record<string, string>> = englishPages,
  options?: PageOptions,
): Promise<{ readonly page: Page; readonly site: SearchedSite }> {
  const site = await serveSite(t, await withSearch(pages));
  const page = await browser.open(new URL(path, site.url), options);
  return { page, site };
}

async function look(page: Page, name: string): Promise<void> {
  const pictures = process.env['SCREENSHOTS'];
  if (pictures !== undefined) await page.saveScreenshot(join(pictures, `${name}.png`));
}

const ofSearch = (requests: readonly string[]): readonly string[] =>
  requests.filter((path) => path.startsWith('_sx/search/') && path !== '_sx/search/search.js');

test('a reader opens the search with a slash, types, and goes to the first result with Enter', async (t) => {
  const { page, site } = await openSite(t);
  await page.press('/');
  await untilSearch(page, 'it is open', ({ isOpen, text }) => isOpen && text === '');
  const { results, status, chosen } = await searchFor(page, 'install operator');
  assert.equal(results[0], 'Install the operator');
  assert.equal(chosen, 'Install the operator');
  assert.match(status, /^Results: \d+$/);
  const parts = await page.evaluate(`(() => {
    const option = document.querySelector('sx-search').shadowRoot.querySelector('[role=option]');
    const textOf = (one) => one.textContent;
    return { crumbs: [...option.querySelectorAll('.crumbs')].map(textOf), marks: [...option.querySelectorAll('mark')].map(textOf).slice(0, 2), excerpt: option.querySelector('.excerpt').textContent.length > 40 };
  })()`);
  assert.deepEqual(parts, { crumbs: ['Guides'], marks: ['Install', 'operator'], excerpt: true });
  await page.press('Enter');
  await eventually('the page of the result is shown', async () =>
    (await heading(page)) === 'Install the operator' ? true : undefined,
  );
  assert.deepEqual(page.troubles, []);
  assert.deepEqual([...new Set(page.requests.map((address) => new URL(address).host))], [site.url.host]);
});

test('a result in a section leads to the section', async (t) => {
  const { page } = await openSite(t);
  await openSearch(page);
  const { results } = await searchFor(page, 'hippopotamus');
  assert.equal(results[0], 'Install the operatorWith a quorum');
  await page.press('Enter');
  await eventually('the section is shown', async () =>
    (await page.evaluate('location.hash')) === '#zookeeper' ? true : undefined,
  );
});

test('nothing of the index is loaded before a reader opens the search, and texts when they type', async (t) => {
  const { page, site } = await openSite(t);
  await page.untilQuiet();
  assert.deepEqual(ofSearch(site.requests), []);
  await openSearch(page);
  await eventually('the engine, the manifest and the titles are loaded', () =>
    ofSearch(site.requests).length >= 3 ? true : undefined,
  );
  await page.untilQuiet();
  assert.equal(ofSearch(site.requests).length, 3);
  await searchFor(page, 'buckets');
  assert.ok(ofSearch(site.requests).length > 3);
  assert.equal(await layoutShift(page), 0);
  assert.deepEqual(page.troubles, []);
});

test('arrows, Home and End choose a result, and the focus stays in the text', async (t) => {
  const { page } = await openSite(t);
  await openSearch(page);
  const { results } = await searchFor(page, 'install');
  assert.ok(results.length >= 3);
  for (const [key, at] of [
    ['ArrowDown', 1],
    ['ArrowDown', 2],
    ['ArrowUp', 1],
    ['End', results.length - 1],
    ['ArrowDown', 0],
    ['ArrowUp', results.length - 1],
    ['Home', 0],
  ] as const) {
    await page.press(key);
    await untilSearch(page, key, ({ chosen }) => chosen === results[at]);
  }
  const inside = `document.querySelector('sx-search').shadowRoot`;
  assert.equal(await page.evaluate(`${inside}.activeElement.role`), 'combobox');
  const selected = `[...${inside}.querySelectorAll('[aria-selected=true]')].map((one) => one.id)`;
  assert.deepEqual(await page.evaluate(selected), ['result-0']);
});

test('Escape closes the search, and the focus returns to what had it', async (t) => {
  const { page } = await openSite(t);
  await page.evaluate(`document.querySelector('#link').focus()`);
  await openSearch(page);
  assert.equal(await focused(page), 'sx-search');
  await page.press('Tab');
  await page.press('Tab');
  assert.notEqual(await focused(page), 'link');
  await closeSearch(page);
  assert.equal(await focused(page), 'link');
  await openSearch(page);
  await page.press('Control+k');
  await untilSearch(page, 'it is closed', ({ isOpen }) => !isOpen);
  assert.equal(await focused(page), 'link');
});

test('nothing moves for a reader who asks for less motion', async (t) => {
  const still = await startBrowser({ flags: ['--force-prefers-reduced-motion'] });
  t.after(() => still.close());
  const site = await serveSite(t, await withSearch(englishPages));
  const page = await still.openPage();
  await openPageWithSearch(page, site.url);
  const moved = `document.querySelector('sx-search').shadowRoot.getAnimations().map(({ animationName }) => animationName)`;
  const watch = `window.moves = []; document.querySelector('sx-search').shadowRoot.addEventListener('animationstart', ({ animationName }) => { window.moves.push(animationName); }); 0`;
  await page.evaluate(watch);
  await openSearch(page);
  assert.deepEqual(await page.evaluate(moved), []);
  await searchFor(page, 'install');
  const moves = await page.evaluate(`window.moves.filter((name) => name !== 'wait')`);
  assert.deepEqual(moves, []);
});

test('a slash in a text of the page stays a slash', async (t) => {
  const { page } = await openSite(t);
  await page.evaluate(`document.querySelector('textarea').focus()`);
  await page.press('/');
  assert.equal(await page.evaluate(`document.querySelector('textarea').value`), '/');
  assert.equal((await seeSearch(page)).isOpen, false);
});

test('a search without a result is reported to the server once, and a search with results is not', async (t) => {
  const { page, site } = await openSite(t);
  const reports = (): readonly string[] => site.requests.filter((path) => path.startsWith('_sx/search/none'));
  await openSearch(page);
  await searchFor(page, 'install');
  await page.evaluate(`document.querySelector('sx-search').shadowRoot.querySelector('input').select()`);
  const { status, results } = await searchFor(page, 'Zebra crossing?');
  assert.deepEqual([status, results], ['No results for “Zebra crossing?”', []]);
  await eventually('it is reported', () => (reports().length > 0 ? true : undefined));
  await closeSearch(page);
  await openSearch(page);
  await closeSearch(page);
  await page.untilQuiet();
  assert.deepEqual(reports(), ['_sx/search/none?q=Zebra+crossing%3F']);
  assert.deepEqual(page.troubles, []);
});

const dark = 'body{background:#10141c;color:#d5d9e0}a{color:#8ab4ff}';
const arabic = 'lang="ar" dir="rtl"';
const places = [
  { name: 'light', query: 'install', attributes: 'lang="en"', style: '' },
  { name: 'dark', query: 'install', attributes: 'lang="en"', style: dark },
  { name: 'right-to-left', query: 'تثبيت', attributes: arabic, style: '' },
  { name: 'narrow', query: 'install', attributes: 'lang="en"', style: '', width: 390 },
  { name: 'narrow-dark', query: 'install', attributes: 'lang="en"', style: dark, width: 390 },
  { name: 'no-result', query: 'zebra', attributes: 'lang="de"', style: '' },
] as const;
for (const { name, query, attributes, style, ...options } of places) {
  test(`axe-core finds nothing against the search: ${name}`, async (t) => {
    const body = attributes === arabic ? '<h1>تثبيت المشغل</h1><p>يُثبَّت المشغل. تثبيت المخطط.</p>' : undefined;
    const pages = Object.entries(englishPages).map(([path, text]) => {
      const title = /<title>(.*?)<\/title>/.exec(text)?.[1] ?? '';
      const own = /<body>(.*)<\/body>/s.exec(text)?.[1] ?? '';
      const words = body === undefined ? { title, body: own } : { title: `تثبيت ${title}`, body };
      return [path, pageOf({ ...words, attributes, style })] as const;
    });
    const { page } = await openSite(t, 'guides/install', Object.fromEntries(pages), options);
    await untilSearch(page, 'the button is shown', ({ isButtonShown }) => isButtonShown);
    await assertAccessible(page, 'the button');
    await look(page, `${name}-button`);
    await openSearch(page);
    await searchFor(page, query);
    await page.untilQuiet();
    await assertAccessible(page, 'the panel');
    await look(page, name);
    const [back, side] = [
      `getComputedStyle(document.querySelector('sx-search').shadowRoot.querySelector('.panel')).backgroundColor`,
      `getComputedStyle(document.querySelector('sx-search').shadowRoot.querySelector('dialog')).direction`,
    ];
    assert.equal(await page.evaluate(back), style === dark ? 'rgb(16, 20, 28)' : 'rgb(255, 255, 255)');
    assert.equal(await page.evaluate(side), attributes === arabic ? 'rtl' : 'ltr');
    assert.equal(await layoutShift(page), 0);
    assert.deepEqual(page.troubles, []);
  });
}
