// A page that somebody has open goes on working when another version is swapped in: a real Chromium, sites of real
// generators that come to life in it (VitePress; Next.js in both layouts, with its payloads), clicked through before,
// during and after the swap. Every page is of one version, and nothing goes wrong in the console or on the wire.
// `SCREENSHOTS=folder` before the command keeps pictures.

import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { z } from 'zod';
import { bundleDocument, makeArchive } from '../../integration/server/archive.ts';
import { type LinkServer, startLinkServer } from '../../integration/server/link-server.ts';
import { prepareSite, type ServedSite } from '../../integration/server/served-site.ts';
import { type Browser, type Page, startBrowser } from '../../support/browser.ts';
import { eventually } from '../../support/eventually.ts';
import { findNextExport, type NextVersion } from '../../support/next-export.ts';
import { buildVitepressSite } from '../../support/vitepress-export.ts';

let browser: Browser | undefined;
let folder = '';
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pages-over-a-swap-'));
});
after(async () => {
  await browser?.close();
  await rm(folder, { recursive: true, force: true });
});

/** The pages of every site here, by title; `Metrics` is the one that Next.js does not fetch ahead. */
const paths = {
  Home: '/',
  Guides: '/guides',
  Install: '/guides/install',
  Deploy: '/guides/deploy',
  Flags: '/reference/flags',
  Metrics: '/reference/metrics',
} as const;
type Title = keyof typeof paths;
const fetchedAhead = ['Guides', 'Install', 'Deploy', 'Flags', 'Home'] as const;

/** A page comes to life late where many tests share few processors. */
const longTimeout = { timeoutMs: 60_000 };

const seenPage = z.object({
  title: z.string(),
  /** The version that the words are of, and the one that the running code is of. */
  content: z.string(),
  code: z.string(),
  isAlive: z.literal('true'),
  clicks: z.string(),
});
type SeenPage = z.infer<typeof seenPage>;

const look = `({
  title: document.querySelector('h1')?.firstChild?.textContent.trim(),
  content: document.querySelector('[data-content]')?.dataset.content,
  code: document.querySelector('footer[data-code]')?.dataset.code,
  isAlive: document.querySelector('footer[data-code]')?.dataset.alive,
  clicks: document.querySelector('footer[data-code]')?.dataset.clicks,
})`;

/** Waits until that page is shown and alive. Fails if what is shown is of two versions. */
async function shows(page: Page, title: Title): Promise<SeenPage> {
  const seen = await eventually(
    `${title} is shown and alive`,
    async () => {
      const raw = await page.evaluate(look);
      const parsed = seenPage.safeParse(raw);
      if (parsed.success && parsed.data.title === title) return parsed.data;
      throw new Error(`${JSON.stringify(raw)} ${page.troubles.join('; ')}`);
    },
    longTimeout,
  );
  assert.equal(seen.content, seen.code, `${title}: words of one version, code of another`);
  return seen;
}

async function follow(page: Page, title: Title): Promise<SeenPage> {
  const path = paths[title];
  await page.click(`a[href="${path}"], a[href="${path}/"]`);
  return shows(page, title);
}

async function clickButton(page: Page, wanted: string): Promise<void> {
  await page.click('footer[data-code] button');
  await eventually(
    'the click was counted',
    async () => {
      const { clicks } = seenPage.parse(await page.evaluate(look));
      return clicks === wanted ? true : undefined;
    },
    longTimeout,
  );
}

/** Code that was not loaded before, of the build that the page is of. */
async function openSearch(page: Page, version: string): Promise<void> {
  await page.click('footer[data-code] button[data-open]');
  const isThere = `document.querySelector('[data-search]')?.dataset.search`;
  await eventually(
    'the search is there',
    async () => {
      if ((await page.evaluate(isThere)) === version) return true;
      throw new Error(`not yet; ${page.troubles.join('; ')}`);
    },
    longTimeout,
  );
}

/** Through links only: the page is never loaded anew, so that what was clicked in it is remembered. */
async function walk(page: Page, titles: readonly Title[], version: string): Promise<void> {
  for (const title of titles) {
    const { content, clicks } = await follow(page, title);
    assert.deepEqual({ title, content, clicks }, { title, content: version, clicks: '1' });
  }
}

interface Stage {
  readonly served: ServedSite;
  readonly links: LinkServer;
  publish(version: string): Promise<void>;
}

