// Reads an archive from memory, with the files' bytes kept, for tests of what is accepted and what is rejected.

import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readArchive } from '#bundle/archive/archive-reader.ts';
import { type AssemblyOptions, createAssembly } from '#bundle/archive/assembly.ts';
import type { BundleIndex } from '#bundle/bundle-index.ts';
import { type BundleLimits, defaultLimits } from '#bundle/limits.ts';
import type { PackSink } from '#bundle/store/pack.ts';

export interface ReadResult {
  readonly index: BundleIndex;
  /** Text (latin1) by path. */
  readonly contents: Readonly<Record<string, string>>;
}

/** Cuts bytes into pieces, to move the borders that a reader sees. */
export async function* inPieces(bytes: Buffer, pieceBytes: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
}

export async function readBytes(
  bytes: Buffer,
  options: {
    readonly limits?: Partial<BundleLimits>;
    readonly pieceBytes?: number;
    readonly assembly?: AssemblyOptions;
  } = {},
): Promise<ReadResult> {
  const limits = { ...defaultLimits, ...options.limits };
  const pack = memorySink();
  const assembly = createAssembly(limits, pack, options.assembly);
  const folder = join(tmpdir(), `read-archive-${randomUUID()}`);
  try {
    const source = inPieces(bytes, options.pieceBytes ?? 64 * 1024);
    await readArchive(source, assembly, limits, join(folder, 'spool'));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  const index = assembly.finish();
  const all = pack.bytes();
  const contents = Object.fromEntries(
    index.files.map(({ path, offset, size }) => [path, all.toString('latin1', offset, offset + size)]),
  );
  return { index, contents };
}

function memorySink(): PackSink & { bytes(): Buffer } {
  const chunks: Buffer[] = [];
  let position = 0;
  return {
    get position() {
      return position;
    },
    append: (chunk) => {
      chunks.push(Buffer.from(chunk));
      position += chunk.length;
    },
    bytes: () => Buffer.concat(chunks),
  };
}
