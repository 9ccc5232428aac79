// What the search makes of one site, as a digest for each revision of the step. A change of the files of a search, of the programs for
// readers or of the line in pages fails here until the revision is raised: the operator compares revisions to find out whether it can
// make published content again.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stepRevisions } from '#bundle/transform.ts';
import { searchedSite } from '../../../support/searched-site.ts';

/** In the order of revisions from 1 on. Append a digest and raise the revision. Before the first release, replace the last digest instead. */
const digests: readonly string[] = ['901997e7979706c3'];

const page = (language: string, title: string, text: string): string =>
  `<html lang="${language}"><head><title>${title}</title></head><body><main><h1>${title}</h1><p>${text}</p></main></body></html>`;
const site = {
  'index.html': page(
    'en',
    'Getting started',
    'Install the <b>command</b> and run it. See <a href="guide/">the guide</a>.',
  ),
  'guide/index.html': page('en', 'Guide', '<h2 id="links">Expired links</h2> A link expires after an hour.'),
  'de/index.html': page('de', 'Übersicht', 'Größenänderungen für Schlüssel und Häuser.'),
  'ja/index.html': page('ja', '設定ファイル', '東京都の設定を変更します。検索は日本語でも動きます。'),
  'ar/index.html': page('ar', 'البدء', 'ابدأ هنا لتثبيت الأدوات.'),
  'searchindex.js': 'Search.setIndex({})',
  'a.css': 'a{}',
};

test('the search makes of a site what its revision stands for', async (t) => {
  const { digest } = await searchedSite(t, site);
  assert.equal(stepRevisions.search, digests.length, 'the revision is not that of the last digest');
  assert.equal(
    digest.slice(0, 16),
    digests.at(-1),
    'The search has another output. Raise stepRevisions.search in src/bundle/transform.ts, and append the digest here.',
  );
});

test('a page, a program or the whole search is another digest', async (t) => {
  const { digest, files } = await searchedSite(t, site);
  const other = await searchedSite(t, { ...site, 'a.css': 'b{}' });
  assert.notEqual(other.digest, digest);
  const programs = files.filter(({ path }) => path.startsWith('_sx/search/'));
  assert.ok(
    programs.some(({ path }) => path === '_sx/search/search.js'),
    'the digest has no program',
  );
  assert.ok(
    programs.some(({ path }) => path === '_sx/search/index.js'),
    'the digest has no index',
  );
});
