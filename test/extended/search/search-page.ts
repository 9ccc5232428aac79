// A page with the search of a site, as a reader uses it: what is open, what it shows, what has the focus. Looks into the shadow root of
// the element; presses real keys.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { z } from 'zod';
import type { Page } from '../../support/browser.ts';
import { eventually } from '../../support/eventually.ts';

const shown = z.object({
  isOpen: z.boolean(),
  isBusy: z.boolean(),
  text: z.string(),
  status: z.string(),
  results: z.array(z.string()),
  chosen: z.string().nullable(),
  isButtonShown: z.boolean(),
});
export type ShownSearch = z.infer<typeof shown>;

const look = `(() => {
  const root = document.querySelector('sx-search')?.shadowRoot;
  const query = root?.querySelector('input');
  const active = query?.getAttribute('aria-activedescendant');
  const textOf = (one) => one?.querySelector('.names').textContent ?? null;
  return {
    isOpen: root?.querySelector('dialog').open ?? false,
    isBusy: root?.querySelector('.panel').ariaBusy === 'true',
    text: query?.value ?? '',
    status: root?.querySelector('[role=status]').textContent ?? '',
    results: [...(root?.querySelectorAll('[role=option]') ?? [])].map(textOf),
    chosen: active ? textOf(root.getElementById(active)) : null,
    isButtonShown: root?.querySelector('.open').checkVisibility() ?? false,
  };
})()`;

export const seeSearch = async (page: Page): Promise<ShownSearch> => shown.parse(await page.evaluate(look));

/** Waits until the search is as a test wants it. */
export const untilSearch = (
  page: Page,
  what: string,
  isWanted: (search: ShownSearch) => boolean,
): Promise<ShownSearch> =>
  eventually(what, async () => {
    const search = await seeSearch(page);
    if (isWanted(search)) return search;
    throw new Error(`${JSON.stringify(search)} ${page.troubles.join('; ')}`);
  });

/** With the element in it. */
export async function openPageWithSearch(page: Page, address: URL): Promise<void> {
  await page.goTo(address.href);
  await eventually('the element is in the page', async () =>
    (await page.evaluate(`document.querySelector('sx-search') !== null`)) === true ? true : undefined,
  );
}

export async function openSearch(page: Page, keys = 'Control+k'): Promise<void> {
  await page.press(keys);
  await untilSearch(page, 'the search is open', ({ isOpen }) => isOpen);
}

/** Browsers close a dialog a moment after the key. */
export async function closeSearch(page: Page): Promise<void> {
  await page.press('Escape');
  await untilSearch(page, 'the search is closed', ({ isOpen }) => !isOpen);
}

/** @returns what is shown when the search has answered for the whole text */
export async function searchFor(page: Page, text: string): Promise<ShownSearch> {
  await page.write(text);
  return untilSearch(
    page,
    `the search answers to ${text}`,
    (search) => search.text === text && isAnswered(search),
  );
}

const isAnswered = ({ status, isBusy }: ShownSearch): boolean => status !== '' && !isBusy;

export const heading = async (page: Page): Promise<unknown> =>
  page.evaluate(`document.querySelector('h1')?.textContent`);

export const focused = async (page: Page): Promise<unknown> =>
  page.evaluate(`document.activeElement?.id || document.activeElement?.localName`);

let axeSource: string | undefined;
const violations = z.array(z.object({ id: z.string(), nodes: z.array(z.object({ html: z.string() })) }));

/** What axe-core says against the element, with every rule for WCAG 2 and good practice. */
export async function assertAccessible(page: Page, what: string): Promise<void> {
  axeSource ??= await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  await page.evaluate(`${axeSource}; 0`);
  const found = violations.parse(
    await page.evaluate(
      `axe.run('sx-search', { resultTypes: ['violations'] }).then(({ violations }) => violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html }) => ({ html })) })))`,
    ),
  );
  assert.deepEqual(found, [], what);
}

/** How far the layout moved by itself since the page began, in answer to nothing that a reader did. */
export const layoutShift = async (page: Page): Promise<unknown> =>
  page.evaluate(`new Promise((resolve) => {
    let sum = 0;
    new PerformanceObserver((list) => { for (const one of list.getEntries()) if (!one.hadRecentInput) sum += one.value; }).observe({ type: 'layout-shift', buffered: true });
    setTimeout(() => resolve(sum), 300);
  })`);
