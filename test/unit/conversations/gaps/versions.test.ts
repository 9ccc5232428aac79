// Versions of the site over several reports: which page changed in which version.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addVersion, changesOf, type SiteVersion, versionAt } from '#conversations/gaps/versions.ts';

const digest = (letter: string): string => letter.repeat(64);
const seen = (version: string, pages: Readonly<Record<string, string>>, publishedAt?: number) => ({
  version,
  digest: digest(version.slice(-1)),
  publishedAt,
  hashes: new Map(Object.entries(pages)),
});

function history(): readonly SiteVersion[] {
  const first = addVersion([], seen('v-a', { '/': '1', '/guide': '1' }), ['/missing'], 1000);
  const second = addVersion(first, seen('v-b', { '/': '1', '/guide': '2' }), ['/missing'], 2000);
  return addVersion(second, seen('v-c', { '/': '1', '/missing': '1' }), [], 3000);
}

const changes: readonly (readonly [pages: readonly string[], versions: readonly number[]])[] = [
  [['/'], []],
  [['/guide'], [1, 2]],
  [['/missing'], [2]],
  [['/', '/missing'], [2]],
  [['/never-seen'], []],
  [[], []],
];

for (const [pages, expected] of changes) {
  test(`of "${pages.join(' ')}" the versions ${expected.join(' and ') || 'none'} hold a change`, () => {
    assert.deepEqual(changesOf(history(), pages), expected);
  });
}

test('the same content is no new version', () => {
  const versions = history();
  const again = addVersion(versions, seen('v-c', { '/': '1', '/missing': '1' }), ['/late'], 9000);
  assert.deepEqual(
    again.map(({ version, since }) => [version, since]),
    versions.map(({ version, since }) => [version, since]),
  );
  const later = addVersion(again, seen('v-d', { '/': '1', '/missing': '1', '/late': '7' }), [], 10_000);
  assert.deepEqual(changesOf(later, ['/late']), [3]);
});

test('a version counts from its publication, and a rolled back one from now', () => {
  const [first] = addVersion([], seen('v-a', {}, 500), [], 1000);
  assert.equal(first?.since, 500);
  const rolledBack = addVersion(history(), seen('v-a', { '/': '1' }, 500), [], 9000);
  assert.equal(rolledBack.at(-1)?.since, 9000);
  assert.equal(new Set(rolledBack.map(({ version }) => version)).size, 4);
});

test('eleven versions become ten, and changes after them are still found', () => {
  let versions: readonly SiteVersion[] = [];
  for (let at = 0; at < 11; at += 1) {
    const hash = at < 10 ? 'same' : 'new';
    versions = addVersion(
      versions,
      { ...seen(`v${at}`, { '/guide': hash }), digest: digest(at.toString(16)) },
      [],
      (at + 1) * 1000,
    );
  }
  assert.equal(versions.length, 10);
  assert.deepEqual(changesOf(versions, ['/guide']), [9]);
});

test('a turn belongs to the version that was served', () => {
  const versions = history();
  assert.deepEqual(
    [0, 999, 1000, 1999, 2000, 99_999].map((at) => versionAt(versions, at)),
    [-1, -1, 0, 0, 1, 2],
  );
});
