// Links of pages, resolved as a browser does; and the thread over a real pack.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { test } from 'node:test';
import { createPackWriter } from '#bundle/store/pack.ts';
import { findLinkingPages } from '#site/links/linking-pages.ts';
import { addressesLinkedFrom } from '#site/links/linking-pages-run.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const program = new URL('../../../../src/bin/site-worker.ts', import.meta.url);
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const linked = (html: string): readonly string[] =>
  [
    ...addressesLinkedFrom(
      html,
      new URL('http://site.invalid/docs/guide/index.html'),
      new Set(['site.invalid', 'docs.example.com']),
    ),
  ].toSorted();

test('a link is an address of the site if it is relative, rooted, or names a host of the site', () => {
  const rows: readonly (readonly [string, readonly string[]])[] = [
    ['<a href="../old#part">', ['/docs/old']],
    ['<a href="/docs/a%20b?x=1">', ['/docs/a b']],
    ['<a href="https://DOCS.example.com/x/">', ['/x/']],
    ['<a href="//docs.example.com/y">', ['/y']],
    ['<img src="pic.png"><link rel="stylesheet" href="/s.css">', ['/docs/guide/pic.png', '/s.css']],
    ['<base href="/other/"><a href="z">', ['/other/z']],
    ['<a href="caf\u0065\u0301">', ['/docs/guide/café']],
    ['<a href="https://elsewhere.example/a"><a href="mailto:a@b.example"><a href="javascript:a">', []],
    ['<a href="/a%2Fb"><a href="http://[">', []],
  ];
  for (const [html, addresses] of rows) assert.deepEqual(linked(html), addresses, html);
});

test('the thread names the pages that link to a wanted address, by the address at which they are served', async () => {
  const files = {
    '404.html': '<a href="/docs/gone">x</a>',
    'a?b.html': '<a href="gone">x</a>',
    'guide/index.html': '<a href="../gone">x</a><a href="../gone#again">x</a><a href="/docs/gone">x</a>',
    'index.html': '<a href="guide/">x</a><img src="/docs/missing.png">',
    'notes.txt': '<a href="/docs/gone">x</a>',
    ...Object.fromEntries(
      Array.from({ length: 12 }, (_, at) => [`p${10 + at}.html`, '<a href="many">x</a>']),
    ),
  };
  const packPath = join(temporaryFolder(), 'pack');
  const pack = createPackWriter(packPath);
  const listed = Object.entries(files).map(([path, content]) => {
    const file = { path, offset: pack.position, size: Buffer.byteLength(content), sha256: sha256(content) };
    pack.append(Buffer.from(content));
    return file;
  });
  pack.finish();
  const index = { digest: sha256('content'), files: listed, pages: 1, sizeBytes: 1, notes: [] };
  const addresses = ['/docs/gone', '/docs/missing.png', '/docs/many', '/docs/never'];
  const found = await findLinkingPages(
    program,
    { packPath, index, addresses, basePath: '/docs', hosts: [] },
    { signal: new AbortController().signal, onProgress: () => {} },
  );
  assert.deepEqual(found.get('/docs/gone'), { count: 2, examples: ['/docs/a?b', '/docs/guide/'] });
  assert.deepEqual(found.get('/docs/missing.png'), { count: 1, examples: ['/docs/'] });
  assert.equal(found.get('/docs/many')?.count, 12);
  assert.equal(found.get('/docs/many')?.examples.length, 10);
  assert.equal(found.has('/docs/never'), false);
});
