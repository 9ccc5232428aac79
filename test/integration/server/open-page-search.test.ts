// The search in a page that stays open while the server swaps and starts again: the reader's own code over HTTP, without a browser.

import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { readSearchScript } from '#site/search/file-writer.ts';
import { loadManifest, openSearchIndex, searchedLanguage } from '#site/search/search-index.ts';
import { createSiteIndex, type SiteIndex } from '#site/search-client/site-index.ts';
import { bundleDocument, makeArchive } from './archive.ts';
import { type LinkServer, startLinkServer } from './link-server.ts';
import type { ServedSite } from './served-site.ts';
import { prepareSiteHere } from './server-here.ts';

let links: LinkServer;
let served: ServedSite;
before(async () => {
  links = await startLinkServer();
});
beforeEach(async () => {
  served = await prepareSiteHere();
});
afterEach(() => served.remove());
after(() => links.close());

const page = (title: string, text: string): string =>
  `<!doctype html><html lang="en"><title>${title}</title><main><h1>${title}</h1><p>${text}</p></main></html>`;

async function publish(version: string, ...flags: readonly string[]): Promise<void> {
  const site = {
    'index.html': page('Home', 'All pages.'),
    [`${version}.html`]: page(`About ${version}`, `The quokka of ${version}.`),
    'fixed.html': page('Fixed', 'A wombat.'),
  };
  links.put(version, await makeArchive(site));
  await served.mount(bundleDocument({ version, link: links.link(version) }));
  if (flags.length > 0) await served.start(...flags);
  await searched(version);
}

const searched = (version: string) =>
  served.until(
    `the search of ${version} is served`,
    ({ active, search }) => active?.version === version && search.state === 'ready',
    { timeoutMs: 60_000 },
  );

/** What a page keeps while it is open. */
function openPage(): { readonly index: SiteIndex; readonly statuses: number[] } {
  const statuses: number[] = [];
  const index = createSiteIndex({
    load: async (_name, address) => {
      const response = await fetch(`${served.site}/${address}`);
      statuses.push(response.status);
      const text = readSearchScript(await response.text());
      if (!response.ok || text === undefined) throw new Error(`no file at ${address}`);
      return text;
    },
    open: async (load, language) => {
      const manifest = await loadManifest(load);
      if (manifest === undefined) throw new Error('another format');
      return openSearchIndex(load, manifest, searchedLanguage(manifest, language));
    },
  });
  return { index, statuses };
}

async function find(index: SiteIndex, query: string): Promise<readonly string[]> {
  const opened = await index.open('en');
  return (await opened.search(query, 10)).results.map(({ path }) => path);
}

test('a page that is open over a swap searches on without a missing file: its version is kept', async () => {
  await publish('one', '--search');
  const { index, statuses } = openPage();
  await index.open('en');
  await publish('two');
  assert.deepEqual(await find(index, 'wombat'), ['fixed.html']);
  assert.deepEqual(new Set(statuses), new Set([200]));
});

test('a page that is open over a swap and a restart searches the newer version, and says no failure', async () => {
  await publish('one', '--search');
  const { index, statuses } = openPage();
  await index.open('en');
  await publish('two');
  await served.kill();
  await served.start('--search');
  await searched('two');
  assert.deepEqual(await find(index, 'quokka'), ['two.html']);
  assert.deepEqual(await find(index, 'wombat'), ['fixed.html']);
  assert.ok(statuses.includes(404), 'the files of the version before are not served after a restart');
});

test('a page that is open over a restart of the same version asks for nothing twice', async () => {
  await publish('one', '--search');
  const { index, statuses } = openPage();
  await index.open('en');
  await served.kill();
  await served.start('--search');
  await searched('one');
  assert.deepEqual(await find(index, 'quokka'), ['one.html']);
  assert.deepEqual(new Set(statuses), new Set([200]));
});
