// Zips byte by byte, so that a test can make the directory and the local headers disagree, overlap or lie.
// What is not given is computed and right.

import { crc32, deflateRawSync } from 'node:zlib';

/** Fields of an entry's header; `local` and `central` override them in one place only. */
export interface ZipFields {
  readonly name?: string | Buffer;
  readonly flags?: number;
  readonly method?: number;
  readonly crc?: number;
  readonly compressedSize?: number;
  readonly size?: number;
  readonly extra?: Buffer;
  /** Unix mode with type bits; directory only. */
  readonly mode?: number;
  /** DOS attributes; directory only. */
  readonly attributes?: number;
  /** Offset of the local header; directory only. */
  readonly offset?: number;
}

export interface ZipEntry extends ZipFields {
  readonly name: string | Buffer;
  readonly content?: string | Buffer;
  readonly local?: ZipFields;
  readonly central?: ZipFields;
  /** Put after the data (a data descriptor, or rubbish). */
  readonly after?: Buffer;
  /** Left out of the local part, so that only the directory knows of it. */
  readonly isOnlyInDirectory?: boolean;
}

export interface ZipOptions {
  readonly comment?: Buffer;
  readonly prefix?: Buffer;
  readonly count?: number;
  /** Of the directory, as the end record says. */
  readonly directorySize?: number;
  /** Puts a zip64 record and its locator before the end record, which then leaves its fields to them. */
  readonly zip64?: Zip64Fields;
}

/** What is not given is right. */
export interface Zip64Fields {
  readonly count?: number;
  readonly directoryOffset?: number;
  readonly directorySize?: number;
  /** Where the locator leads. */
  readonly position?: number;
  /** What the end record says in spite of the zip64 record. */
  readonly endCount?: number;
}

interface Whole extends Required<Omit<ZipFields, 'offset'>> {
  readonly offset: number;
}

function localHeader(fields: Whole): Buffer {
  const head = Buffer.alloc(30);
  head.writeUInt32LE(0x04034b50, 0);
  head.writeUInt16LE(20, 4);
  head.writeUInt16LE(fields.flags, 6);
  head.writeUInt16LE(fields.method, 8);
  head.writeUInt32LE(fields.crc, 14);
  head.writeUInt32LE(fields.compressedSize, 18);
  head.writeUInt32LE(fields.size, 22);
  head.writeUInt16LE(Buffer.byteLength(fields.name), 26);
  head.writeUInt16LE(fields.extra.length, 28);
  return Buffer.concat([head, Buffer.from(fields.name), fields.extra]);
}

function directoryHeader(fields: Whole): Buffer {
  const head = Buffer.alloc(46);
  head.writeUInt32LE(0x02014b50, 0);
  head.writeUInt16LE(0x0314, 4);
  head.writeUInt16LE(20, 6);
  head.writeUInt16LE(fields.flags, 8);
  head.writeUInt16LE(fields.method, 10);
  head.writeUInt32LE(fields.crc, 16);
  head.writeUInt32LE(fields.compressedSize, 20);
  head.writeUInt32LE(fields.size, 24);
  head.writeUInt16LE(Buffer.byteLength(fields.name), 28);
  head.writeUInt16LE(fields.extra.length, 30);
  head.writeUInt32LE(((fields.mode << 16) | fields.attributes) >>> 0, 38);
  head.writeUInt32LE(fields.offset, 42);
  return Buffer.concat([head, Buffer.from(fields.name), fields.extra]);
}

export function zip(entries: readonly ZipEntry[], options: ZipOptions = {}): Buffer {
  const parts: Buffer[] = [options.prefix ?? Buffer.alloc(0)];
  const directory: Buffer[] = [];
  let offset = parts[0]?.length ?? 0;
  for (const one of entries) {
    const content = Buffer.from(one.content ?? '');
    const method = one.method ?? 8;
    const data = method === 8 ? deflateRawSync(content) : content;
    const fields: Whole = {
      name: one.name,
      flags: one.flags ?? 0x0800,
      method,
      crc: one.crc ?? crc32(content),
      compressedSize: one.compressedSize ?? data.length,
      size: one.size ?? content.length,
      extra: one.extra ?? Buffer.alloc(0),
      mode: one.mode ?? 0o100644,
      attributes: one.attributes ?? 0,
      offset: one.offset ?? offset,
    };
    directory.push(directoryHeader({ ...fields, ...one.central }));
    if (one.isOnlyInDirectory) continue;
    const local = Buffer.concat([
      localHeader({ ...fields, ...one.local }),
      data,
      one.after ?? Buffer.alloc(0),
    ]);
    parts.push(local);
    offset += local.length;
  }
  const comment = options.comment ?? Buffer.alloc(0);
  const size = directory.reduce((sum, { length }) => sum + length, 0);
  const count = options.count ?? entries.length;
  const { zip64 } = options;
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(zip64 === undefined ? count : (zip64.endCount ?? 0xffff), 8);
  end.writeUInt16LE(zip64 === undefined ? count : (zip64.endCount ?? 0xffff), 10);
  end.writeUInt32LE(zip64 === undefined ? (options.directorySize ?? size) : 0xffffffff, 12);
  end.writeUInt32LE(zip64 === undefined ? offset : 0xffffffff, 16);
  end.writeUInt16LE(comment.length, 20);
  const before = zip64 === undefined ? [] : [zip64End(zip64, count, offset, size)];
  return Buffer.concat([...parts, ...directory, ...before, end, comment]);
}

function zip64End(fields: Zip64Fields, count: number, offset: number, size: number): Buffer {
  const bytes = Buffer.alloc(56 + 20);
  const write = (value: number, at: number): unknown => bytes.writeBigUInt64LE(BigInt(value), at);
  bytes.writeUInt32LE(0x06064b50, 0);
  write(44, 4);
  bytes.writeUInt16LE(45, 14);
  write(fields.count ?? count, 24);
  write(fields.count ?? count, 32);
  write(fields.directorySize ?? size, 40);
  write(fields.directoryOffset ?? offset, 48);
  bytes.writeUInt32LE(0x07064b50, 56);
  write(fields.position ?? offset + size, 64);
  bytes.writeUInt32LE(1, 72);
  return bytes;
}
