// A delta: how to make one bundle from another. One zstd frame over records, one for each file: a length, a JSON header, and
// bytes where the header says so. Each file is the same as one of the base, or whole, or compressed with its earlier form as
// dictionary. Owns the records and the compression of a patch. Refuses a dictionary that the decoder could not hold.

import { promisify } from 'node:util';
// The default export: see runtime/supported-node.ts.
import zlib, { constants, type ZstdOptions } from 'node:zlib';
import * as z from 'zod/mini';
import { readJson } from '#platform/wire/json-text.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { kitDamaged } from './kit-error.ts';

export const deltaArtifactType = 'application/vnd.staticexport.bundle.delta.v1';
export const deltaLayerType = 'application/vnd.staticexport.bundle.delta.v1.records+zstd';

const count = z.int().check(z.nonnegative());
const recordShape = z.strictObject({
  path: z.string(),
  size: count,
  /** Path in the base, of a file that is the same, or the dictionary. */
  from: z.optional(z.string()),
  /** Bytes of the patch. Without `from` and `patch`, `size` bytes follow. */
  patch: z.optional(count),
});
export type DeltaRecord = z.infer<typeof recordShape>;

/** Of a record's header. A path has at most 1 KiB. */
export const longestHeader = 16 * 1024;
/** File and dictionary are held in memory, and the tables of the compressor beside them. */
export const largestPatched = 16 * 1024 * 1024;
export const largestPatch = largestPatched + 64 * 1024;

export const lengthBytes = 4;

export function formatRecord(record: DeltaRecord): Buffer {
  const header = Buffer.from(JSON.stringify(record));
  const length = Buffer.alloc(lengthBytes);
  length.writeUInt32LE(header.length);
  return Buffer.concat([length, header]);
}

/** Of a header of length zero. */
export const endOfRecords: Buffer = Buffer.alloc(lengthBytes);

/** @throws {KitError} `KitDamaged` */
export function parseRecord(header: Buffer): DeltaRecord {
  const { data } = recordShape.safeParse(readJson(header.toString('utf8')));
  const isPatch = data?.patch !== undefined;
  if (data === undefined || (isPatch && data.from === undefined))
    throw kitDamaged('a record of a delta is malformed');
  const isTooLarge = isPatch && (data.size > largestPatched || (data.patch ?? 0) > largestPatch);
  if (isTooLarge) throw kitDamaged('a patch of a delta is larger than allowed');
  return data;
}

const compress = promisify<Buffer, ZstdOptions, Buffer>(zlib.zstdCompress);
const decompress = promisify<Buffer, ZstdOptions, Buffer>(zlib.zstdDecompress);

/** What begins like this is read as tables of a trained dictionary, and fails or misleads. */
const trainedDictionary = Buffer.from([0x37, 0xa4, 0x30, 0xec]);
const dictionaryOf = (base: Buffer): Buffer =>
  base.subarray(0, 4).equals(trainedDictionary) ? base.subarray(1) : base;

/** Up to here the compressor's own tables remember all of a dictionary. */
const smallBytes = 512 * 1024;
/** Of file and dictionary together. */
const largestWindowLog = 25;

/** An older Node ignores the option, and would make patches that no other Node can read. */
let hasDictionaries: boolean | undefined;
function requireDictionaries(): void {
  const sample = Buffer.from('0123456789abcdefghijklmnopqrstuvwxyz');
  hasDictionaries ??= zlib.zstdCompressSync(sample, { dictionary: sample }).length < sample.length;
  if (hasDictionaries) return;
  throw new PublishableError(
    'NodeTooOld',
    'this Node has no zstd dictionaries, which deltas need; use the newest Node 24 or 26',
  );
}

/** @throws {PublishableError} `NodeTooOld` */
export function makePatch(file: Buffer, base: Buffer): Promise<Buffer> {
  requireDictionaries();
  const bytes = file.length + base.length;
  const windowLog = Math.min(largestWindowLog, Math.max(10, Math.ceil(Math.log2(bytes + 1))));
  const tables = { [constants.ZSTD_c_hashLog]: windowLog - 1, [constants.ZSTD_c_chainLog]: windowLog - 1 };
  const params = {
    [constants.ZSTD_c_compressionLevel]: 9,
    [constants.ZSTD_c_windowLog]: windowLog,
    ...(bytes > smallBytes && tables),
  };
  return compress(file, { dictionary: dictionaryOf(base), params });
}

/** @throws {KitError} `KitDamaged`; {PublishableError} `NodeTooOld` */
export async function applyPatch(patch: Buffer, base: Buffer, size: number): Promise<Buffer> {
  requireDictionaries();
  const params = { [constants.ZSTD_d_windowLogMax]: largestWindowLog };
  try {
    // The platform wants room for one byte at least.
    const maxOutputLength = Math.max(1, size);
    const file = await decompress(patch, { dictionary: dictionaryOf(base), params, maxOutputLength });
    if (file.length === size) return file;
  } catch (error) {
    throw kitDamaged('a patch of a delta does not fit its base', error);
  }
  throw kitDamaged('a patch of a delta does not fit its base');
}
