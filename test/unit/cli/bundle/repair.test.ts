// `bundle repair` as a verb: what it prints and writes, that the same input gives the same bytes, and what it refuses.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { runInProcess } from '../../../support/cli-in-process.ts';
import { entry, tar, tarOf } from '../../../support/tar-builder.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { archiveVerb } from './archive-verb.ts';

const broken = {
  'site/index.html':
    '<link rel="canonical" href="https://undefined.docs.example.com/"><a href="/guide">g</a>',
  'site/guide/index/index.html': '<img src="a.png">',
  'site/serve.js': 'x',
  'site/start.bat': 'x',
  'site/sitemap.xml': '<urlset><url><loc>https://h/guide.html</loc></url></urlset>',
  '__MACOSX/._site': 'x',
  '.DS_Store': 'x',
};

const repair = archiveVerb('repair');

test('an archive is repaired by all rules, and the document names what each did', async (t) => {
  const folder = temporaryFolder(t);
  const [archive, to] = [join(folder, 'site.tar'), join(folder, 'repaired.tar.gz')];
  writeFileSync(archive, tarOf(broken));
  const { code, stderr, document } = await repair(
    archive,
    '--to',
    to,
    '--rule',
    'canonical=set=docs.acme.com',
  );
  assert.equal(code, 0, stderr);
  const { changed, dryRun, path, files, pages, old, rules } = document;
  assert.deepEqual([changed, dryRun, path, files, pages], [true, false, to, 4, 3]);
  assert.deepEqual([old.files, old.pages], [5, 2]);
  assert.notEqual(document.digest, old.digest);
  assert.deepEqual(
    rules.map((rule: { rule: string; mode: string; files: number }) => [rule.rule, rule.mode, rule.files]),
    [
      ['wrapping-folder', 'on', 5],
      ['launchers', 'on', 2],
      ['folder-index', 'on', 1],
      ['canonical', 'set=docs.acme.com', 1],
      ['search-box', 'on', 0],
      ['sitemap', 'on', 1],
    ],
  );
  const inspected = await runInProcess(['bundle', 'inspect', to, '--files', '-o', 'json']);
  const summary = JSON.parse(inspected.stdout);
  assert.deepEqual([summary.digest, summary.notes], [document.digest, []]);
  assert.deepEqual(
    summary.entries.map((one: { path: string }) => one.path),
    ['guide/index.html', 'guide/index/index.html', 'index.html', 'sitemap.xml'],
  );
  assert.deepEqual(readdirSync(folder).sort(), ['repaired.tar.gz', 'site.tar']);
});

test('the same archive gives the same bytes, and a repaired one changes nothing', async (t) => {
  const folder = temporaryFolder(t);
  const at = (name: string) => join(folder, name);
  writeFileSync(at('site.tar'), tarOf(broken));
  const rule = ['--rule', 'canonical=strip'];
  const first = await repair(at('site.tar'), '--to', at('a.tar'), ...rule);
  await repair(at('site.tar'), '--to', at('b.tar'), ...rule);
  assert.deepEqual(readFileSync(at('a.tar')), readFileSync(at('b.tar')));
  const again = await repair(at('a.tar'), '--to', at('c.tar'), ...rule);
  assert.deepEqual([again.code, again.document.changed], [0, false]);
  assert.deepEqual(again.document.old.digest, first.document.digest);
  assert.equal(again.document.digest, first.document.digest);
  assert.deepEqual(readFileSync(at('a.tar')), readFileSync(at('c.tar')));
});

test('a dry run reports the digest that would be written, and writes nothing', async (t) => {
  const folder = temporaryFolder(t);
  const at = (name: string) => join(folder, name);
  writeFileSync(at('site.tar'), tarOf(broken));
  const dry = await repair(at('site.tar'), '--dry-run', '--to', at('a.tar'));
  assert.deepEqual([dry.code, dry.document.dryRun, dry.document.path], [0, true, undefined]);
  assert.equal(existsSync(at('a.tar')), false);
  assert.equal((await repair(at('site.tar'), '--to', at('a.tar'))).document.digest, dry.document.digest);
});

test('a person reads what the rules did, and that canonical addresses without their host were kept', async (t) => {
  const archive = join(temporaryFolder(t), 'site.tar');
  writeFileSync(archive, tarOf(broken));
  const { code, stdout } = await runInProcess(['bundle', 'repair', archive, '--dry-run']);
  assert.equal(code, 0);
  assert.match(stdout, /^Nothing is written \(--dry-run\)\.$/m);
  assert.match(stdout, /^ {2}launchers {8}2 files, such as serve\.js$/m);
  assert.match(
    stdout,
    /^Warning: 1 page with a canonical or OpenGraph address without its host: index\.html/m,
  );
  assert.match(stdout, /--rule canonical=set=HOST/);
  const off = await runInProcess(['bundle', 'repair', archive, '--dry-run', '--rule', 'all=off']);
  assert.match(off.stdout, /^ {2}launchers {8}off$/m);
  assert.doesNotMatch(off.stdout, /Warning/);
});

test('an unknown rule, a missing --to and another ending are refused before the archive is read', async (t) => {
  const at = (name: string) => join(temporaryFolder(t), name);
  const none = at('none.tar');
  for (const [args, message] of [
    [['--to', at('a.tar'), '--rule', 'none'], /^--rule must be one of wrapping-folder=on\|off, launchers=/],
    [['--to', at('a.tar'), '--rule', 'sitemap=strip'], /^--rule must be sitemap=on\|off$/],
    [[], /^--to is missing; add it, or add --dry-run$/],
    [['--to', at('a.zip')], /^--to must end in \.tar, /],
  ] as const) {
    const { code, document } = await repair(none, ...args);
    assert.equal(code, 2);
    assert.match(document.message, message);
  }
});

test('an archive that is there is not replaced, and what is rejected leaves it as it was', async (t) => {
  const folder = temporaryFolder(t);
  const at = (name: string) => join(folder, name);
  writeFileSync(at('site.tar'), tarOf(broken));
  writeFileSync(at('bad.tar'), tar(entry('../x.html', 'x')));
  writeFileSync(at('there.tar'), 'there');
  const held = await repair(at('site.tar'), '--to', at('there.tar'));
  assert.deepEqual([held.code, held.document.code], [2, 'DestinationExists']);
  const rejected = await repair(at('bad.tar'), '--to', at('there.tar'), '--replace');
  assert.deepEqual([rejected.code, rejected.document.code], [6, 'ParentPath']);
  // With its copy of a page the repaired archive is larger than the limit, so that its check rejects it.
  writeFileSync(
    at('site.tar'),
    tarOf({ 'index.html': '<a href="/a">a</a>', 'a/index/index.html': 'x'.repeat(4096) }),
  );
  const limit = `${readFileSync(at('site.tar')).length}`;
  const large = await repair(
    at('site.tar'),
    '--to',
    at('there.tar'),
    '--replace',
    '--max-archive-size',
    limit,
  );
  assert.deepEqual([large.code, large.document.kind], [6, 'Error']);
  assert.equal(readFileSync(at('there.tar'), 'utf8'), 'there');
  assert.deepEqual(readdirSync(folder).sort(), ['bad.tar', 'site.tar', 'there.tar']);
  assert.equal((await repair(at('site.tar'), '--to', at('site.tar'), '--replace')).code, 0);
});
