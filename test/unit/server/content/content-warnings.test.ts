// What the log and /status say of a bundle that visitors cannot use in full.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noBytes } from '#bundle/bundle-index.ts';
import { notesOfContent } from '#bundle/store/content-notes.ts';
import { findContentWarnings, notesOfServed } from '#server/content/content-warnings.ts';
import { goLive, type LiveBundle } from '#server/content/live-bundle.ts';
import { buildRouteTable } from '#server/content/route-table.ts';
import { storedBundle } from '../fixtures.ts';

function served(
  paths: readonly string[],
  serveDotfiles: readonly string[] = [],
  hasNotes = true,
): LiveBundle {
  const stored = storedBundle(Object.fromEntries(paths.map((path) => [path, path])));
  const notes = hasNotes ? notesOfContent(stored.index.files, { serveDotfiles }) : [];
  const bundle = { ...stored, index: { ...stored.index, notes } };
  return goLive(bundle, buildRouteTable(bundle.index, serveDotfiles));
}

test('a home page that does not answer is reported, also of an index that does not say so', async () => {
  for (const [hasNotes, example] of [
    [true, '"en/index.html"'],
    [false, ''],
  ] as const) {
    const bundle = served(['b.html', 'en/index.html', 'en/a/index.html'], [], hasNotes);
    assert.deepEqual(notesOfServed(bundle), [{ code: 'HomePageMissing', count: 1, example }]);
    const [warning, ...others] = await findContentWarnings(bundle, '');
    assert.match(warning ?? '', /^the home page does not answer.*index\.html at its root\./);
    assert.deepEqual(others, []);
  }
  assert.deepEqual(notesOfServed(served(['index.html'])), []);
});

test('hidden pages are named until they are served', async () => {
  const paths = ['index.html', 'tags/.net/index.html', 'install.cmd', '.env'];
  const [warning = '', ...others] = await findContentWarnings(served(paths), '');
  assert.match(warning, /hidden: "install\.cmd", "tags\/\.net\/index\.html"\. .*--serve-dotfiles$/);
  assert.deepEqual(others, []);
  assert.deepEqual(await findContentWarnings(served(paths, ['.net', 'install.cmd']), ''), []);
});

test('a stored copy without the bytes of what is to be served is reported', async () => {
  const stored = storedBundle({ 'index.html': 'home', '.net.html': 'n' });
  const files = stored.index.files.map((file) =>
    file.path === '.net.html' ? { ...file, offset: noBytes } : file,
  );
  const bundle = goLive(stored, buildRouteTable({ ...stored.index, files }, ['.net']));
  assert.match(
    (await findContentWarnings(bundle, '')).join(),
    /no bytes of 1 files .* such as "\.net\.html"/,
  );
});
