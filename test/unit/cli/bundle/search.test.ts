// `bundle search` as a verb: what it prints and writes, that a second time changes nothing, and what it refuses.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { runInProcess } from '../../../support/cli-in-process.ts';
import { tarOf } from '../../../support/tar-builder.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { archiveVerb } from './archive-verb.ts';

const site = {
  'site/index.html': '<html lang="en"><head><title>Home</title></head><body>Welcome',
  'site/guide.html': '<html lang="de-AT"><head><title>Anleitung</title></head><body>Hallo',
  'site/fragment.html': 'no document',
  'site/.hidden/x.txt': 'x',
};

const search = archiveVerb('search');

test('an archive gets a search, and the document says what it finds and which pages cannot load it', async (t) => {
  const folder = temporaryFolder(t);
  const [archive = '', to = '', again = ''] = ['site.tar', 'search.tar.gz', 'again.tar'].map((name) =>
    join(folder, name),
  );
  writeFileSync(archive, tarOf(site));
  const { code, stderr, document } = await search(archive, '--to', to);
  assert.equal(code, 0, stderr);
  assert.deepEqual([document.changed, document.path, document.pages, document.old.files], [true, to, 3, 4]);
  assert.deepEqual(document.languages, [
    { language: 'de', pages: 2 },
    { language: 'en', pages: 1 },
  ]);
  assert.equal(document.searchPages, 2);
  assert.deepEqual(document.withoutSearch, { count: 1, examples: ['fragment.html'] });
  assert.deepEqual(document.notSearched, { count: 0, examples: [] });
  const inspected = await runInProcess(['bundle', 'inspect', to, '--files', '-o', 'json']);
  const summary = JSON.parse(inspected.stdout);
  assert.equal(summary.digest, document.digest);
  const paths: readonly string[] = summary.entries.map((one: { path: string }) => one.path);
  for (const path of ['.hidden/x.txt', '_sx/search/index.js', 'index.html'])
    assert.ok(paths.includes(path), path);
  const twice = await search(to, '--to', again);
  assert.deepEqual([twice.document.changed, twice.document.digest], [false, document.digest]);
});

test('a person reads what the search finds, and a warning of pages that cannot load it', async (t) => {
  const folder = temporaryFolder(t);
  const archive = join(folder, 'site.tar');
  writeFileSync(archive, tarOf(site));
  const { code, stdout } = await runInProcess(['bundle', 'search', archive, '--to', join(folder, 'a.tar')]);
  assert.equal(code, 0);
  assert.match(stdout, /^Pages: {3}3, 2 with the search$/m);
  assert.match(stdout, /^Search: {2}2 pages in de, 1 page in en$/m);
  assert.match(stdout, /^Warning: 1 page cannot load the search, such as fragment\.html/m);
});

test('pages that are too large to be found are named on the screen and in JSON', async (t) => {
  const at = (name: string): string => join(temporaryFolder(t), name);
  const large = `<html><head><title>Large</title></head><body>${'<p>word</p>'.repeat(800_000)}`;
  const archive = at('site.tar');
  writeFileSync(archive, tarOf({ ...site, 'site/large.html': large }));
  const { code, document } = await search(archive, '--to', at('a.tar'));
  assert.equal(code, 0);
  assert.deepEqual(document.notSearched, { count: 1, examples: ['large.html'] });
  const { stdout } = await runInProcess(['bundle', 'search', archive, '--to', at('b.tar')]);
  const words = stdout.replace(/\s+/g, ' ');
  assert.match(
    words,
    /Warning: The search does not find 1 page of more than 8 MiB, such as large\.html\. Split such a page/,
  );
});

test('another ending, an archive that is there and a missing --to are refused before the archive is read', async (t) => {
  const folder = temporaryFolder(t);
  const none = join(folder, 'none.tar');
  const there = join(folder, 'there.tar');
  writeFileSync(there, 'there');
  for (const [args, message] of [
    [[], /--to/],
    [['--to', join(folder, 'a.zip')], /^--to must end in \.tar, /],
    [['--to', there], /^--to "?.*there\.tar"? exists; name another, or add --replace$/],
  ] as const) {
    const { code, document } = await search(none, ...args);
    assert.equal(code, 2);
    assert.match(document.message, message);
  }
});

test('a site without a page to find gets nothing, and the warning says why', async (t) => {
  const folder = temporaryFolder(t);
  const hidden = '<html><head><meta name="robots" content="noindex"></head><body>Hidden';
  for (const [name, files, warning] of [
    [
      'unlisted',
      { 'index.html': hidden },
      'No page may be found by a search, so that nothing was added. Check the robots',
    ],
    ['pageless', { 'a.css': 'a{}' }, 'the archive has no page. Check that it is an export of the site'],
  ] as const) {
    const archive = join(folder, `${name}.tar`);
    writeFileSync(archive, tarOf(files));
    const { code, document } = await search(archive, '--to', join(folder, `${name}-json.tar`));
    assert.deepEqual([code, document.changed, document.searchSizeBytes, document.files], [0, false, 0, 1]);
    assert.equal(document.digest, document.old.digest);
    const { stdout } = await runInProcess([
      'bundle',
      'search',
      archive,
      '--to',
      join(folder, `${name}-text.tar`),
    ]);
    const warnings = stdout.replace(/\n {2}/g, ' ').match(/^Warning: .*$/gm) ?? [];
    const own = warnings.filter((line) => !/home page/.test(line));
    assert.equal(own.length, 1, stdout);
    assert.ok(own[0]?.includes(warning), stdout);
  }
});
