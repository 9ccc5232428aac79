// Reads a zip, already on disk whole, into an assembly. The parser trusts the directory at the end of the file;
// here every entry's local header must say the same, its checksum must hold, and no two may share bytes.
// Refuses: encryption, links, other compression than deflate, data before the first entry, hidden entries.

import type { FileHandle } from 'node:fs/promises';
import { crc32, inflateRawSync } from 'node:zlib';
import { type Entry, parseExtraFields } from 'yauzl';
import type { Assembly } from './assembly.ts';
import { BundleError } from './bundle-error.ts';
import type { BundleLimits } from './limits.ts';
import { refusal } from './refusal.ts';
import { checkEnd } from './zip-end.ts';
import { type OpenZip, openZipFile } from './zip-file.ts';
import { checkLocalHeader } from './zip-header.ts';

const smallBytes = 1024 * 1024;
/** Of the platform's decoder (`Z_MIN_CHUNK`). */
const leastChunkBytes = 64;
const ratioFromBytes = 16 * 1024 * 1024;
const strictUtf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * @param spool holds all of the zip and nothing else; closing it stays the caller's business
 * @throws {BundleError} refused, or the store's fault from the assembly's pack
 */
export async function readZip(spool: FileHandle, assembly: Assembly, limits: BundleLimits): Promise<void> {
  const zip = await openZip(spool);
  const { parser } = zip;
  try {
    if (parser.entryCount > limits.maxFiles) throw refusal('TooManyFiles');
    const directoryStart = Number(parser.readEntryCursor);
    const spans: Span[] = [];
    let contentBytes = 0;
    for await (const entry of parser.eachEntry()) {
      contentBytes += entry.uncompressedSize;
      if (contentBytes > ratioFromBytes && contentBytes > limits.maxRatio * parser.fileSize) {
        throw refusal('RatioTooHigh');
      }
      spans.push(await readEntry(zip, entry, assembly));
    }
    checkSpans(spans, directoryStart);
    checkEnd(zip, { start: directoryStart, end: Number(parser.readEntryCursor) });
  } catch (error) {
    throw zipFault(error);
  }
}

interface Span {
  readonly start: number;
  readonly end: number;
}

async function openZip(spool: FileHandle): Promise<OpenZip> {
  try {
    return await openZipFile(spool);
  } catch (error) {
    throw zipFault(error);
  }
}

async function readEntry(zip: OpenZip, entry: Entry, assembly: Assembly): Promise<Span> {
  const name = readName(entry);
  checkKind(entry, name);
  const local = await zip.parser.readLocalFileHeaderPromise(entry);
  checkLocalHeader(entry, local, name);
  const span = {
    start: entry.relativeOffsetOfLocalHeader,
    end: local.fileDataStart + entry.compressedSize,
  };
  if (name.endsWith('/')) {
    if (entry.uncompressedSize > 0) throw refusal('UnexpectedData', { name });
    assembly.passFolder(name);
    return span;
  }
  const file = assembly.beginFile(name, entry.uncompressedSize);
  let checksum = 0;
  const take = (chunk: Uint8Array): void => {
    checksum = crc32(chunk, checksum);
    file.write(chunk);
  };
  if (isSmall(entry)) {
    take(smallContent(zip, entry, local.fileDataStart));
  } else {
    const content: AsyncIterable<unknown> = await zip.parser.openReadStreamPromise(entry);
    for await (const chunk of content) if (chunk instanceof Uint8Array) take(chunk);
  }
  if (checksum !== entry.crc32) throw refusal('ChecksumMismatch', { name });
  file.end();
  return span;
}

/** A stream costs more than most pages do: what is small is inflated at once. */
function isSmall({ compressedSize, uncompressedSize }: Entry): boolean {
  return compressedSize <= smallBytes && uncompressedSize <= smallBytes;
}

/** No further than its size and 1 more, so that what is longer shows as longer; 0 would mean no limit. */
function smallContent(zip: OpenZip, entry: Entry, dataStart: number): Buffer {
  const bytes = zip.bytesAt(dataStart, entry.compressedSize);
  if (entry.compressionMethod !== 8) return bytes;
  const most = entry.uncompressedSize + 1;
  return inflateRawSync(bytes, { maxOutputLength: most, chunkSize: Math.max(leastChunkBytes, most) });
}

/** UTF-8, flag or not: a name in another charset is refused rather than guessed. */
function readName(entry: Entry): string {
  let name: string;
  try {
    name = strictUtf8.decode(entry.fileNameRaw);
  } catch {
    throw refusal('InvalidUtf8');
  }
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
  const isFolder = type === 0o040000;
  if (isFolder !== name.endsWith('/') && isFolder) throw refusal('ZipHeaderMismatch', { name });
  if (type !== 0 && type !== 0o100000 && !isFolder) throw refusal('SpecialFile', { name });
}

/** Entries lie one after another from the first byte on, and end before the directory. */
function checkSpans(spans: readonly Span[], directoryStart: number): void {
  let end = 0;
  for (const span of [...spans].sort((a, b) => a.start - b.start)) {
    if (end === 0 && span.start !== 0) throw refusal('CorruptZip');
    if (span.start < end || span.end > directoryStart) throw refusal('OverlappingEntries');
    end = span.end;
  }
}

/** The parser's errors have no codes; but for two, what they say of this file is one thing to us: it is damaged. */
function zipFault(error: unknown): BundleError {
  if (error instanceof BundleError) return error;
  const message = error instanceof Error ? error.message : '';
  if (message.includes('encryption')) return refusal('EncryptedZip', { cause: error });
  const isOtherSize =
    message.includes('bytes in the stream') ||
    (error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE');
  return refusal(isOtherSize ? 'InvalidSize' : 'CorruptZip', { cause: error });
}
