// The search that a bundle server adds to a site, in a real Chromium: below a base path and the policy of AirGapped, in a page that was
// open while the server swapped, and what the server counts of it. The server has the threads of the real program.

import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import { z } from 'zod';
import { bundleDocument, makeArchive, type SiteContent } from '../../integration/server/archive.ts';
import { type LinkServer, startLinkServer } from '../../integration/server/link-server.ts';
import type { ServedSite } from '../../integration/server/served-site.ts';
import { prepareSiteHere } from '../../integration/server/server-here.ts';
import { eventually } from '../../support/eventually.ts';
import { searchBrowser } from './search-browser.ts';
import { closeSearch, heading, openSearch, searchFor, untilSearch } from './search-page.ts';
import { englishPages, pageOf } from './searched-site.ts';

const browser = searchBrowser();
let links: LinkServer;
before(async () => {
  links = await startLinkServer();
});
after(() => links.close());

const slow = { timeoutMs: 120_000 };

async function publish(served: ServedSite, version: string, content: SiteContent): Promise<void> {
  links.put(version, await makeArchive(content));
  await served.mount(bundleDocument({ version, link: links.link(version), basePath: '/docs' }));
}

async function serveWithSearch(t: TestContext): Promise<ServedSite> {
  const served = await prepareSiteHere();
  t.after(() => served.remove());
  await publish(served, 'v1', englishPages);
  await served.start('--search', '--deployment-type', 'AirGapped');
  await untilSearched(served, 'v1');
  return served;
}

const untilSearched = (served: ServedSite, version: string) =>
  served.until(
    `the search of ${version} is served`,
    ({ active, search }) => active?.version === version && search.state === 'ready',
    slow,
  );

const counted = z.object({
  insights: z.object({ emptySearches: z.object({ top: z.array(z.object({ text: z.string() })) }) }),
});

test('a served site has a search below its base path, and the server counts a search without a result', async (t) => {
  const served = await serveWithSearch(t);
  const page = await browser.open(new URL(`${served.site}/docs/reference/metrics`));
  await openSearch(page);
  await searchFor(page, 'Zebra crossing');
  await closeSearch(page);
  await openSearch(page, '/');
  const { results } = await searchFor(page, 'hippopotamus');
  assert.equal(results[0], 'Install the operatorWith a quorum');
  await page.press('Enter');
  await eventually('the section is shown', async () =>
    (await page.evaluate('location.pathname + location.hash')) === '/docs/guides/install#zookeeper'
      ? true
      : undefined,
  );
  assert.deepEqual(page.troubles, []);
  await eventually('the server counts it', async () => {
    const { insights } = counted.parse(JSON.parse(await served.page('/status')));
    return insights.emptySearches.top.some(({ text }) => text === 'zebra crossing') ? true : undefined;
  });
});

test('a page that is open while the server swaps finds pages of the newer version', async (t) => {
  const served = await serveWithSearch(t);
  const page = await browser.open(new URL(`${served.site}/docs/`));
  const body = '<main><h1>Giraffes</h1><p>A quagga is no giraffe.</p></main>';
  await publish(served, 'v2', { ...englishPages, 'giraffes.html': pageOf({ title: 'Giraffes', body }) });
  await untilSearched(served, 'v2');
  await openSearch(page);
  await page.write('quagga');
  await untilSearch(page, 'the newer version answers', ({ results }) => results[0] === 'Giraffes');
  await page.press('Enter');
  await eventually('its page is shown', async () =>
    (await heading(page)) === 'Giraffes' ? true : undefined,
  );
  assert.deepEqual(page.troubles, []);
});

test('a page that is open while the server swaps and starts again finds pages of the newer version', async (t) => {
  const served = await serveWithSearch(t);
  const page = await browser.open(new URL(`${served.site}/docs/`));
  // The manifest and the titles of the first version are loaded, and no text.
  await openSearch(page);
  await page.untilQuiet();
  const body = '<main><h1>Giraffes</h1><p>A quagga is no giraffe.</p></main>';
  await publish(served, 'v2', { ...englishPages, 'giraffes.html': pageOf({ title: 'Giraffes', body }) });
  await untilSearched(served, 'v2');
  await served.kill();
  await served.start('--search', '--deployment-type', 'AirGapped');
  await untilSearched(served, 'v2');
  await page.write('quagga');
  await untilSearch(page, 'the newer version answers', ({ results }) => results[0] === 'Giraffes');
});
