// Tars byte by byte, so that a test can write what no tar program would. Every field can be given raw; the
// checksum is right unless it is given too. Nothing here pads or ends an archive by itself.

import { tarChecksum } from '#bundle/archive/archive-type.ts';

export interface TarHeader {
  readonly name: string | Buffer;
  readonly type?: string;
  /** A number is written in octal; a string or buffer as it is. */
  readonly size?: number | string | Buffer;
  readonly linkName?: string;
  readonly prefix?: string;
  readonly magic?: string;
  readonly checksum?: string;
}

/** A name and its content, the way a well-made archive has them. */
export type TarFiles = Readonly<Record<string, string | Buffer>>;

export function header(fields: TarHeader): Buffer {
  const block = Buffer.alloc(512);
  const { name, type = '0', size = 0, linkName = '', prefix = '', magic = 'ustar\x0000' } = fields;
  block.set(Buffer.from(name).subarray(0, 100), 0);
  block.write('0000644\0', 100, 'latin1');
  block.write('0000000\x000000000\0', 108, 'latin1');
  if (typeof size === 'number') block.write(`${size.toString(8).padStart(11, '0')}\0`, 124, 'latin1');
  else block.set(Buffer.from(size).subarray(0, 12), 124);
  block.write('00000000000\0', 136, 'latin1');
  block.write(type, 156, 'latin1');
  block.write(linkName, 157, 100, 'utf8');
  block.write(magic, 257, 'latin1');
  if (prefix !== '') block.write(prefix, 345, 155, 'utf8');
  block.write(fields.checksum ?? `${tarChecksum(block).toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return block;
}

/** Content and its padding to a whole block. */
export function body(content: string | Buffer): Buffer {
  const bytes = Buffer.from(content);
  return Buffer.concat([bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)]);
}

export function entry(
  name: string | Buffer,
  content: string | Buffer = '',
  fields: Partial<TarHeader> = {},
): Buffer {
  return Buffer.concat([header({ name, size: Buffer.byteLength(content), ...fields }), body(content)]);
}

/** `%d %s=%s\n` with the length of the whole record in front. */
export function paxRecord(key: string, value: string | Buffer): Buffer {
  const rest = Buffer.concat([Buffer.from(` ${key}=`), Buffer.from(value), Buffer.from('\n')]);
  let length = rest.length + 1;
  while (`${length}`.length + rest.length !== length) length = `${length}`.length + rest.length;
  return Buffer.concat([Buffer.from(`${length}`), rest]);
}

/** An extended header: `x` for the next entry, `g` for all. */
export function pax(records: Readonly<Record<string, string | Buffer>> | Buffer, type = 'x'): Buffer {
  const content = Buffer.isBuffer(records)
    ? records
    : Buffer.concat(Object.entries(records).map(([key, value]) => paxRecord(key, value)));
  return entry('PaxHeaders/x', content, { type });
}

/** GNU's way of a long name (`L`) or link target (`K`). */
export function longName(name: string | Buffer, type = 'L'): Buffer {
  return entry('././@LongLink', Buffer.concat([Buffer.from(name), Buffer.alloc(1)]), {
    type,
    magic: 'ustar  \0',
  });
}

export const endMark: Buffer = Buffer.alloc(1024);

/** The parts, and the end mark. */
export function tar(...parts: readonly Buffer[]): Buffer {
  return Buffer.concat([...parts, endMark]);
}

export function tarOf(files: TarFiles): Buffer {
  return tar(...Object.entries(files).map(([name, content]) => entry(name, content)));
}
