// `export --repair` with real sockets and files: which content is written, compared and named, also by a run that continues.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { runInProcess } from '../../support/cli-in-process.ts';
import { memoryBundle } from '../../support/memory-bundle.ts';
import { tarOf } from '../../support/tar-builder.ts';
import { exportWorkplace } from './environment/export-workplace.ts';

const home = '<h1>home</h1><a href="/guide">guide</a>';
const canonical = (host: string) => `<link rel="canonical" href="https://${host}/guide">`;
const broken = {
  'index.html': home,
  'guide/index/index.html': canonical('undefined.docs.example.com'),
  '.env': 'x',
  'serve.js': 'x',
};
const repaired = {
  'index.html': home,
  'guide/index/index.html': canonical('docs.example.com'),
  'guide/index.html': canonical('docs.example.com'),
  '.env': 'x',
};
const { digest, pages } = memoryBundle(repaired).index;
const rules = ['--repair', '--rule', 'canonical=set=docs.example.com'];

test('the folder, the archive and the digest are of the repaired site, and the document says what was repaired', async (t) => {
  const { folder, run, vendor } = await exportWorkplace(t);
  vendor.archive = gzipSync(tarOf(broken));
  const to = join(folder, 'site');
  const { code, stdout, stderr } = await run('--to', to, ...rules);
  assert.equal(code, 0, stderr);
  const result = JSON.parse(stdout);
  assert.deepEqual([result.digest, result.pages, result.changed], [digest, pages, true]);
  assert.ok(result.version.endsWith(digest.slice(0, 8)), result.version);
  assert.deepEqual(
    result.rules.filter((one: { files: number }) => one.files > 0).map((one: { rule: string }) => one.rule),
    ['launchers', 'folder-index', 'canonical'],
  );
  assert.equal(readFileSync(join(to, 'guide/index.html'), 'utf8'), repaired['guide/index.html']);
  assert.equal(existsSync(join(to, 'serve.js')), false);

  const archive = join(folder, 'site.tar.gz');
  const again = await run('--to', archive, '--unchanged-exit-code', '42', ...rules);
  assert.deepEqual([again.code, JSON.parse(again.stdout).version], [42, result.version]);
  const verified = await runInProcess(['bundle', 'verify', archive, '--digest', digest]);
  assert.equal(verified.code, 0, verified.stderr);
  const other = await run('--to', join(folder, 'other.tar'), '--baseline', archive, ...rules);
  assert.deepEqual([other.code, JSON.parse(other.stdout).changed], [0, false]);
  const plain = await run('--to', join(folder, 'plain.tar'), '--baseline', archive);
  const { changed, rules: none } = JSON.parse(plain.stdout);
  assert.deepEqual([plain.code, changed, none], [0, true, undefined]);
});

test('the gates judge the repaired site, and the run that continues repairs by its own rules', async (t) => {
  const { folder, run, vendor } = await exportWorkplace(t);
  vendor.archive = gzipSync(tarOf(broken));
  const to = join(folder, 'site');
  const held = await run('--to', to, '--repair', '--min-pages', '4');
  assert.deepEqual([held.code, JSON.parse(held.stdout).code], [7, 'TooFewPages']);
  assert.equal(existsSync(to), false);
  const { code, stdout, stderr } = await run('--to', to, '--min-pages', '3', ...rules);
  assert.equal(code, 0, stderr);
  assert.match(stderr, /Continuing export job/);
  assert.equal(JSON.parse(stdout).digest, digest);
});

test('what --repair leaves for a person is a warning, and what it cannot be used with is refused', async (t) => {
  const { folder, run, vendor } = await exportWorkplace(t);
  vendor.archive = gzipSync(tarOf(broken));
  const kept = await run('--to', join(folder, 'site'), '--repair');
  assert.equal(kept.code, 0, kept.stderr);
  assert.match(kept.stdout, /canonical=keep|"mode": ?"keep"/);
  for (const [flags, message] of [
    [['--rule', 'sitemap=off'], /^--rule needs --repair$/],
    [
      ['--repair', '--link-file', join(folder, 'bundle.json')],
      /^--repair and --link-file exclude each other/,
    ],
  ] as const) {
    const { code, stdout } = await run(...flags);
    assert.equal(code, 2);
    assert.match(JSON.parse(stdout).message, message);
  }
});

test('a repaired site that servers would reject is rejected', async (t) => {
  const { folder, run, vendor } = await exportWorkplace(t);
  const large = { 'index.html': home, 'guide/index/index.html': 'x'.repeat(65_536) };
  vendor.archive = gzipSync(tarOf(large));
  const limit = ['--max-bundle-size', '100000'];
  const { code, stdout } = await run('--to', join(folder, 'site'), '--repair', ...limit);
  assert.equal(code, 6, stdout);
  assert.equal(existsSync(join(folder, 'site')), false);
});
