// Checks the end of a zip: only end records may follow the directory, and each must name the directory that was read.
// Why: programs find the directory in different ways, and all of them must find the same one. They use the end record,
// the zip64 record, the locator, or the directory's size.

import { refusal } from '../refusal.ts';
import type { OpenZip } from './zip-file.ts';

const endRecord = 0x06054b50;
const zip64Record = 0x06064b50;
const zip64Locator = 0x07064b50;
const endBytes = 22;
const zip64RecordBytes = 56;
const locatorBytes = 20;
/** A comment, the records, and more of extensible data than any program writes. */
const maxTailBytes = 256 * 1024;
const in16 = 0xffff;
const in32 = 0xffffffff;

/** The directory as it was read, bytes from the file's start. */
export interface ReadDirectory {
  readonly start: number;
  /** Behind its last counted entry. */
  readonly end: number;
}

/** APPNOTE 4.3.14–4.3.16. @throws {PublishableError} `ZipHeaderMismatch` */
export function checkEnd({ parser: zip, bytesAt }: OpenZip, directory: ReadDirectory): void {
  const length = zip.fileSize - directory.end;
  if (length < endBytes || length > maxTailBytes) throw refusal('ZipHeaderMismatch');
  const tail = bytesAt(directory.end, length);
  const at = zip64Length(tail, zip.entryCount, directory);
  // Another length than the parser's comment: it found an end record of its own inside the comment.
  const isOne = at !== undefined && tail.length - at === endBytes + zip.comment.length;
  if (!isOne || !isEnd(tail.subarray(at), zip.entryCount, directory, at > 0)) {
    throw refusal('ZipHeaderMismatch');
  }
}

/** @returns bytes of the zip64 record and its locator, 0 where there are none, `undefined` where they lie */
function zip64Length(tail: Buffer, count: number, { start, end }: ReadDirectory): number | undefined {
  if (tail.readUInt32LE(0) !== zip64Record) return 0;
  if (tail.length < zip64RecordBytes + locatorBytes + endBytes) return undefined;
  const number = (at: number): number => Number(tail.readBigUInt64LE(at));
  const recordBytes = 12 + number(4);
  const isWithin = recordBytes >= zip64RecordBytes && recordBytes + locatorBytes + endBytes <= tail.length;
  const isTrue =
    tail.readUInt32LE(20) === 0 && // the disk of the directory
    number(24) === count &&
    number(32) === count &&
    number(40) === end - start &&
    number(48) === start;
  if (!isWithin || !isTrue) return undefined;
  const locator = tail.subarray(recordBytes, recordBytes + locatorBytes);
  const leadsHere =
    locator.readUInt32LE(0) === zip64Locator &&
    locator.readUInt32LE(4) === 0 &&
    Number(locator.readBigUInt64LE(8)) === end &&
    locator.readUInt32LE(16) <= 1; // disks in all; some write 0
  return leadsHere ? recordBytes + locatorBytes : undefined;
}

/** With a zip64 record a field may be left to it (all bits set), but not say something else. */
function isEnd(bytes: Buffer, count: number, { start, end }: ReadDirectory, isZip64: boolean): boolean {
  const agrees = (own: number, wanted: number, left: number): boolean =>
    own === wanted || (isZip64 && own === left);
  return (
    bytes.readUInt32LE(0) === endRecord &&
    agrees(bytes.readUInt16LE(4), 0, in16) &&
    agrees(bytes.readUInt16LE(6), 0, in16) &&
    agrees(bytes.readUInt16LE(8), count, in16) &&
    agrees(bytes.readUInt16LE(10), count, in16) &&
    agrees(bytes.readUInt32LE(12), end - start, in32) &&
    agrees(bytes.readUInt32LE(16), start, in32) &&
    endBytes + bytes.readUInt16LE(20) === bytes.length
  );
}
