// Checks that an entry's local header agrees with the directory. One reader may follow the directory and another the
// local headers. Both must see the same files; otherwise the zip is rejected.

import { type Entry, type LocalFileHeader, parseExtraFields } from 'yauzl';
import { refusal } from '../refusal.ts';

/** Encrypted, has a data descriptor, name is UTF-8 (APPNOTE 4.4.4, bits 0, 3 and 11). */
const comparedFlags = 0x0001 | 0x0008 | 0x0800;
const descriptorFlag = 0x0008;
const inZip64 = 0xffffffff;

/** @throws {PublishableError} `ZipHeaderMismatch` */
export function checkLocalHeader(entry: Entry, local: LocalFileHeader, name: string): void {
  const isSame =
    local.fileName.equals(entry.fileNameRaw) &&
    local.compressionMethod === entry.compressionMethod &&
    (local.generalPurposeBitFlag & comparedFlags) === (entry.generalPurposeBitFlag & comparedFlags) &&
    hasSameSums(entry, local);
  if (!isSame) throw refusal('ZipHeaderMismatch', { name });
}

/** Whether its checksum and sizes stand behind its data too. */
export function hasDescriptor({ generalPurposeBitFlag }: LocalFileHeader): boolean {
  return (generalPurposeBitFlag & descriptorFlag) !== 0;
}

/** With a data descriptor the local header may leave checksum and sizes at zero; without, it may not. */
function hasSameSums(entry: Entry, local: LocalFileHeader): boolean {
  const sizes = localSizes(local);
  if (sizes === undefined) return false;
  const mayBeUnset = hasDescriptor(local);
  const agrees = (own: number, directory: number): boolean => own === directory || (mayBeUnset && own === 0);
  return (
    agrees(local.crc32, entry.crc32) &&
    agrees(sizes.uncompressed, entry.uncompressedSize) &&
    agrees(sizes.compressed, entry.compressedSize)
  );
}

/** The zip64 field holds both sizes, uncompressed first, where the header says so (APPNOTE 4.5.3). */
function localSizes(local: LocalFileHeader): { uncompressed: number; compressed: number } | undefined {
  const { uncompressedSize: uncompressed, compressedSize: compressed } = local;
  if (uncompressed !== inZip64 && compressed !== inZip64) return { uncompressed, compressed };
  const field = parseExtraFields(local.extraField).find(({ id }) => id === 0x0001)?.data;
  if (field === undefined || field.length < 16) return undefined;
  return {
    uncompressed: Number(field.readBigUInt64LE(0)),
    compressed: Number(field.readBigUInt64LE(8)),
  };
}
