// Reads a zip that is complete on disk into an assembly. The parser trusts the directory at the end of the file. This
// reader also requires that each local header agrees, each checksum matches, and each byte belongs to one entry.
// Refuses: encryption, links, compression other than deflate, hidden entries.

import type { FileHandle } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { type Entry, parseExtraFields } from 'yauzl';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import type { BundleLimits } from '../limits.ts';
import { refusal } from '../refusal.ts';
import type { Assembly } from './assembly.ts';
import { decodeUtf8 } from './entry-path.ts';
import { readZipContent } from './zip-content.ts';
import { checkEnd } from './zip-end.ts';
import { type OpenZip, openZipFile } from './zip-file.ts';
import { checkLocalHeader, hasDescriptor } from './zip-header.ts';
import { type ByteSpan, checkLayout, type Sums } from './zip-layout.ts';

/** A bit of the DOS attributes, which every program writes in addition to the Unix mode. */
const dosFolder = 0x10;
const ratioFromBytes = 16 * 1024 * 1024;
/**
 * @param spool holds all of the zip and nothing else; the caller closes it
 * @throws {PublishableError} rejected, or the store's fault from the assembly's pack
 */
export async function readZip(spool: FileHandle, assembly: Assembly, limits: BundleLimits): Promise<void> {
  try {
    const zip = await openZipFile(spool);
    const { parser } = zip;
    if (parser.entryCount > limits.maxFiles) throw refusal('TooManyFiles');
    const directoryStart = Number(parser.readEntryCursor);
    const spans: ByteSpan[] = [];
    let contentBytes = 0;
    for await (const entry of parser.eachEntry()) {
      contentBytes += entry.uncompressedSize;
      if (contentBytes > ratioFromBytes && contentBytes > limits.maxRatio * parser.fileSize) {
        throw refusal('RatioTooHigh');
      }
      spans.push(await readEntry(zip, entry, assembly));
    }
    checkEnd(zip, { start: directoryStart, end: Number(parser.readEntryCursor) });
    checkLayout(zip, spans, directoryStart);
  } catch (error) {
    throw zipFault(error);
  }
}

async function readEntry(zip: OpenZip, entry: Entry, assembly: Assembly): Promise<ByteSpan> {
  const name = readName(entry);
  checkKind(entry, name);
  const local = await zip.parser.readLocalFileHeaderPromise(entry);
  checkLocalHeader(entry, local, name);
  const isFolder = name.endsWith('/');
  if (isFolder && entry.uncompressedSize > 0) throw refusal('UnexpectedData', { name });
  if (isFolder) assembly.passFolder(name);
  const file = isFolder ? undefined : assembly.beginFile(name, entry.uncompressedSize);
  let checksum = 0;
  await readZipContent(zip, entry, local.fileDataStart, name, (chunk) => {
    checksum = crc32(chunk, checksum);
    if (isFolder && chunk.length > 0) throw refusal('UnexpectedData', { name });
    file?.write(chunk);
  });
  if (checksum !== entry.crc32) throw refusal('ChecksumMismatch', { name });
  file?.end();
  return {
    name,
    start: entry.relativeOffsetOfLocalHeader,
    end: local.fileDataStart + entry.compressedSize,
    descriptor: hasDescriptor(local) ? sumsOf(entry) : undefined,
  };
}

/** Not the entry itself, which holds its raw header. */
function sumsOf({ crc32, compressedSize, uncompressedSize }: Entry): Sums {
  return { crc32, compressedSize, uncompressedSize };
}

/** UTF-8, flag or not: a name in another charset is rejected rather than guessed. */
function readName(entry: Entry): string {
  const name = decodeUtf8(entry.fileNameRaw);
  const unicode = parseExtraFields(entry.extraFieldRaw).find(({ id }) => id === 0x7075)?.data;
  const isOther = unicode !== undefined && !unicode.subarray(5).equals(entry.fileNameRaw);
  if (isOther) throw refusal('ZipHeaderMismatch', { name });
  return name;
}

/** Type bits of a Unix mode, wherever the entry says it was made. */
function checkKind(entry: Entry, name: string): void {
  const isEncrypted = (entry.generalPurposeBitFlag & 0x2041) !== 0 || entry.isEncrypted();
  if (isEncrypted) throw refusal('EncryptedZip', { name });
  if (entry.compressionMethod !== 0 && entry.compressionMethod !== 8) {
    throw refusal('UnsupportedCompression', { name });
  }
  const type = (entry.externalFileAttributes >>> 16) & 0o170000;
  if (type === 0o120000) throw refusal('SymbolicLink', { name });
  if (type !== 0 && type !== 0o100000 && type !== 0o040000) throw refusal('SpecialFile', { name });
  const isFolder = type === 0o040000 || (entry.externalFileAttributes & dosFolder) !== 0;
  if (isFolder && !name.endsWith('/')) throw refusal('ZipHeaderMismatch', { name });
}

/** The parser's errors have no codes. Except for two, all of them mean that the file is damaged. */
function zipFault(error: unknown): PublishableError {
  if (error instanceof PublishableError) return error;
  const message = error instanceof Error ? error.message : '';
  if (message.includes('encryption')) return refusal('EncryptedZip', { cause: error });
  const isOtherSize = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
  return refusal(isOtherSize ? 'InvalidSize' : 'CorruptZip', { cause: error });
}
