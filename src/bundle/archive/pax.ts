// Reads extended headers of a tar strictly: PAX records (POSIX pax, "pax Header Block") and GNU long names. The parser
// behind the guard is lenient and may read these bytes differently. Refuses everything that has two readings, so that
// guard and parser agree on everything that passes.

import { refusal } from '../refusal.ts';
import { decodeUtf8 } from './entry-path.ts';

/** Records that change a file's name or bytes, and so must not be given twice, empty, or for all files at once. */
const framing: ReadonlySet<string> = new Set(['path', 'linkpath', 'size']);
/**
 * Under these the bytes are read as they are. bsdtar writes BINARY in a locale without UTF-8, and Bun always; the names
 * are mostly UTF-8 nevertheless. An empty value takes a declaration back.
 */
const plainCharsets: ReadonlySet<string> = new Set(['ISO-IR 10646 2000 UTF-8', 'BINARY', '']);

export interface PaxRecords {
  /** The `size` record, bytes. */
  readonly size: number | undefined;
  /** Declared or inherited; empty for UTF-8. */
  readonly charset: string;
}

/**
 * @param block the payload of an `x` or `g` entry
 * @param isGlobal `g`: applies to all following entries, so it must not set names or sizes
 * @param inherited charset that an earlier `g` entry declared
 * @throws {PublishableError} `InvalidExtendedHeader`, `SparseFile`, `InvalidUtf8`, `ForeignCharset`
 */
export function readPax(block: Buffer, isGlobal: boolean, inherited = ''): PaxRecords {
  const records = [...recordsOf(block)];
  const charset = records.findLast(([key]) => key === 'hdrcharset')?.[1].toString('latin1') ?? inherited;
  const seen = new Set<string>();
  let size: number | undefined;
  for (const [key, bytes] of records) {
    if (key.startsWith('GNU.sparse.')) throw refusal('SparseFile');
    // Values of other records may be binary (`SCHILY.xattr.…`) and are not read here.
    if (!framing.has(key)) continue;
    // Every charset of POSIX has these bytes in common.
    if (!plainCharsets.has(charset) && bytes.some((byte) => byte > 0x7f)) throw refusal('ForeignCharset');
    const value = decodeUtf8(bytes);
    if (isGlobal || seen.has(key) || value === '' || value.includes('\0')) throw malformed();
    seen.add(key);
    if (key === 'size') size = readSize(value);
  }
  return { size, charset };
}

/** `"%d %s=%s\n", <length of the record>, <keyword>, <value>`, nothing between and nothing after. */
function* recordsOf(block: Buffer): Generator<readonly [string, Buffer]> {
  for (let at = 0; at < block.length; ) {
    const length = /^([1-9]\d{0,8}) /.exec(block.toString('latin1', at, at + 10))?.[1];
    const end = at + Number(length);
    if (length === undefined || end > block.length || block[end - 1] !== 0x0a) throw malformed();
    const start = at + length.length + 1;
    const equals = block.indexOf('=', start);
    if (start >= end || equals <= start || equals >= end) throw malformed();
    yield [block.toString('latin1', start, equals), block.subarray(equals + 1, end - 1)];
    at = end;
  }
}

/** @param block the payload of an `L` or `K` entry: a name that ends at its NUL, if it has one */
export function checkLongName(block: Buffer): void {
  const end = block.indexOf(0);
  const hasTail = end >= 0 && block.subarray(end).some((byte) => byte !== 0);
  if (end === 0 || hasTail) throw malformed();
  decodeUtf8(end < 0 ? block : block.subarray(0, end));
}

function readSize(value: string): number {
  const size = /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN;
  if (!Number.isSafeInteger(size)) throw refusal('InvalidSize');
  return size;
}

function malformed(): Error {
  return refusal('InvalidExtendedHeader');
}
