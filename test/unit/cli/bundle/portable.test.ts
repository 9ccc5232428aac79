// `bundle portable` as a verb: what it prints and writes, that a second time changes nothing, and what it refuses.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { runInProcess } from '../../../support/cli-in-process.ts';
import { tarOf } from '../../../support/tar-builder.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { archiveVerb } from './archive-verb.ts';

const rooted = {
  'site/index.html':
    '<head><script type="module" src="/docs/app/a.js"></script></head><a href="https://docs.example.com/docs/guide">g</a>',
  'site/guide.html': '<a href="/docs/">h</a><a href="/docs/none">n</a>',
  'site/app/a.js': 'import "./b.js"',
  'site/app/b.js': '',
  'site/.hidden/x.txt': 'x',
};

const portable = archiveVerb('portable');

test('an archive is made portable, and the document says what changed and what leads nowhere', async (t) => {
  const folder = temporaryFolder(t);
  const [archive, to, again] = ['site.tar', 'portable.tar.gz', 'again.tar'].map((name) => join(folder, name));
  writeFileSync(archive ?? '', tarOf(rooted));
  const flags = ['--base-path', '/docs', '--domain', 'docs.example.com'];
  const { code, stderr, document } = await portable(archive ?? '', '--to', to ?? '', ...flags);
  assert.equal(code, 0, stderr);
  const { changed, path, files, pages, old, changedTexts, removedScripts, removedFiles, lost, unread } =
    document;
  assert.deepEqual([changed, path, files, pages, old.files], [true, to, 4, 2, 5]);
  assert.deepEqual([changedTexts, removedScripts, removedFiles, unread], [2, 1, 2, []]);
  assert.deepEqual(lost, { count: 1, examples: ['guide.html'] });
  const inspected = await runInProcess(['bundle', 'inspect', to ?? '', '--files', '-o', 'json']);
  const summary = JSON.parse(inspected.stdout);
  assert.equal(summary.digest, document.digest);
  assert.deepEqual(
    summary.entries.map((one: { path: string }) => one.path),
    ['.hidden/x.txt', '_sx/portable.js', 'guide.html', 'index.html'],
  );
  const twice = await portable(to ?? '', '--to', again ?? '', ...flags);
  assert.deepEqual([twice.document.changed, twice.document.digest], [false, document.digest]);
});

test('a person reads what was removed, and a warning of links without a file', async (t) => {
  const at = (name: string) => join(temporaryFolder(t), name);
  const archive = at('site.tar');
  writeFileSync(archive, tarOf(rooted));
  const { code, stdout } = await runInProcess([
    'bundle',
    'portable',
    archive,
    '--to',
    at('a.tar'),
    '--base-path',
    '/docs',
  ]);
  assert.equal(code, 0);
  assert.match(stdout, /^Removed: 1 script of pages, 2 files$/m);
  assert.match(stdout, /^Warning: 1 link without a file in the archive, the first in guide\.html/m);
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
    [['--to', join(folder, 'a.tar'), '--base-path', '/a/../b'], /must be a plain path/],
    [['--to', join(folder, 'a.tar'), '--domain', 'https://docs.example.com'], /must be a host such as/],
  ] as const) {
    const { code, document } = await portable(none, ...args);
    assert.equal(code, 2);
    assert.match(document.message, message);
  }
  assert.equal(readFileSync(there, 'utf8'), 'there');
});
