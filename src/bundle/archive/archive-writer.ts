// Writes files as an archive, piece by piece as its reader takes them: the one writer of this project. Invariant: the
// same files give the same tar on any day and machine: sorted by path, times and owners zero. Compressed, they give the
// same bytes wherever the platform's compressor is the same. Refuses: a file that is not as long as it said.

// The default export: see runtime/supported-node.ts.
import zlib, { createGzip } from 'node:zlib';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { throughTransform } from '../byte-stream.ts';
import { tarChecksum } from './archive-type.ts';

/** A file to write. */
export interface ArchivedFile {
  /** As in an index: no leading slash, no empty, `.` or `..` segment. */
  readonly path: string;
  readonly size: number;
  /** Called once, when the file's turn comes. */
  read(): AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

export type ArchiveFormat = 'tar' | 'tar.gz' | 'tar.zst';

/**
 * The bytes of an archive. Holds one piece of one file and one chunk at a time, and reads no further than it is read.
 *
 * @throws {PublishableError} `FileChanged`, `FileTooLarge`; what a file's `read` threw; the signal's reason
 */
export function archiveBytes(
  files: readonly ArchivedFile[],
  format: ArchiveFormat,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  return compressTar(inChunks(tarBytes(files, signal)), format);
}

/** The bytes of the archive that has this tar. @throws what the tar's source throws */
export function compressTar(
  tar: AsyncGenerator<Uint8Array>,
  format: ArchiveFormat,
): AsyncGenerator<Uint8Array> {
  switch (format) {
    case 'tar':
      return tar;
    case 'tar.gz':
      return withoutSystem(throughTransform(tar, createGzip({ chunkSize: chunkBytes })));
    case 'tar.zst':
      return throughTransform(tar, zlib.createZstdCompress());
    default:
      return format satisfies never;
  }
}

async function* tarBytes(files: readonly ArchivedFile[], signal: AbortSignal): AsyncGenerator<Uint8Array> {
  for (const { path, size, read } of files.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
    signal.throwIfAborted();
    yield tarHeadersOf(path, size);
    let length = 0;
    for await (const piece of read()) {
      signal.throwIfAborted();
      length += piece.length;
      if (length > size) throw fileChanged();
      yield piece;
    }
    if (length < size) throw fileChanged();
    yield tarPaddingOf(size);
  }
  yield tarEndMark;
}

const chunkBytes = 64 * 1024;

/** Headers, small files and padding together: a write for each of them takes twice as long. */
async function* inChunks(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let chunk = Buffer.allocUnsafe(chunkBytes);
  let filled = 0;
  for await (const piece of pieces) {
    if (filled > 0 && filled + piece.length > chunkBytes) {
      yield chunk.subarray(0, filled);
      chunk = Buffer.allocUnsafe(chunkBytes);
      filled = 0;
    }
    if (piece.length > chunkBytes) {
      yield piece;
    } else {
      chunk.set(piece, filled);
      filled += piece.length;
    }
  }
  yield chunk.subarray(0, filled);
}

/** zlib names the system that it runs on; 255 is "unknown" (RFC 1952 §2.3). */
async function* withoutSystem(gzip: AsyncIterable<Buffer>): AsyncGenerator<Uint8Array> {
  let isFirst = true;
  for await (const chunk of gzip) {
    if (isFirst) chunk[9] = 255;
    isFirst = false;
    yield chunk;
  }
}

const blockBytes = 512;
/** Two blocks of zeros. */
export const tarEndMark: Buffer = Buffer.alloc(2 * blockBytes);
/** Eleven octal digits. */
const maxSize = 8 ** 11 - 1;

/** Zeros that fill a file's last block. */
export const tarPaddingOf = (size: number): Buffer => tarEndMark.subarray(0, -size & (blockBytes - 1));

/**
 * A ustar header; before it an extended one where that has no room for the name, or no character set for it.
 *
 * @throws {PublishableError} `FileTooLarge`
 */
export function tarHeadersOf(path: string, size: number): Buffer {
  if (size > maxSize) {
    throw new PublishableError('FileTooLarge', `"${path}" is larger than a tar can hold (8 GiB)`);
  }
  const name = Buffer.from(path);
  const parts = splitName(name);
  if (parts !== undefined && name.length === path.length) return ustarHeader(parts, size, '0');
  const record = pathRecord(name);
  return Buffer.concat([
    ustarHeader({ prefix: '', name: 'PaxHeader' }, record.length, 'x'),
    record,
    tarPaddingOf(record.length),
    // Programs that do not know extended headers use this name. One that ends in a slash would be a folder.
    ustarHeader(parts ?? { prefix: '', name: path.slice(0, 33).replace(/\/$/, '') }, size, '0'),
  ]);
}

interface UstarName {
  readonly prefix: string | Buffer;
  /** At most 100 bytes. */
  readonly name: string | Buffer;
}

/** @returns `undefined` where no slash leaves at most 155 bytes before and 100 bytes behind it */
function splitName(name: Buffer): UstarName | undefined {
  if (name.length <= 100) return { prefix: '', name };
  const slash = name.indexOf('/', name.length - 101);
  if (slash < 1 || slash > 155 || slash === name.length - 1) return undefined;
  return { prefix: name.subarray(0, slash), name: name.subarray(slash + 1) };
}

/** POSIX pax, "ustar Interchange Format": octal numbers, each ended by a NUL. */
function ustarHeader({ prefix, name }: UstarName, size: number, type: '0' | 'x'): Buffer {
  const block = Buffer.alloc(blockBytes);
  block.set(Buffer.from(name), 0);
  block.write('0000644\x000000000\x000000000\0', 100, 'latin1'); // mode, owner, group
  block.write(`${size.toString(8).padStart(11, '0')}\x0000000000000\0`, 124, 'latin1'); // size, time
  block.write(type, 156, 'latin1');
  block.write('ustar\x0000', 257, 'latin1');
  block.write('0000000\x000000000\0', 329, 'latin1'); // device
  block.set(Buffer.from(prefix), 345);
  block.write(`${tarChecksum(block).toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return block;
}

/** `"%d %s=%s\n", <length of the record>, <keyword>, <value>`: the length counts its own digits. */
function pathRecord(path: Buffer): Buffer {
  const rest = ' path='.length + path.length + '\n'.length;
  let length = rest + 1;
  while (`${length}`.length + rest !== length) length = `${length}`.length + rest;
  return Buffer.concat([Buffer.from(`${length} path=`), path, Buffer.from('\n')]);
}

function fileChanged(): PublishableError {
  return new PublishableError(
    'FileChanged',
    'a file changed while it was written to the archive; start again',
  );
}
