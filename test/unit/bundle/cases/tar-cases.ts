// Types, sizes, extended headers and framing of a tar, each wrong (or odd) in one way.

import {
  body,
  endMark,
  entry,
  header,
  longName,
  pax,
  paxRecord,
  tar,
  tarOf,
} from '../../../support/tar-builder.ts';
import type { ArchiveCases } from './archive-case.ts';

const page = entry('index.html', 'home');
const home = { 'index.html': 'home' };
const latin1 = 'ISO-IR 8859 1 1998';
const typed =
  (type: string, linkName = '') =>
  () => ({ bytes: tar(page, header({ name: 'x', type, linkName })) });
const sized = (size: number | string | Buffer) => () => ({
  bytes: tar(page, header({ name: 'x', size }), body('x'.repeat(600))),
});
const paxSized = (size: string) => () => ({
  bytes: tar(page, pax({ size }), entry('x', 'x'.repeat(600))),
});
const base256 = (...tail: readonly number[]): Buffer => {
  const field = Buffer.alloc(12);
  field[0] = 0x80;
  field.set(tail, 12 - tail.length);
  return field;
};
const whole = tarOf({ 'index.html': 'home', 'a.html': 'a'.repeat(700) });
const cutAt = (end: number) => () => ({ bytes: whole.subarray(0, end) });
const longPath = `${'long/'.repeat(30)}a.html`;

