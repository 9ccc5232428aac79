// Checks that every byte before the directory belongs to a listed entry: its header, its data, or its data descriptor.
// Why: a reader that starts at the file's beginning takes bytes in between for another file. It also believes the
// descriptor where this reader believes the directory. Refuses: bytes before the first entry, between two entries or
// behind the last, and descriptors that disagree.

import type { Entry } from 'yauzl';
import { refusal } from '../refusal.ts';
import type { OpenZip } from './zip-file.ts';

/** Where an entry lies. */
export interface ByteSpan {
  readonly name: string;
  readonly start: number;
  /** Behind its data. */
  readonly end: number;
  /** What its data descriptor has to say; `undefined` where it has none. */
  readonly descriptor: Sums | undefined;
}

export type Sums = Pick<Entry, 'crc32' | 'compressedSize' | 'uncompressedSize'>;

const descriptorSignature = 0x08074b50;
/** With and without the signature, sizes in four bytes or in eight (APPNOTE 4.3.9). */
const descriptorLengths: readonly number[] = [12, 16, 20, 24];

/** @throws {PublishableError} `OverlappingEntries`, `UnlistedData`, `ZipHeaderMismatch`, `CorruptZip` */
export function checkLayout(zip: OpenZip, spans: readonly ByteSpan[], directoryStart: number): void {
  const sorted = spans.toSorted((a, b) => a.start - b.start);
  const first = sorted[0];
  if (first === undefined && directoryStart > 0) throw refusal('UnlistedData');
  if (first !== undefined && first.start !== 0) throw refusal('CorruptZip');
  for (const [at, span] of sorted.entries()) {
    checkGap(zip, span, (sorted[at + 1]?.start ?? directoryStart) - span.end);
  }
}

function checkGap({ bytesAt }: OpenZip, { name, end, descriptor }: ByteSpan, length: number): void {
  if (length < 0) throw refusal('OverlappingEntries', { name });
  if (descriptor === undefined && length === 0) return;
  if (descriptor !== undefined && length === 0) throw refusal('ZipHeaderMismatch', { name });
  if (descriptor === undefined || !descriptorLengths.includes(length))
    throw refusal('UnlistedData', { name });
  if (!isDescriptor(bytesAt(end, length), descriptor)) throw refusal('ZipHeaderMismatch', { name });
}

function isDescriptor(bytes: Buffer, sums: Sums): boolean {
  const isSigned = bytes.length % 8 === 0;
  if (isSigned && bytes.readUInt32LE(0) !== descriptorSignature) return false;
  const fields = isSigned ? bytes.subarray(4) : bytes;
  const isLong = fields.length === 20;
  const sizeAt = (at: number): number =>
    isLong ? Number(fields.readBigUInt64LE(at)) : fields.readUInt32LE(at);
  return (
    fields.readUInt32LE(0) === sums.crc32 &&
    sizeAt(4) === sums.compressedSize &&
    sizeAt(isLong ? 12 : 8) === sums.uncompressedSize
  );
}