async function stage(folderOf: (version: NextVersion) => string): Promise<Stage> {
  const links = await startLinkServer();
  const served = await prepareSite();
  for (const version of ['v1', 'v2'] as const) links.put(version, await archiveOf(folderOf(version)));
  return {
    served,
    links,
    publish: (version) => served.mount(bundleDocument({ version, link: links.link(version) })),
  };
}

async function archiveOf(root: string): Promise<Buffer> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const content = files.sort().map(async (file) => [file.slice(root.length + 1), await readFile(file)]);
  return makeArchive(Object.fromEntries(await Promise.all(content)));
}

/** @param keepsItsVersion whether an open page goes on in its own version, or moves to the new one when it must ask */
async function seeOverASwap(
  t: TestContext,
  { served, links, publish }: Stage,
  keepsItsVersion: boolean,
): Promise<void> {
  browser ??= await startBrowser();
  try {
    await publish('v1');
    await served.start('--poll-interval', '200ms');
    await served.until('v1 is served', ({ active }) => active?.version === 'v1');
    const reader = await browser.openPage();
    const idler = await browser.openPage({ hasCache: false });
    for (const page of [reader, idler]) {
      await page.goTo(`${served.site}/`);
      await shows(page, 'Home');
      await clickButton(page, '1');
    }
    await walk(reader, ['Install', 'Deploy', 'Metrics', 'Home'], 'v1');

    const during = await clickDuring(reader, async () => {
      await publish('v2');
      await served.until('v2 is served', ({ active }) => active?.version === 'v2');
    });
    assert.ok(during.length > fetchedAhead.length, 'there was no clicking');
    assert.deepEqual(during, during.toSorted(), 'the reader was sent back in time');
    await picture(reader, `${t.name} after the swap`);

    await openSearch(idler, 'v1');
    if (keepsItsVersion) await walk(idler, [...fetchedAhead, 'Metrics'], 'v1');
    else {
      for (const title of fetchedAhead) await follow(idler, title);
      assert.equal(
        (await follow(idler, 'Metrics')).content,
        'v2',
        'what must be asked for is of the new version',
      );
    }
    for (const page of [reader, idler]) {
      await page.reload();
      const title = z.enum(['Home', 'Metrics', ...fetchedAhead]).parse((await seenNow(page)).title);
      assert.equal((await shows(page, title)).content, 'v2', 'after a reload');
      await clickButton(page, '1');
      await openSearch(page, 'v2');
      await walk(page, [...fetchedAhead, 'Metrics', 'Home'], 'v2');
      assert.deepEqual(page.troubles, []);
    }
    await picture(idler, `${t.name} reloaded`);
    t.diagnostic(`${during.length} links followed during the swap: ${during.join(' ')}`);
  } finally {
    await served.remove();
    await links.close();
  }
}

async function seenNow(page: Page): Promise<SeenPage> {
  return eventually('the page is alive', async () => seenPage.parse(await page.evaluate(look)), longTimeout);
}

/** Follows links until `work` is done, and all of them once more. @returns the versions that were shown */
async function clickDuring(page: Page, work: () => Promise<void>): Promise<readonly string[]> {
  let isDone = false;
  const working = work().finally(() => {
    isDone = true;
  });
  // Told at the end, when the clicking is over.
  working.catch(() => {});
  const shown: string[] = [];
  for (let at = 0, last = Number.POSITIVE_INFINITY; at < last; at += 1) {
    if (isDone && last === Number.POSITIVE_INFINITY) last = at + fetchedAhead.length;
    shown.push((await follow(page, fetchedAhead[at % fetchedAhead.length] ?? 'Home')).content);
  }
  await working;
  return shown;
}

async function picture(page: Page, name: string): Promise<void> {
  const target = process.env['SCREENSHOTS'];
  if (target !== undefined) await page.saveScreenshot(join(target, `${name.replaceAll(/\W+/g, '-')}.png`));
}

test('VitePress: an open page stays in its version, and every link of it works', {
  timeout: 10 * 60_000,
}, async (t) => {
  for (const version of ['v1', 'v2']) await buildVitepressSite(version, join(folder, version));
  await seeOverASwap(t, await stage((version) => join(folder, version)), true);
});

for (const hasTrailingSlash of [false, true]) {
  const layout = hasTrailingSlash ? 'folders' : 'files';
  test(`Next.js, pages as ${layout}: an open page works, and moves on when it must ask`, {
    // Built on the first run: an installation, and four builds.
    timeout: 15 * 60_000,
  }, async (t) => {
    const found = await findNextExport();
    await seeOverASwap(t, await stage((version) => found(version, { hasTrailingSlash })), false);
  });
}
