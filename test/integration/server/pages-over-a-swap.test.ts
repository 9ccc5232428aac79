// A page that is open in a real Chromium while another version is swapped in: it loads code of its own version that it had
// not loaded before, and is of the new version after a reload. Sites of real generators are in test/extended/browsers.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Browser, noBrowser, type Page, startBrowser } from '../../support/browser.ts';
import { eventually } from '../../support/eventually.ts';
import { bundleDocument, makeArchive, type SiteContent } from './archive.ts';
import { type LinkServer, startLinkServer } from './link-server.ts';
import { prepareSite, type ServedSite } from './served-site.ts';

/** Its script loads a second one on a click, as the routers of generators do. */
function siteOf(version: string): SiteContent {
  const [app, search] = [`assets/app.BxYz12_${version}.js`, `assets/search.BxYz12_${version}.js`];
  return {
    'index.html': `<!doctype html><title>home</title><link rel="icon" href="data:,"><body data-content="${version}"><button>Search</button><script type="module" src="/${app}"></script>`,
    [app]: `document.body.dataset.code = '${version}';\ndocument.querySelector('button').onclick = () => import('/${search}');\n`,
    [search]: `document.body.dataset.search = '${version}';\n`,
  };
}

/** Waits until the page shows these versions of its text, its script and its second script. */
const shows = (page: Page, wanted: Readonly<Record<string, string>>): Promise<boolean> =>
  eventually('the page is as wanted', async () => {
    const seen = await page.evaluate('JSON.stringify(document.body.dataset)');
    if (seen === JSON.stringify(wanted)) return true;
    throw new Error(`${seen} ${page.troubles.join('; ')}`);
  });

let links: LinkServer;
let served: ServedSite;
let browser: Browser | undefined;

before(async () => {
  links = await startLinkServer();
  served = await prepareSite();
});
after(async () => {
  await browser?.close();
  await served.remove();
  await links.close();
});

async function publish(version: string): Promise<void> {
  links.put(version, await makeArchive(siteOf(version)));
  await served.mount(bundleDocument({ version, link: links.link(version) }));
}

test('an open page loads more code of its own version after a swap, and is of the new one after a reload', {
  skip: noBrowser,
}, async () => {
  browser = await startBrowser();
  await publish('v1');
  await served.start();
  await served.until('v1 is served', ({ active }) => active?.version === 'v1');
  const page = await browser.openPage({ hasCache: false });
  await page.goTo(`${served.site}/`);
  await shows(page, { content: 'v1', code: 'v1' });
  await publish('v2');
  await served.until('v2 is served', ({ active }) => active?.version === 'v2');
  await page.click('button');
  await shows(page, { content: 'v1', code: 'v1', search: 'v1' });
  await page.reload();
  await shows(page, { content: 'v2', code: 'v2' });
  await page.click('button');
  await shows(page, { content: 'v2', code: 'v2', search: 'v2' });
  assert.deepEqual(page.troubles, []);
});
