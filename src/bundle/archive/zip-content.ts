// Unpacks the bytes of one zip entry. Refuses an entry whose size includes bytes behind the end of its deflate stream,
// because some readers continue there and see other content. Invariant: the output comes from all of the entry's bytes
// and from no others.

import { createInflateRaw, inflateRawSync } from 'node:zlib';
import type { Entry } from 'yauzl';
import { throughTransform } from '../byte-stream.ts';
import { refusal } from '../refusal.ts';
import type { OpenZip } from './zip-file.ts';

const deflated = 8;
const smallBytes = 1024 * 1024;
const chunkSize = 256 * 1024;
/** Of the platform's decoder (`Z_MIN_CHUNK`). */
const leastChunkBytes = 64;

/**
 * @param take is given the pieces in order; what it throws ends the reading
 * @throws {PublishableError} `InvalidSize`; the decoder's and the file's errors, which have no PublishableError code
 */
export async function readZipContent(
  zip: OpenZip,
  entry: Entry,
  dataStart: number,
  name: string,
  take: (chunk: Uint8Array) => void,
): Promise<void> {
  const { compressedSize } = entry;
  if (isSmall(entry)) {
    take(smallContent(zip, entry, dataStart, name));
    return;
  }
  const packed = zip.chunksAt(dataStart, compressedSize);
  if (entry.compressionMethod !== deflated) {
    for await (const chunk of packed) take(chunk);
    return;
  }
  const decoder = createInflateRaw({ chunkSize });
  for await (const chunk of throughTransform(packed, decoder)) take(chunk);
  requireAllUsed(decoder.bytesWritten, entry, name);
}

/** A stream costs more than most pages do: what is small is inflated at once. */
function isSmall({ compressedSize, uncompressedSize }: Entry): boolean {
  return compressedSize <= smallBytes && uncompressedSize <= smallBytes;
}

/** No further than its size and 1 more, so that what is longer shows as longer; 0 would mean no limit. */
function smallContent(zip: OpenZip, entry: Entry, dataStart: number, name: string): Buffer {
  const bytes = zip.bytesAt(dataStart, entry.compressedSize);
  if (entry.compressionMethod !== deflated) return bytes;
  const most = entry.uncompressedSize + 1;
  const chunkSize = Math.max(leastChunkBytes, most);
  const inflated: unknown = inflateRawSync(bytes, { maxOutputLength: most, chunkSize, info: true });
  if (!isInflated(inflated)) throw new Error('the platform does not say how much it inflated');
  requireAllUsed(inflated.engine.bytesWritten, entry, name);
  return inflated.buffer;
}

/** What `info` makes of the result, which its types do not know. */
interface Inflated {
  readonly buffer: Buffer;
  readonly engine: { readonly bytesWritten: number };
}

function isInflated(result: unknown): result is Inflated {
  if (typeof result !== 'object' || result === null) return false;
  if (!('buffer' in result && result.buffer instanceof Buffer && 'engine' in result)) return false;
  const { engine } = result;
  return typeof engine === 'object' && engine !== null && 'bytesWritten' in engine;
}

/** @param used bytes that the decoder took before its stream was at its end */
function requireAllUsed(used: number, { compressedSize }: Entry, name: string): void {
  if (used !== compressedSize) throw refusal('InvalidSize', { name });
}
