// Zips whose directory, local headers and data disagree, overlap or lie; and the ones that must be taken.

import { crc32, deflateRawSync } from 'node:zlib';
import { noise } from '../../../support/noise.ts';
import { type ZipEntry, zip } from '../../../support/zip-builder.ts';
import type { ArchiveCases } from './archive-case.ts';

const page: ZipEntry = { name: 'index.html', content: 'home' };
const home = { 'index.html': 'home' };
const withEntry = (one: ZipEntry) => () => ({ bytes: zip([page, one]) });

/** Crc, sizes: what follows the data when the local header could not say them. */
function descriptor(content: string, compressedSize: number): Buffer {
  const bytes = Buffer.alloc(16);
  bytes.writeUInt32LE(0x08074b50, 0);
  bytes.writeUInt32LE(crc32(content), 4);
  bytes.writeUInt32LE(compressedSize, 8);
  bytes.writeUInt32LE(content.length, 12);
  return bytes;
}

/** The same with sizes of eight bytes. */
function longDescriptor(content: string, compressedSize: number): Buffer {
  const bytes = Buffer.alloc(24);
  descriptor(content, 0).copy(bytes, 0, 0, 8);
  bytes.writeBigUInt64LE(BigInt(compressedSize), 8);
  bytes.writeBigUInt64LE(BigInt(content.length), 16);
  return bytes;
}

/** A page whose sums stand behind its data, as whoever writes to a pipe must do it. */
const streamed = (after: Buffer): ZipEntry => ({
  ...page,
  flags: 0x0808,
  local: { crc: 0, size: 0, compressedSize: 0 },
  after,
});
const behindHome = descriptor('home', 6);
const wrongSum = (at: number): Buffer => {
  const bytes = Buffer.from(behindHome);
  bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
  return bytes;
};

/** A whole local entry of a file that the directory does not know. */
const unlisted = zip([{ name: 'hidden.html', content: 'x' }]);
const hiddenEntry = unlisted.subarray(0, unlisted.readUInt32LE(unlisted.length - 6));

/** An entry whose compressed size counts bytes behind the end of its stream. */
function trailing(content: Buffer): ZipEntry {
  const data = Buffer.concat([deflateRawSync(content), Buffer.from('more'.repeat(30))]);
  const fields = { method: 8, crc: crc32(content), size: content.length };
  return { name: 'a', content: data, ...fields, method: 0, local: fields, central: fields };
}

function zip64Extra(size: number, compressedSize: number): Buffer {
  const extra = Buffer.alloc(20);
  extra.writeUInt16LE(1, 0);
  extra.writeUInt16LE(16, 2);
  extra.writeBigUInt64LE(BigInt(size), 4);
  extra.writeBigUInt64LE(BigInt(compressedSize), 12);
  return extra;
}

function unicodePath(name: string, other: string): Buffer {
  const path = Buffer.from(other);
  const extra = Buffer.alloc(9 + path.length);
  extra.writeUInt16LE(0x7075, 0);
  extra.writeUInt16LE(5 + path.length, 2);
  extra.writeUInt8(1, 4);
  extra.writeUInt32LE(crc32(name), 5);
  extra.set(path, 9);
  return extra;
}

const large = noise(1024 * 1024 + 1);
const whole = zip([page, { name: 'a.html', content: noise(300) }]);
const hidden = zip([page]);

