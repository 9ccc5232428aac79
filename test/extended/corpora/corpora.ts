// All corpora, by how their origins serve them, and what a visitor must see of each: the archive shows every page as its origin
// does, with the same pictures, without a request to another host or an error that the origin does not have.

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findCorpus } from './build.ts';
import type { Corpus } from './corpus.ts';
import { exportOrigin, serveArchive } from './exported.ts';
import { startOrigin } from './origin.ts';
import { docusaurusCorpus } from './recipes/docusaurus.ts';
import { javadocCorpus } from './recipes/javadoc.ts';
import { mkdocsCorpus } from './recipes/mkdocs.ts';
import { nextCorpora } from './recipes/next.ts';
import { nextraCorpus } from './recipes/nextra.ts';
import { sphinxCorpus } from './recipes/sphinx.ts';
import { starlightCorpus } from './recipes/starlight.ts';
import { vitepressCorpus } from './recipes/vitepress.ts';
import { type Followed, follow, type SealedBrowser, type SeenPage, search, seePages } from './visit.ts';

export const fileCorpora: readonly Corpus[] = [
  docusaurusCorpus,
  javadocCorpus,
  mkdocsCorpus,
  sphinxCorpus,
  starlightCorpus,
  vitepressCorpus,
];

export const serverCorpora: readonly Corpus[] = [...nextCorpora, nextraCorpus];

/** One after another: each takes all cores. */
export async function findCorpora(): Promise<void> {
  for (const corpus of [...fileCorpora, ...serverCorpora]) await findCorpus(corpus);
}

interface SeenSite {
  readonly pages: readonly SeenPage[];
  readonly followed: readonly Followed[];
}

/** @throws AssertionError with what the archive does not show as its origin does */
export async function compareWithOrigin(corpus: Corpus, { browser, asked }: SealedBrowser): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'corpus-'));
  const see = async (site: URL, paths: readonly string[]): Promise<SeenSite> => {
    const pages = await seePages(browser, site, paths);
    const followed: Followed[] = [];
    for (const one of corpus.navigations) followed.push(await follow(browser, site, one));
    if (corpus.search !== undefined) await search(browser, site, corpus.search);
    return { pages, followed };
  };
  try {
    const origin = await startOrigin(corpus);
    const { archive, report, contents } = await exportOrigin(origin.url, folder).catch(
      async (error: unknown) => {
        await origin.stop();
        throw error;
      },
    );
    const paths = [...contents.keys()].filter((path) => /\.html$/.test(path)).map(addressOf);
    const atOrigin = await see(origin.url, paths).finally(origin.stop);
    const served = await serveArchive(archive);
    const inArchive = await see(served.url, paths).finally(served.stop);

    assert.deepEqual([report.missing.entries, report.external.entries], [[], []]);
    assert.equal(report.pages, corpus.pages);
    assert.deepEqual(
      report.searchIndexes.entries.map(({ tool }) => tool),
      corpus.search?.tools ?? [],
    );
    assert.deepEqual(inArchive.pages.map(shownOf), atOrigin.pages.map(shownOf));
    assert.deepEqual(
      inArchive.pages.flatMap(({ offSite }) => offSite),
      [],
    );
    const known = new Set([...atOrigin.pages, ...atOrigin.followed].flatMap(({ troubles }) => troubles));
    const newTroubles = [...inArchive.pages, ...inArchive.followed].flatMap(({ troubles }) => troubles);
    assert.deepEqual(
      newTroubles.filter((trouble) => !known.has(trouble)),
      [],
    );
    assert.deepEqual(inArchive.followed.map(seenOf), atOrigin.followed.map(seenOf));
    assert.deepEqual(
      asked.filter((host) => !ofChromium.test(host)),
      [],
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Hosts that Chromium asks by itself, whatever its flags say. No corpus loads anything from them. */
const ofChromium = /^(?:http:\/\/)?(?:accounts\.google|update\.googleapis|redirector\.gvt1)\.com\b/;

/** As visitors have it in their address bar. */
const addressOf = (path: string): string =>
  `/${path.replace(/(^|\/)index\.html$/, '$1').replace(/\.html$/, '')}`;
const shownOf = ({ path, heading, pictures }: SeenPage): Omit<SeenPage, 'troubles' | 'offSite'> => ({
  path,
  heading,
  pictures,
});
const seenOf = ({ heading, isSoft, brokenPictures }: Followed): Omit<Followed, 'troubles'> => ({
  heading,
  isSoft,
  brokenPictures,
});
