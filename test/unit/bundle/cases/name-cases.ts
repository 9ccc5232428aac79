// Names and collisions, each in a tar of its own. `page` stands next to them, so that "refused whole" means something.

import { entry, header, pax, tar, tarOf } from '../../../support/tar-builder.ts';
import type { ArchiveCases } from './archive-case.ts';

const page = entry('index.html', 'home');
const named = (name: string | Buffer) => () => ({ bytes: tar(page, entry(name, 'x')) });

export const nameCases: ArchiveCases = {
  'dot-prefix': () => ({
    bytes: tar(header({ name: './', type: '5' }), entry('./index.html', 'home'), entry('./a/b.css', 'b')),
    holds: { 'index.html': 'home', 'a/b.css': 'b' },
  }),
  'double-slash': () => ({
    bytes: tar(page, entry('a//b.html', 'b')),
    holds: { 'index.html': 'home', 'a/b.html': 'b' },
  }),
  'dot-segment': () => ({
    bytes: tar(page, entry('a/./b.html', 'b')),
    holds: { 'index.html': 'home', 'a/b.html': 'b' },
  }),
  unicode: () => ({
    bytes: tar(page, entry('é/日本.html', 'u')),
    holds: { 'index.html': 'home', 'é/日本.html': 'u' },
  }),
  'percent-sign': () => ({
    bytes: tar(page, entry('%2e%2e/100%.html', 'p')),
    holds: { 'index.html': 'home', '%2e%2e/100%.html': 'p' },
  }),
  'prototype-name': () => ({
    bytes: tar(page, entry('__proto__', 'p'), entry('constructor', 'c')),
    holds: Object.fromEntries([
      ['index.html', 'home'],
      ['constructor', 'c'],
      ['__proto__', 'p'],
    ]),
  }),
  'host-control-file': () => ({
    bytes: tarOf({ 'index.html': 'home', _headers: 'h', _redirects: 'r', 'serve.js': 's' }),
    holds: { 'index.html': 'home', _headers: 'h', _redirects: 'r', 'serve.js': 's' },
  }),
  'nul-in-name': () => ({
    bytes: tar(page, entry('a.html\0.js', 'a')),
    holds: { 'index.html': 'home', 'a.html': 'a' },
  }),
  'nul-in-prefix': () => ({
    bytes: tar(page, entry('a.html', 'a', { prefix: 'docs\0x' })),
    holds: { 'index.html': 'home', 'docs/a.html': 'a' },
  }),
  'nul-in-unused-name': () => ({
    bytes: tar(page, pax({ path: 'a.html' }), entry('b\0x', 'a'), header({ name: 'c/\0x', type: '5' })),
    holds: { 'index.html': 'home', 'a.html': 'a' },
  }),
  'case-twins': () => ({
    bytes: tarOf({ 'index.html': 'home', 'A.html': '1', 'a.html': '2' }),
    holds: { 'index.html': 'home', 'A.html': '1', 'a.html': '2' },
  }),
  'unicode-decomposed': () => ({
    bytes: tarOf({
      'index.html': 'home',
      'e\u0301/e\u0301.html': '1',
      '\u00e9/u\u0308.html': '2',
      '.e\u0301': '',
    }),
    holds: { 'index.html': 'home', 'e\u0301/e\u0301.html': '1', '\u00e9/u\u0308.html': '2', '.e\u0301': '' },
  }),
  'unicode-twins': () => ({
    bytes: tarOf({ 'index.html': 'home', '\u00e9/a.html': '1', 'e\u0301/a.html': '1' }),
  }),
  'byte-order-mark': () => ({
    bytes: tar(page, entry('\ufeffindex.html', 'other'), pax({ path: '\ufeffa.html' }), entry('x', 'a')),
    holds: { 'index.html': 'home', '\ufeffindex.html': 'other', '\ufeffa.html': 'a' },
  }),
  'file-and-folder': () => ({
    bytes: tarOf({ 'index.html': 'home', a: '1', 'a/b.html': '2' }),
    holds: { 'index.html': 'home', a: '1', 'a/b.html': '2' },
  }),
  'exact-duplicate': () => ({
    bytes: tar(page, entry('a.html', 'first'), entry('b.html', 'b'), entry('a.html', 'last')),
    holds: { 'index.html': 'home', 'a.html': 'last', 'b.html': 'b' },
  }),
  'duplicate-after-normalising': () => ({
    bytes: tar(page, entry('a.html', 'first'), entry('./a.html', 'last')),
    holds: { 'index.html': 'home', 'a.html': 'last' },
  }),
  'wrapping-folder': () => ({
    bytes: tar(
      header({ name: 'site/', type: '5' }),
      entry('site/index.html', 'home'),
      entry('site/guides/a.html', 'a'),
    ),
    holds: { 'index.html': 'home', 'guides/a.html': 'a' },
  }),
  'top-folder-without-home': () => ({
    bytes: tarOf({ 'docs/guides/index.html': 'g', 'docs/a.html': 'a' }),
    holds: { 'docs/guides/index.html': 'g', 'docs/a.html': 'a' },
  }),
  'two-wrapping-folders': () => ({
    bytes: tarOf({ 'export/site/index.html': 'home', 'export/site/a.html': 'a' }),
    holds: { 'export/site/index.html': 'home', 'export/site/a.html': 'a' },
  }),
  'clutter-next-to-folder': () => ({
    bytes: tar(
      entry('./._site', 'x'),
      entry('.DS_Store', 'first'),
      ...['site/index.html', 'site/.DS_Store', 'site/a.html'].map((name) => entry(name, name)),
      ...['__MACOSX/site/index.html', 'desktop.ini', 'Thumbs.db', '.git/index.html', '_redirects'].map(
        (name) => entry(name, 'x'),
      ),
      entry('pax_global_header', 'commit'),
    ),
    holds: { 'index.html': 'site/index.html', '.DS_Store': 'site/.DS_Store', 'a.html': 'site/a.html' },
  }),
  'hidden-page': () => ({
    bytes: tarOf({ 'index.html': 'home', 'tags/.net/index.html': 'n' }),
    holds: { 'index.html': 'home', 'tags/.net/index.html': 'n' },
  }),
  'hidden-linked-file': () => ({
    bytes: tarOf({ 'index.html': '<a href=a/.x.pdf>', 'a/.x.pdf': 'x' }),
    holds: { 'index.html': '<a href=a/.x.pdf>', 'a/.x.pdf': 'x' },
  }),
  'root-script': () => ({
    bytes: tarOf({ 'index.html': 'home', 'install.cmd': 'c' }),
    holds: { 'index.html': 'home', 'install.cmd': 'c' },
  }),
  'two-top-folders': () => ({
    bytes: tarOf({ 'docs/index.html': 'd', 'assets/a.css': 'a' }),
    holds: { 'docs/index.html': 'd', 'assets/a.css': 'a' },
  }),
  'absolute-name': named('/etc/passwd'),
  'parent-name': named('../x.html'),
  'parent-inside-name': named('a/../../b.html'),
  'parent-that-stays-inside': named('a/../b.html'),
  'parent-folder': () => ({ bytes: tar(page, header({ name: 'a/../../', type: '5' })) }),
  'backslash-name': named('..\\x.html'),
  'drive-name': named('C:x.html'),
  'empty-name': named(''),
  'dot-name': named('./'),
  'slash-after-file': named('a.html/'),
  'dot-after-file': named('a/.'),
  'line-break-in-name': named('a\r\nSet-Cookie: x.html'),
  'escape-in-name': named('a\u001b[2J.html'),
  'c1-control-in-name': named('a\u0085.html'),
  'invalid-utf8-name': named(Buffer.from([0x61, 0xff, 0xfe])),
  'invalid-utf8-pax-name': () => ({
    bytes: tar(page, pax({ path: Buffer.from([0x61, 0xff]) }), entry('a', 'x')),
  }),
  'long-name': () => ({ bytes: tar(page, pax({ path: 'a'.repeat(1025) }), entry('a', 'x')) }),
  'deep-name': () => ({ bytes: tar(page, pax({ path: 'a/'.repeat(64).concat('b') }), entry('a', 'x')) }),
  'names-beyond-all': () => ({
    bytes: tar(page, entry('a'.repeat(60), 'x'), entry('b'.repeat(60), 'x')),
    limits: { maxMetadataBytes: 100 },
  }),
};
