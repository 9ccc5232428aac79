// `bundle markdown` as a verb: what it prints and writes, that a second time changes nothing, and what it refuses.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { runInProcess } from '../../../support/cli-in-process.ts';
import { tarOf } from '../../../support/tar-builder.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { archiveVerb } from './archive-verb.ts';

const site = {
  'site/index.html': '<title>Docs</title><main><h1>Docs</h1><p><a href="guide">g</a></p></main>',
  'site/guide.html': '<title>Guide</title><main><h1>Guide</h1><p>a</p></main>',
  'site/own.html': '<title>Own</title><main><h1>Own</h1><p>a</p></main>',
  'site/own.md': 'own',
  'site/.hidden/x.html': '<p>x</p>',
};

const markdown = archiveVerb('markdown');

test('an archive gets Markdown and lists, its own files stay, and a second time changes nothing', async (t) => {
  const folder = temporaryFolder(t);
  const at = (name: string): string => join(folder, name);
  writeFileSync(at('site.tar'), tarOf(site));
  const flags = ['--base-path', '/docs', '--domain', 'docs.example.com'];
  const { code, stderr, document } = await markdown(at('site.tar'), '--to', at('new.tar.gz'), ...flags);
  assert.equal(code, 0, stderr);
  const { changed, path, files, pages, old, markdownFiles, lists } = document;
  assert.deepEqual([changed, path, files, pages, old.files], [true, at('new.tar.gz'), 9, 3, 5]);
  assert.deepEqual([markdownFiles, lists], [2, ['llms.txt', 'llms-full.txt']]);
  const inspected = await runInProcess(['bundle', 'inspect', at('new.tar.gz'), '--files', '-o', 'json']);
  const summary = JSON.parse(inspected.stdout);
  assert.equal(summary.digest, document.digest);
  assert.deepEqual(
    summary.entries.map((one: { path: string }) => one.path),
    '.hidden/x.html guide.html guide.md index.html index.md llms-full.txt llms.txt own.html own.md'.split(
      ' ',
    ),
  );
  const twice = await markdown(at('new.tar.gz'), '--to', at('again.tar'), ...flags);
  assert.deepEqual([twice.document.changed, twice.document.digest], [false, document.digest]);
});

test('a base path reads as the server reads it: slashes around it say nothing', async (t) => {
  const at = (name: string): string => join(temporaryFolder(t), name);
  const archive = at('site.tar');
  writeFileSync(archive, tarOf(site));
  const made = async (basePath: string): Promise<string> => {
    const to = at(`${basePath.replaceAll('/', '-')}.tar`);
    const flags = ['--base-path', basePath, '--domain', 'docs.example.com'];
    const { code, stderr } = await markdown(archive, '--to', to, ...flags);
    assert.equal(code, 0, stderr);
    return readFileSync(to, 'utf8');
  };
  const expected = await made('/docs');
  assert.match(expected, /\(https:\/\/docs\.example\.com\/docs\/guide\)/);
  for (const basePath of ['docs', 'docs/', '/docs/', '//docs']) assert.equal(await made(basePath), expected);
});

test('a person reads what was added', async (t) => {
  const at = (name: string): string => join(temporaryFolder(t), name);
  const archive = at('site.tar');
  writeFileSync(archive, tarOf(site));
  const { code, stdout } = await runInProcess(['bundle', 'markdown', archive, '--to', at('a.tar')]);
  assert.equal(code, 0);
  assert.match(stdout, /^Added: {3}2 Markdown files, llms\.txt, llms-full\.txt$/m);
});

test('pages that are too large for Markdown are named on the screen and in JSON, unless the site has their Markdown', async (t) => {
  const at = (name: string): string => join(temporaryFolder(t), name);
  const large = `<title>Large</title><main><h1>Large</h1>${'<p>word</p>'.repeat(800_000)}</main>`;
  const archive = at('site.tar');
  writeFileSync(archive, tarOf({ ...site, 'site/large.html': large, 'site/own.html': large }));
  const { code, document } = await markdown(archive, '--to', at('a.tar'));
  assert.equal(code, 0);
  assert.deepEqual(document.withoutMarkdown, { count: 1, examples: ['large.html'] });
  const { stdout } = await runInProcess(['bundle', 'markdown', archive, '--to', at('b.tar')]);
  const words = stdout.replace(/\s+/g, ' ');
  assert.match(
    words,
    /Warning: 1 page of more than 8 MiB gets no Markdown, such as large\.html\. Split such a page/,
  );
});

test('a host that is an address and a base path with dots are refused before the archive is read', async (t) => {
  const none = join(temporaryFolder(t), 'none.tar');
  for (const [flag, value, message] of [
    ['--domain', 'https://docs.example.com', /must be a host such as/],
    ['--domain', 'a.example/b', /must be a host such as/],
    ['--base-path', '/a/../b', /must be a plain path/],
  ] as const) {
    const { code, document } = await markdown(none, '--to', join(none, 'x.tar'), flag, value);
    assert.equal(code, 2);
    assert.match(document.message, message);
  }
});
