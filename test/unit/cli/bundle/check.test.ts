// `bundle check` as a verb: what it prints, its exit codes, and the flags that relax it.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { runInProcess } from '../../../support/cli-in-process.ts';
import { tarOf } from '../../../support/tar-builder.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { archiveVerb } from './archive-verb.ts';

function archiveOf(t: TestContext, files: Readonly<Record<string, string>>): string {
  const archive = join(temporaryFolder(t), 'site.tar');
  writeFileSync(archive, tarOf(files));
  return archive;
}

const check = archiveVerb('check');

const dependent = {
  'index.html': '<script src="https://cdn.example.com/a.js"></script><img src="lost.png">',
  'guide.html': '<script src="https://cdn.example.com/a.js"></script>',
  '.hidden.html': '<img src="https://hidden.example.com/a.png">',
};

test('a site that has all it loads ends with exit code 0', async (t) => {
  const { code, document } = await check(archiveOf(t, { 'index.html': '<img src=a.png>', 'a.png': 'x' }));
  assert.equal(code, 0);
  assert.deepEqual([document.selfContained, document.filesRead, document.pages], [true, 1, 1]);
});

test('a site that needs another host and a missing file ends with exit code 1, and both are listed', async (t) => {
  const { code, document } = await check(archiveOf(t, dependent));
  assert.equal(code, 1);
  assert.equal(document.selfContained, false);
  assert.deepEqual(document.external, {
    count: 1,
    entries: [{ address: 'cdn.example.com/a.js', use: 'script', from: 'guide.html', files: 2 }],
  });
  assert.deepEqual(document.missing, {
    count: 1,
    entries: [{ address: '/lost.png', use: 'picture', from: 'index.html', files: 1 }],
  });
});

test('allowed hosts and missing files end with exit code 0', async (t) => {
  const archive = archiveOf(t, dependent);
  assert.equal((await check(archive, '--allow-missing')).code, 1);
  assert.equal((await check(archive, '--allow-external', '*.example.com')).code, 1);
  const { code, document } = await check(archive, '--allow-missing', '--allow-external', 'cdn.example.com');
  assert.deepEqual([code, document.selfContained, document.allowed.count], [0, true, 1]);
});

test('a site for a path is checked below it', async (t) => {
  const archive = archiveOf(t, { 'index.html': '<img src="/docs/a.png">', 'a.png': 'x' });
  assert.equal((await check(archive)).code, 1);
  assert.equal((await check(archive, '--base-path', '/docs')).code, 0);
});

test('a host that is not one is refused', async (t) => {
  const archive = archiveOf(t, dependent);
  const { code, stderr } = await runInProcess(['bundle', 'check', archive, '--allow-external', 'https://a/']);
  assert.equal(code, 2);
  assert.match(stderr, /--allow-external.*must be a host such as cdn\.example\.com/);
});

test('the text names each load with its file, and what to do', async (t) => {
  const { stdout } = await runInProcess(['bundle', 'check', archiveOf(t, dependent)]);
  assert.match(stdout, /^The site is not self-contained\.$/m);
  assert.match(
    stdout,
    /^From other hosts: 1\n {2}cdn\.example\.com\/a\.js \(script, from guide\.html and 1 more file\)$/m,
  );
  assert.match(stdout, /^Missing: 1\n {2}\/lost\.png \(picture, from index\.html\)$/m);
  assert.match(stdout, /Export the site with these files in it, or allow a host with --allow-external/);
});

test('an archive without pages is refused, because there is nothing to check', async (t) => {
  const { code, document } = await check(archiveOf(t, { 'a.css': 'a{}' }));
  assert.deepEqual(
    [code, document.code, document.message],
    [6, 'NoPages', 'the archive has no page; check that it is an export of the site'],
  );
});
