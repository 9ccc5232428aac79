// Which pages take the line of the search or the link to their Markdown, and how addresses are written in them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BundleFile } from '#bundle/bundle-index.ts';
import { markdownLine, mayTakeLine, placeLine, searchLine } from '#server/made/page-line.ts';

const page = '<!doctype html><head><title>a</title></head>';

const takes = (path: string, body: Buffer | string, more: Partial<BundleFile> = {}): boolean => {
  const bytes = Buffer.from(body);
  const file: BundleFile = { path, offset: 0, size: bytes.length, sha256: 'a'.repeat(64), ...more };
  const parts = { link: '<link>', script: '<script>' };
  const placed = mayTakeLine(file) ? placeLine(file, bytes, parts) : undefined;
  return placed !== undefined && placed.text === '<link><script>' && placed.hasScript;
};

test('the address of the line begins with the base path, and stays within its attribute', () => {
  assert.equal(searchLine(''), '<script defer src="/_sx/search/search.js"></script>');
  assert.equal(searchLine('/docs'), '<script defer src="/docs/_sx/search/search.js"></script>');
  assert.equal(
    searchLine('/a"&<ü'),
    '<script defer src="/a%22&amp;%3C%C3%BC/_sx/search/search.js"></script>',
  );
});

const declared = (charset: string): string => `<!doctype html><head><meta charset=${charset}></head>`;

test('pages in encodings that hold ASCII take the line, the 404 page too', () => {
  assert.ok(takes('a.html', page));
  assert.ok(takes('404.html', page));
  assert.ok(takes('old.htm', page));
  assert.ok(takes('a.html', `\ufeff${page}`));
  assert.ok(takes('a.html', Buffer.from(`${declared('windows-1251')}\xcf\xf0`, 'latin1')));
  assert.ok(takes('a.html', declared('shift_jis')));
  assert.ok(takes('a.html', page, { type: 'text/html; charset=gb18030' }));
});

test('what cannot carry the line goes without it', () => {
  assert.ok(!takes('a.xhtml', page), 'XHTML is read by an XML parser');
  assert.ok(!takes('a.html', page, { type: 'application/xhtml+xml' }));
  assert.ok(!takes('a.html', page, { isData: true }), 'JSON under the name of a page');
  assert.ok(!takes('a.txt', page));
  assert.ok(!takes('a.html', '<p>part of a page</p>'));
  assert.ok(!takes('a.html', Buffer.from(`\ufeff${page}`, 'utf16le')));
  assert.ok(!takes('a.html', Buffer.from(page, 'utf16le')), 'UTF-16 without its mark');
  assert.ok(!takes('a.html', page, { type: 'text/html; charset=utf-16be' }));
  assert.ok(!takes('a.html', declared('iso-2022-jp')));
  assert.ok(!takes('a.html', page, { size: 2 ** 30 }), 'larger than the thread reads');
});

test('a page gets what it can take: the link alone where its policy refuses scripts of the site', () => {
  const bodyOf = (head: string): Buffer => Buffer.from(`<!doctype html><head>${head}</head>`);
  const refusing = bodyOf('<meta http-equiv="Content-Security-Policy" content="script-src \'none\'">');
  const at = refusing.indexOf('</head>');
  const file = { path: 'a.html', offset: 0, size: refusing.length, sha256: 'a'.repeat(64) };
  const [link, script] = ['<link>', '<script>'];
  assert.deepEqual(placeLine(file, refusing, { link, script }), { text: link, at, hasScript: false });
  assert.equal(placeLine(file, refusing, { link: '', script }), undefined);
  const plain = bodyOf('');
  assert.deepEqual(placeLine(file, plain, { link, script: '' }), { text: link, at: 21, hasScript: false });
  assert.equal(placeLine(file, plain, { link: '', script: '' }), undefined);
  assert.equal(markdownLine('/docs/a.md'), '<link rel="alternate" type="text/markdown" href="/docs/a.md">');
});