export const tarCases: ArchiveCases = {
  'symbolic-link': typed('2', 'index.html'),
  'symbolic-link-outside': typed('2', '../../etc/passwd'),
  'hard-link': () => ({
    bytes: tar(page, header({ name: 'copy.html', type: '1', linkName: './index.html' })),
    holds: { ...home, 'copy.html': 'home' },
  }),
  'hard-link-to-nothing': typed('1', 'missing.html'),
  'hard-link-outside': typed('1', '../../etc/passwd'),
  'hard-link-to-later': () => ({
    bytes: tar(page, header({ name: 'x', type: '1', linkName: 'a.html' }), entry('a.html', 'a')),
  }),
  'character-device': typed('3'),
  'block-device': typed('4'),
  fifo: typed('6'),
  'contiguous-file': () => ({
    bytes: tar(page, entry('a.html', 'a', { type: '7' })),
    holds: { ...home, 'a.html': 'a' },
  }),
  'nul-type': () => ({
    bytes: tar(page, entry('a.html', 'a', { type: '\0' })),
    holds: { ...home, 'a.html': 'a' },
  }),
  'gnu-sparse': typed('S'),
  'pax-sparse': () => ({
    bytes: tar(page, pax({ 'GNU.sparse.major': '1', 'GNU.sparse.minor': '0' }), entry('a', 'x')),
  }),
  'volume-label': typed('V'),
  'multi-volume': typed('M'),
  'unknown-type': typed('Z'),

  'base-256-size': () => ({
    bytes: tar(page, header({ name: 'a.html', size: base256(4) }), body('aaaa')),
    holds: { ...home, 'a.html': 'aaaa' },
  }),
  'base-256-huge': sized(base256(1, 0, 0, 0, 0, 0, 0, 0, 0, 0)),
  'base-256-negative': sized(Buffer.alloc(12, 0xff)),
  'base-256-malformed': sized(Buffer.from([0x81, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0x58])),
  'size-beyond-53-bits': sized(base256(0x40, 0, 0, 0, 0, 0, 0)),
  'size-not-octal': sized('0000000089x\0'),
  'size-beyond-one-file': sized(9 * 2 ** 30),
  'size-beyond-the-archive': () => ({
    bytes: Buffer.concat([page, header({ name: 'x', size: 5000 }), endMark]),
  }),
  'pax-size-equal': () => ({
    bytes: tar(page, pax({ size: '4' }), entry('a.html', 'aaaa')),
    holds: { ...home, 'a.html': 'aaaa' },
  }),
  'pax-size-smaller': paxSized('512'),
  'pax-size-larger': paxSized('1536'),
  'pax-size-negative': paxSized('-1'),
  'pax-size-text': paxSized('zz'),
  'pax-size-exponent': paxSized('6e2'),
  'folder-with-size': () => ({ bytes: tar(page, header({ name: 'd/', type: '5', size: 512 }), body('x')) }),
  'link-with-size': () => ({
    bytes: tar(page, header({ name: 'l', type: '1', linkName: 'index.html', size: 512 }), body('x')),
  }),

  'pax-path': () => ({
    bytes: tar(page, pax({ path: longPath, mtime: '1.5' }), entry('short', 'a')),
    holds: { ...home, [longPath]: 'a' },
  }),
  'gnu-long-name': () => ({
    bytes: tar(page, longName(longPath), entry('short', 'a', { magic: 'ustar  \0' })),
    holds: { ...home, [longPath]: 'a' },
  }),
  'pax-global-comment': () => ({
    bytes: tar(pax({ comment: 'commit 1' }, 'g'), page),
    holds: home,
  }),
  'pax-binary-attribute': () => ({
    bytes: tar(pax({ 'SCHILY.xattr.user.x': Buffer.from([0xff, 0, 0x0a, 0x3d]) }), page),
    holds: home,
  }),
  'pax-global-path': () => ({ bytes: tar(pax({ path: 'evil.html' }, 'g'), pax({ mtime: '1' }), page) }),
  'pax-path-with-nul': () => ({ bytes: tar(page, pax({ path: 'evil\0.html' }), entry('a', 'x')) }),
  'pax-empty-path': () => ({ bytes: tar(page, pax({ path: '' }), entry('a', 'x')) }),
  'pax-binary-charset': () => ({
    bytes: tar(
      ...[page, pax({ hdrcharset: 'BINARY', path: 'ü.html' }), entry('a', 'x')],
      ...[pax({ path: 'ö.html', hdrcharset: 'BINARY' }), entry('b', 'y')],
      ...[pax({ hdrcharset: 'BINARY' }, 'g'), pax({ path: 'ä.html' }), entry('c', 'z')],
    ),
    holds: { ...home, 'ü.html': 'x', 'ö.html': 'y', 'ä.html': 'z' },
  }),
  'pax-binary-charset-not-utf8': () => ({
    bytes: tar(
      page,
      pax({ hdrcharset: 'BINARY', path: Buffer.from('\xfc.html', 'latin1') }),
      entry('a', 'x'),
    ),
  }),
  'pax-other-charset-ascii': () => ({
    bytes: tar(page, pax({ hdrcharset: latin1, path: 'a.html' }), entry('a', 'x')),
    holds: { ...home, 'a.html': 'x' },
  }),
  'pax-other-charset': () => ({
    bytes: tar(page, pax({ path: 'ü.html', hdrcharset: latin1 }), entry('a', 'x')),
  }),
  'pax-other-charset-for-all': () => ({
    bytes: tar(page, pax({ hdrcharset: latin1 }, 'g'), pax({ path: 'ü.html' }), entry('a', 'x')),
  }),
  'pax-length-zero': () => ({ bytes: tar(page, pax(Buffer.from('0 path=a\n')), entry('a', 'x')) }),
  'pax-length-too-long': () => ({ bytes: tar(page, pax(Buffer.from('90 path=evil\n')), entry('a', 'x')) }),
  'pax-length-too-short': () => ({ bytes: tar(page, pax(Buffer.from('9 path=evil\n')), entry('a', 'x')) }),
  'pax-length-no-number': () => ({ bytes: tar(page, pax(Buffer.from('xx path=evil\n')), entry('a', 'x')) }),
  'pax-duplicate-key': () => ({
    bytes: tar(page, pax(Buffer.concat([paxRecord('path', 'a'), paxRecord('path', 'b')])), entry('c', 'x')),
  }),
  'pax-empty': () => ({ bytes: tar(page, pax(Buffer.alloc(0)), entry('a', 'x')) }),
  'pax-twice': () => ({ bytes: tar(page, pax({ path: 'a' }), pax({ path: 'b' }), entry('c', 'x')) }),
  'pax-before-gnu-name': () => ({
    bytes: tar(page, pax({ size: '1' }), longName(longPath), entry('c', 'x')),
  }),
  'gnu-name-before-pax': () => ({
    bytes: tar(page, longName(longPath), pax({ path: 'b' }), entry('c', 'x')),
  }),
  'gnu-name-twice': () => ({ bytes: tar(page, longName('a'), longName('b'), entry('c', 'x')) }),
  'gnu-name-with-tail': () => ({ bytes: tar(page, longName('a\0b'), entry('c', 'x')) }),
  'gnu-name-malformed-size': () => ({
    bytes: tar(page, header({ name: 'L', type: 'L', size: Buffer.alloc(12, 0xff) }), entry('c', 'x')),
  }),
  'dangling-gnu-name': () => ({ bytes: tar(page, longName('evil')) }),
  'dangling-pax': () => ({ bytes: tar(page, pax({ path: 'evil' })) }),
  'huge-extended-header': () => ({
    bytes: tar(page, pax({ comment: 'c'.repeat(5 * 2 ** 20) }), entry('a', 'x')),
  }),

  'extra-zero-blocks': () => ({ bytes: Buffer.concat([tar(page), Buffer.alloc(8192)]), holds: home }),
  'cut-in-file': cutAt(1024 + 512 + 300),
  'cut-in-padding': cutAt(1024 + 512 + 900),
  'cut-in-header': cutAt(1024 + 200),
  'cut-at-entry': cutAt(1024),
  'no-end-mark': cutAt(1024 + 512 + 1024),
  'half-an-end-mark': cutAt(1024 + 512 + 1024 + 512),
  'entries-after-one-zero-block': () => ({
    bytes: tar(page, Buffer.alloc(512), entry('evil.html', 'x')),
  }),
  'second-tar-after-the-end': () => ({ bytes: Buffer.concat([tar(page), tarOf({ 'evil.html': 'x' })]) }),
  'garbage-after-the-end': () => ({ bytes: Buffer.concat([tar(page), Buffer.alloc(512, 'x')]) }),
  'short-garbage-after-the-end': () => ({ bytes: Buffer.concat([tar(page), Buffer.from('xx')]) }),
  'bad-checksum': () => ({ bytes: tar(page, entry('a', 'x', { checksum: '0000001\0' })) }),
  'first-header-damaged': () => ({ bytes: tar(entry('a', 'x', { checksum: '0000001\0' })) }),
  'v7-header': () => ({ bytes: tar(entry('a', 'x', { magic: '\0\0\0\0\0\0\0\0' })) }),
  'only-zero-blocks': () => ({ bytes: Buffer.alloc(10_240) }),
  'only-folders': () => ({ bytes: tar(header({ name: 'a/', type: '5' })) }),
};