export const zipCases: ArchiveCases = {
  'zip-plain': () => ({
    bytes: zip([
      { name: 'guides/', mode: 0o40755, method: 0 },
      page,
      { name: 'guides/a.html', content: 'a', method: 0 },
    ]),
    holds: { ...home, 'guides/a.html': 'a' },
  }),
  'zip-data-descriptor': () => ({ bytes: zip([streamed(behindHome)]), holds: home }),
  'zip-data-descriptor-unsigned': () => ({ bytes: zip([streamed(behindHome.subarray(4))]), holds: home }),
  'zip-data-descriptor-long': () => ({ bytes: zip([streamed(longDescriptor('home', 6))]), holds: home }),
  'zip-data-descriptor-crc-differs': () => ({ bytes: zip([streamed(wrongSum(4))]) }),
  'zip-data-descriptor-size-differs': () => ({ bytes: zip([streamed(wrongSum(8))]) }),
  'zip-data-descriptor-missing': () => ({ bytes: zip([streamed(Buffer.alloc(0))]) }),
  'zip-entry-between-entries': () => ({
    bytes: zip([
      { ...page, after: hiddenEntry },
      { name: 'b.html', content: 'b' },
    ]),
  }),
  'zip-entry-before-directory': () => ({ bytes: zip([{ ...page, after: hiddenEntry }]) }),
  'zip-entry-behind-descriptor': () => ({
    bytes: zip([streamed(Buffer.concat([behindHome, hiddenEntry]))]),
  }),
  'zip-entry-and-empty-directory': () => ({ bytes: zip([], { prefix: hiddenEntry }) }),
  'zip-bytes-behind-deflate': () => ({ bytes: zip([page, trailing(Buffer.from('a'.repeat(100)))]) }),
  'zip-bytes-behind-large-deflate': () => ({ bytes: zip([page, trailing(large)]) }),
  'zip-byte-order-mark': () => ({
    bytes: zip([page, { name: '\ufeffindex.html', content: 'other' }]),
    holds: { ...home, '\ufeffindex.html': 'other' },
  }),
  'zip-dos-folder-on-file': withEntry({ name: 'd', central: { attributes: 0x10 } }),
  'zip-folder-with-hidden-data': withEntry({ name: 'd/', content: 'x', size: 0 }),
  'zip-zip64-sizes': () => ({
    bytes: zip([
      {
        ...page,
        method: 0,
        local: { size: 0xffffffff, compressedSize: 0xffffffff, extra: zip64Extra(4, 4) },
        central: { size: 0xffffffff, compressedSize: 0xffffffff, extra: zip64Extra(4, 4) },
      },
    ]),
    holds: home,
  }),
  'zip-zip64': () => ({ bytes: zip([page], { zip64: {} }), holds: home }),
  'zip-zip64-local-differs': withEntry({
    name: 'a',
    content: 'xy',
    method: 0,
    local: { size: 0xffffffff, compressedSize: 0xffffffff, extra: zip64Extra(3, 3) },
  }),
  'zip-zip64-local-missing': withEntry({
    name: 'a',
    content: 'xy',
    method: 0,
    local: { size: 0xffffffff, compressedSize: 0xffffffff },
  }),
  'zip-zip64-count-differs': () => ({ bytes: zip([page], { zip64: { endCount: 2 } }) }),
  'zip-zip64-size-differs': () => ({ bytes: zip([page], { zip64: { directorySize: 1 } }) }),
  'zip-zip64-position-differs': () => {
    // A record hidden in a stored file, where the locator leads; who looks before the locator finds another.
    const record = zip([page], { zip64: {} }).subarray(-22 - 20 - 56, -22 - 20);
    const withRecord: readonly ZipEntry[] = [page, { name: 'r', content: record, method: 0 }];
    const plain = zip(withRecord);
    const start = plain.readUInt32LE(plain.length - 6);
    const inside = plain.indexOf(record);
    record.writeBigUInt64LE(2n, 24);
    record.writeBigUInt64LE(2n, 32);
    record.writeBigUInt64LE(BigInt(plain.length - 22 - start), 40);
    record.writeBigUInt64LE(BigInt(start), 48);
    return { bytes: zip(withRecord, { zip64: { position: inside } }) };
  },
  'zip-zip64-position-outside': () => ({ bytes: zip([page], { zip64: { position: 2 ** 40 } }) }),
  'zip-directory-size-differs': () => ({ bytes: zip([page], { directorySize: 1 }) }),
  'zip-nul-name': withEntry({ name: 'a\0.html' }),
  'zip-utf8-without-flag': () => ({
    bytes: zip([page, { name: 'é.html', content: 'e', flags: 0 }]),
    holds: { ...home, 'é.html': 'e' },
  }),
  'zip-comment': () => ({ bytes: zip([page], { comment: Buffer.from('made by hand') }), holds: home }),
  'zip-wrapping-folder': () => ({
    bytes: zip([
      { name: 'export/index.html', content: 'home' },
      { name: 'export/a.html', content: 'a' },
    ]),
    holds: { ...home, 'a.html': 'a' },
  }),
  'zip-empty': () => ({ bytes: zip([]) }),
  'zip-absolute-name': withEntry({ name: '/etc/passwd' }),
  'zip-parent-name': withEntry({ name: '../x.html' }),
  'zip-backslash-name': withEntry({ name: 'a\\x.html' }),
  'zip-charset-name': withEntry({ name: Buffer.from([0x82, 0x2e, 0x68]), flags: 0 }),
  'zip-two-names': withEntry({ name: 'a.html', extra: unicodePath('a.html', 'b.html') }),
  'zip-symbolic-link': withEntry({ name: 'l', content: 'index.html', mode: 0o120777 }),
  'zip-device': withEntry({ name: 'd', mode: 0o020666 }),
  'zip-folder-with-data': withEntry({ name: 'd/', content: 'x' }),
  'zip-folder-mode-on-file': withEntry({ name: 'd', content: 'x', mode: 0o40755 }),
  'zip-encrypted': withEntry({ name: 'a', content: 'x', flags: 0x0801 }),
  'zip-strongly-encrypted': withEntry({ name: 'a', content: 'x', flags: 0x0841 }),
  'zip-other-compression': withEntry({ name: 'a', content: 'x', method: 12 }),
  'zip-local-name-differs': withEntry({ name: 'a.html', content: 'x', local: { name: 'b.html' } }),
  'zip-local-method-differs': withEntry({ name: 'a', content: 'x', method: 0, local: { method: 8 } }),
  'zip-local-size-differs': withEntry({ name: 'a', content: 'xy', local: { size: 1 } }),
  'zip-local-crc-differs': withEntry({ name: 'a', content: 'xy', local: { crc: 1 } }),
  'zip-wrong-crc': withEntry({ name: 'a', content: 'xy', crc: 1 }),
  'zip-large-file': () => ({
    bytes: zip([page, { name: 'large.js', content: large }]),
    holds: { ...home, 'large.js': large.toString('latin1') },
  }),
  'zip-large-size-too-small': withEntry({ name: 'a', content: large, size: large.length - 1 }),
  'zip-large-size-too-large': withEntry({ name: 'a', content: large, size: large.length + 1 }),
  'zip-size-too-small': withEntry({ name: 'a', content: 'xyz', size: 2 }),
  'zip-size-too-large': withEntry({ name: 'a', content: 'xyz', size: 4 }),
  'zip-overlap': () => ({
    bytes: zip([page, { name: 'index.html', content: 'home', offset: 0, isOnlyInDirectory: true }]),
  }),
  'zip-hidden-entry': () => ({ bytes: zip([page, { name: 'b', content: 'x' }], { count: 1 }) }),
  'zip-prefix-data': () => ({ bytes: zip([page], { prefix: Buffer.from('PK\x03\x04 not an entry') }) }),
  'zip-second-end-in-comment': () => ({ bytes: zip([page], { comment: hidden.subarray(-22) }) }),
  'zip-bytes-after-end': () => ({ bytes: Buffer.concat([whole, Buffer.from('xx')]) }),
  'zip-cut': () => ({ bytes: whole.subarray(0, -40) }),
  'zip-split': () => ({ bytes: Buffer.concat([Buffer.from('PK\x07\x08'), whole]) }),
  'zip-bomb': () => ({ bytes: zip([page, { name: 'z', content: Buffer.alloc(20 * 2 ** 20) }]) }),
  'zip-entry-bomb': () => ({
    bytes: zip(Array.from({ length: 20 }, (_, at) => ({ name: `f${at}` }))),
    limits: { maxFiles: 10 },
  }),
};
