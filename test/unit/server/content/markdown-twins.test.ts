// The Markdown of pages among the files of a site: which file it is, its address, and what is not taken for it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BundleFile } from '#bundle/bundle-index.ts';
import {
  addressOfTwin,
  createMarkdownTwins,
  isOfOneVersion,
  twinFileOf,
} from '#server/content/markdown-twins.ts';
import { buildRouteTable } from '#server/content/route-table.ts';
import { bundleOf } from '../fixtures.ts';

function twinsOf(paths: readonly string[], more: Readonly<Record<string, Partial<BundleFile>>> = {}) {
  const index = bundleOf(paths);
  const files = index.files.map((file) => ({ ...file, ...more[file.path] }));
  const table = buildRouteTable({ ...index, files });
  const twins = createMarkdownTwins(table, '/a b');
  return {
    twinOf: (path: string) => {
      const route = table.findFile(`/${path}`);
      return route === undefined ? undefined : twins.twinOf(route)?.address;
    },
    named: (path: string) => twins.findByName(`/${path}`)?.file.path,
    isTwin: (path: string) => {
      const route = table.findFile(`/${path}`);
      return route !== undefined && twins.isTwin(route);
    },
  };
}

test('a page leads to its twin below the base path, whatever its name', () => {
  const twins = twinsOf(['ü/a & "b".html', 'ü/a & "b".md', 'x.html']);
  assert.equal(twins.twinOf('ü/a & "b".html'), '/a%20b/%C3%BC/a%20%26%20%22b%22.md');
  assert.equal(twins.twinOf('x.html'), undefined);
  assert.equal(addressOfTwin("it's.md", ''), '/it%27s.md', 'within an attribute');
});

test('what is not sent as Markdown, and JSON under the name of a page, have no twin', () => {
  const twins = twinsOf(['a.html', 'a.md', 'b.html', 'b.md', 'c.html', 'c.md'], {
    'a.md': { type: 'text/plain' },
    'b.html': { isData: true },
    'c.md': { type: 'text/markdown; charset=windows-1251' },
  });
  assert.equal(twins.twinOf('a.html'), undefined);
  assert.equal(twins.twinOf('b.html'), undefined);
  assert.equal(twins.twinOf('c.html'), '/a%20b/c.md');
  assert.equal(twins.named('a/index.html.md'), undefined);
  assert.equal(twins.isTwin('a.md'), false);
});

test('a page and the page of a folder of its name lead to a twin each', () => {
  const twins = twinsOf(['a.html', 'a/index.html', 'a.md', 'a/index.md']);
  assert.equal(twins.twinOf('a.html'), '/a%20b/a.md');
  assert.equal(twins.twinOf('a/index.html'), '/a%20b/a/index.md');
  assert.equal(twins.named('a.html.md'), 'a.md');
  assert.equal(twins.named('a/index.html.md'), 'a/index.md');
  const one = twinsOf(['a.html', 'a/index.html', 'a.md']);
  assert.equal(one.twinOf('a/index.html'), undefined, 'the Markdown of another page');
});

test('a file that is next to its page under another name is still its twin', () => {
  const twins = twinsOf(['a.html', 'a/index.html.md', 'b.md']);
  assert.ok(twins.isTwin('a/index.html.md'));
  assert.equal(twins.named('a.md'), 'a/index.html.md');
  assert.equal(twins.isTwin('b.md'), false);
  assert.equal(twins.named('b.html.md'), undefined);
});

test('a thread and the server find the same twin', () => {
  const files = new Map(bundleOf(['a.html', 'a.md']).files.map((file) => [file.path, file]));
  const page = files.get('a.html');
  assert.ok(page);
  assert.equal(twinFileOf(page, (path) => files.get(path))?.path, 'a.md');
});

test('Markdown and the lists are of one version; other files outlive it', () => {
  for (const path of ['/a.md', '/a/index.html.md', '/llms.txt', '/llms-full.txt']) {
    assert.ok(isOfOneVersion(path), path);
  }
  for (const path of ['/guide.md.BYwSqCud.js', '/a/llms.txt', '/a.mdx', '/robots.txt']) {
    assert.ok(!isOfOneVersion(path), path);
  }
});
