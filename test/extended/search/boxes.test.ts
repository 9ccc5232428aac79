// Search boxes of known tools, in a real Chromium: one whose index or server is absent opens the search of the site, one that works is
// left alone, and a page without a box gets a small button. Each with the page's own code around it.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Page } from '../../support/browser.ts';
import { eventually } from '../../support/eventually.ts';
import { searchBrowser } from './search-browser.ts';
import { closeSearch, heading, openSearch, seeSearch, untilSearch } from './search-page.ts';
import { englishPages, pageOf, serveSite, withSearch } from './searched-site.ts';

const browser = searchBrowser();

/** Counts what reaches the page's own code. */
const ownCode = `<script>window.seen = 0; for (const type of ['click', 'mousedown', 'pointerdown', 'keydown']) document.addEventListener(type, () => { window.seen += 1; });</script>`;

async function openBox(
  t: TestContext,
  box: string,
  more: Readonly<Record<string, string>> = {},
): Promise<Page> {
  const body = `<header>${box}</header><main><h1>Boxes</h1><p>Text.</p></main>${ownCode}`;
  const files = await withSearch({ ...englishPages, 'box.html': pageOf({ title: 'Boxes', body }), ...more });
  const { url } = await serveSite(t, files);
  const page = await browser.open(new URL('box', url));
  return page;
}

for (const [tool, box, target] of [
  ['Mintlify', '<button id="search-bar-entry"><span>Search…</span></button>', '#search-bar-entry span'],
  ['GitBook', '<div><input data-testid="search-input" placeholder="Search…"></div>', 'input'],
  ['ReadMe', '<button class="rm-SearchToggle" id="search-toggle-button">Search</button>', '.rm-SearchToggle'],
  ['DocSearch', '<button class="DocSearch DocSearch-Button">Search</button>', '.DocSearch'],
  ['Docusaurus', '<div class="navbar__search"><input class="navbar__search-input"></div>', 'input'],
  ['Nextra', '<div class="nextra-search"><input placeholder="Search"></div>', 'input'],
  ['Starlight', '<site-search><button data-open-modal disabled>Search</button></site-search>', 'button'],
  ['Fumadocs', '<button data-search-full="">Search</button>', 'button'],
  ['MkDocs Material', '<label for="__search" style="display:block">Search</label>', 'label'],
  ['any tool', '<form role="search"><input type="search"></form>', 'input'],
] as const) {
  test(`a click on a dead box of ${tool} opens the search, and the page's code does not see it`, async (t) => {
    const page = await openBox(t, box);
    await eventually('the box is enabled', async () =>
      (await page.evaluate(`document.querySelector('header [disabled]') === null`)) === true
        ? true
        : undefined,
    );
    assert.equal((await seeSearch(page)).isButtonShown, false);
    await page.click(`header ${target}`);
    await untilSearch(page, 'the search is open', ({ isOpen }) => isOpen);
    assert.equal(await page.evaluate('window.seen'), 0);
    assert.deepEqual(page.troubles, []);
  });
}

test('a letter that is typed into a dead box is the first of the search', async (t) => {
  const page = await openBox(t, '<div class="navbar__search"><input class="navbar__search-input"></div>');
  await page.evaluate(`document.querySelector('.navbar__search-input').focus()`);
  await page.press('m');
  await untilSearch(page, 'it is open', ({ isOpen, text }) => isOpen && text === 'm');
  await page.write('etrics');
  await untilSearch(page, 'it answers', ({ results }) => results[0] === 'Metrics');
  await closeSearch(page);
  assert.equal(await page.evaluate('document.activeElement.className'), 'navbar__search-input');
});

const ownBox =
  '<div class="md-search"><form class="md-search__form"><input class="md-search__input"></form></div>';
const ownIndex = { 'search/search_index.json': '{"config":{}}' };

test('a page whose own search works keeps its box, its keys and its look', async (t) => {
  const page = await openBox(t, ownBox, ownIndex);
  await page.untilQuiet();
  await page.click('header input');
  await page.press('Escape');
  await page.evaluate('document.activeElement.blur()');
  await page.press('/');
  await page.press('Control+k');
  const { isOpen, isButtonShown } = await seeSearch(page);
  assert.deepEqual({ isOpen, isButtonShown }, { isOpen: false, isButtonShown: false });
  assert.equal(await page.evaluate('window.seen'), 6);
});

test('a page without a box, of a site whose own search works elsewhere, gets the small button', async (t) => {
  const page = await openBox(t, '', ownIndex);
  await untilSearch(page, 'the button is shown', ({ isButtonShown }) => isButtonShown);
});

test('the small button opens the search, and the focus returns to it', async (t) => {
  const page = await openBox(t, '');
  await untilSearch(page, 'the button is shown', ({ isButtonShown }) => isButtonShown);
  const inside = `document.querySelector('sx-search').shadowRoot`;
  await page.evaluate(`${inside}.querySelector('.open').focus()`);
  await page.press('Enter');
  await untilSearch(page, 'it is open', ({ isOpen }) => isOpen);
  await closeSearch(page);
  assert.equal(await page.evaluate(`${inside}.activeElement.className.split(' ')[0]`), 'open');
});

test('the search stays when a framework draws the page, or the whole document, again', async (t) => {
  const page = await openBox(t, '<button class="DocSearch-Button">Search</button>');
  const draw = (html: string): string =>
    `document.body.innerHTML = ${JSON.stringify(html)}; history.pushState({}, '', 'elsewhere')`;
  await page.evaluate(
    draw('<h1>Elsewhere</h1><header><button class="DocSearch-Button">Search</button></header>'),
  );
  await page.click('.DocSearch-Button');
  await untilSearch(page, 'it is open', ({ isOpen }) => isOpen);
  await closeSearch(page);
  await page.evaluate(
    `document.querySelector('sx-search').remove(); document.documentElement.append(document.body)`,
  );
  await eventually('the element is there again', async () =>
    (await page.evaluate(`document.querySelector('sx-search') !== null`)) === true ? true : undefined,
  );
  await openSearch(page, '/');
  assert.equal(await heading(page), 'Elsewhere');
  assert.deepEqual(page.troubles, []);
});

test('what a page does with colours later, the button follows', async (t) => {
  const page = await openBox(t, '<button id="theme">Theme</button>');
  await untilSearch(page, 'the button is shown', ({ isButtonShown }) => isButtonShown);
  const change = `document.querySelector('#theme').onclick = () => { document.body.style.cssText = 'background:#000;color:#fff'; }, 0`;
  await page.evaluate(change);
  await page.click('#theme');
  await eventually('the button is dark', async () =>
    (await page.evaluate(
      `document.querySelector('sx-search').shadowRoot.querySelector('.open').classList.contains('dark')`,
    )) === true
      ? true
      : undefined,
  );
});
