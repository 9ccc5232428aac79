// Makes a bundle from a delta and its base. Every file goes through the assembly that archives pass, so that names, counts and
// sizes have the same limits. Refuses content other than the digest that the kit names. Invariant: the content digest alone
// is trusted, whatever base and records say.

import { type Assembly, createAssembly, type IncomingFile } from '#bundle/archive/assembly.ts';
import { decode } from '#bundle/archive/decoding.ts';
import type { BundleFile, BundleIndex } from '#bundle/bundle-index.ts';
import type { Bytes } from '#bundle/byte-stream.ts';
import type { BundleLimits } from '#bundle/limits.ts';
import { refusal } from '#bundle/refusal.ts';
import { isHiddenFile } from '#bundle/store/hidden-files.ts';
import type { PackSink } from '#bundle/store/pack.ts';
import type { StoredBundle } from '#bundle/store/stored-bundle.ts';
import { type ByteCursor, createByteCursor } from './byte-cursor.ts';
import {
  applyPatch,
  type DeltaRecord,
  largestPatched,
  lengthBytes,
  longestHeader,
  parseRecord,
} from './delta.ts';
import { filePieces, readFile } from './delta-writer.ts';
import { kitDamaged } from './kit-error.ts';

export interface DeltaSink {
  readonly limits: BundleLimits;
  readonly pack: PackSink;
  readonly onProgress?: (files: number) => void;
}

/**
 * @param bytes of the delta's blob
 * @param digest of the content
 * @returns the index of what was made, which has this digest
 * @throws {KitError} `KitDamaged`; {PublishableError} `DigestMismatch` and what the assembly throws
 */
export async function applyDelta(
  bytes: Bytes,
  digest: string,
  base: StoredBundle,
  { limits, pack, onProgress }: DeltaSink,
): Promise<BundleIndex> {
  const cursor = createByteCursor(decode('zstd', bytes, limits));
  // A server's store has no bytes of hidden files, so that no delta may name one.
  const shown = new Map(
    base.index.files.filter(({ path }) => !isHiddenFile(path)).map((file) => [file.path, file]),
  );
  const assembly = createAssembly(limits, pack, { hasExactPaths: true });
  try {
    for (let record = await nextRecord(cursor); record !== undefined; record = await nextRecord(cursor)) {
      await applyRecord(record, cursor, base, shown, assembly);
      onProgress?.(assembly.files);
    }
    if (!(await cursor.isAtEnd())) throw kitDamaged('a delta goes on after its end');
  } finally {
    cursor.close();
  }
  const index = assembly.finish();
  if (index.digest !== digest) throw refusal('DigestMismatch');
  return index;
}

async function nextRecord(cursor: ByteCursor): Promise<DeltaRecord | undefined> {
  const length = (await cursor.take(lengthBytes)).readUInt32LE();
  if (length > longestHeader) throw kitDamaged('a record of a delta is longer than allowed');
  return length === 0 ? undefined : parseRecord(await cursor.take(length));
}

async function applyRecord(
  { path, size, from, patch }: DeltaRecord,
  cursor: ByteCursor,
  base: StoredBundle,
  shown: ReadonlyMap<string, BundleFile>,
  assembly: Assembly,
): Promise<void> {
  const earlier = from === undefined ? undefined : shown.get(from);
  if (from !== undefined && earlier === undefined)
    throw kitDamaged('a delta names a file that its base does not have');
  const file: IncomingFile = assembly.beginFile(path, size);
  if (earlier === undefined) {
    for await (const piece of cursor.pieces(size)) file.write(piece);
  } else if (patch === undefined) {
    for await (const piece of filePieces(base, earlier)) file.write(piece);
  } else {
    if (earlier.size > largestPatched) throw kitDamaged('a patch of a delta is larger than allowed');
    file.write(await applyPatch(await cursor.take(patch), await readFile(base, earlier), size));
  }
  file.end();
}
