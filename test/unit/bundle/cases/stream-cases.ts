// What comes instead of an archive, compression damaged or joined, and archives that are small only outside.

import { gzipSync, zstdCompressSync } from 'node:zlib';
import { entry, header, tar, tarOf } from '../../../support/tar-builder.ts';
import { zip } from '../../../support/zip-builder.ts';
import type { ArchiveCases } from './archive-case.ts';

const site = tarOf({ 'index.html': 'home', 'a.html': 'a'.repeat(3000) });
const holds = { 'index.html': 'home', 'a.html': 'a'.repeat(3000) };
const gzip = gzipSync(site);
const zstd = zstdCompressSync(site);
const skippable = Buffer.from('502a4d1803000000616263', 'hex');
const emptySkippable = Buffer.from('502a4d1800000000', 'hex');
const text = (content: string) => () => ({ bytes: Buffer.from(content) });
const zeros = tar(entry('index.html', 'home'), entry('z', Buffer.alloc(20 * 2 ** 20)));

function flipped(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy.writeUInt8(copy.readUInt8(at) ^ 0xff, at);
  return copy;
}

/** A zstd frame of one block that is not compressed. @param windowLog as its header claims */
function rawFrame(content: Buffer, windowLog: number): Buffer {
  const block = Buffer.alloc(3);
  block.writeUIntLE((content.length << 3) | 1, 0, 3);
  return Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, (windowLog - 10) << 3]), block, content]);
}

const empty = rawFrame(Buffer.alloc(0), 10);

export const streamCases: ArchiveCases = {
  'tar-plain': () => ({ bytes: site, holds }),
  'tar-gzip': () => ({ bytes: gzip, holds }),
  'tar-zstd': () => ({ bytes: zstd, holds }),
  'nothing-at-all': text(''),
  'gzip-of-nothing': () => ({ bytes: gzipSync('') }),
  'html-page': text('\ufeff\n<!DOCTYPE html><title>Sign in</title>'),
  'html-page-compressed': () => ({ bytes: gzipSync('<html><body>Sign in</body></html>') }),
  'xml-error': text('<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>AccessDenied</Code></Error>'),
  'json-error': text('{"error":"expired"}'),
  'other-archive': () => ({ bytes: Buffer.from('377abcaf271c0004', 'hex') }),
  'gzip-in-gzip': () => ({ bytes: gzipSync(gzip) }),

  'archive-inside': () => {
    const files = { 'index.html': 'home', 'a.tar.gz': gzip, 'b.zip': zip([{ name: '../x', content: 'x' }]) };
    const texts = Object.entries(files).map(([name, bytes]) => [name, Buffer.from(bytes).toString('latin1')]);
    return { bytes: gzipSync(tarOf(files)), holds: Object.fromEntries(texts) };
  },
  'gzip-members': () => ({
    bytes: Buffer.concat([gzipSync(site.subarray(0, 700)), gzipSync(site.subarray(700))]),
    holds,
  }),
  'gzip-zero-padding': () => ({ bytes: Buffer.concat([gzip, Buffer.alloc(512)]), holds }),
  'gzip-padding-and-more': () => ({ bytes: Buffer.concat([gzip, Buffer.alloc(512), gzip]) }),
  'gzip-garbage': () => ({ bytes: Buffer.concat([gzip, Buffer.from('garbage')]) }),
  'gzip-second-site': () => ({ bytes: Buffer.concat([gzip, gzipSync(tarOf({ 'evil.html': 'x' }))]) }),
  'gzip-cut': () => ({ bytes: gzip.subarray(0, -9) }),
  'gzip-damaged': () => ({ bytes: flipped(gzip, gzip.length - 6) }),
  'zstd-frames': () => ({
    bytes: Buffer.concat([zstdCompressSync(site.subarray(0, 700)), zstdCompressSync(site.subarray(700))]),
    holds,
  }),
  'zstd-skippable-frame': () => ({ bytes: Buffer.concat([skippable, zstd, skippable]), holds }),
  'zstd-largest-window': () => ({ bytes: rawFrame(site, 23), holds }),
  'zstd-larger-window': () => ({ bytes: rawFrame(site, 24) }),
  'zstd-many-frames': () => ({
    bytes: Buffer.concat(Array.from({ length: 101 }, () => empty)),
    limits: { maxFrames: 100 },
  }),
  // More pieces in one chunk than a call may have arguments.
  'zstd-many-skippable-frames': () => ({
    bytes: Buffer.concat([...Array.from({ length: 130_000 }, () => emptySkippable), zstd]),
  }),
  'zstd-garbage': () => ({ bytes: Buffer.concat([zstd, Buffer.from('garbage')]) }),
  'zstd-second-site': () => ({
    bytes: Buffer.concat([zstd, zstdCompressSync(tarOf({ 'evil.html': 'x' }))]),
  }),
  'zstd-cut': () => ({ bytes: zstd.subarray(0, -9) }),
  'zstd-cut-in-skippable-frame': () => ({ bytes: Buffer.concat([zstd, skippable.subarray(0, 9)]) }),

  'gzip-bomb': () => ({ bytes: gzipSync(zeros) }),
  'zstd-bomb': () => ({ bytes: zstdCompressSync(zeros) }),
  'content-beyond-all': () => ({ bytes: gzip, limits: { maxTotalBytes: 4096 } }),
  'file-beyond-all': () => ({ bytes: gzip, limits: { maxFileBytes: 2999 } }),
  'entry-bomb': () => ({
    bytes: gzipSync(tar(...Array.from({ length: 2000 }, (_, at) => header({ name: `d${at}/`, type: '5' })))),
    limits: { maxFiles: 1000 },
  }),
};
