// Turns the bytes of the download into the bytes of the tar: bounded gzip or zstd decompression in large chunks.
// Refuses: truncation, damage, bytes after the end, and more output than the limits allow. Joined gzip members and
// joined zstd frames are one stream, as their formats specify.

import { Readable, type Transform } from 'node:stream';
// The default export: see runtime/supported-node.ts.
import zlib, { constants, createGunzip } from 'node:zlib';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { type Bytes, letGo, throughTransform, watch } from '../byte-stream.ts';
import type { BundleLimits } from '../limits.ts';
import { refusal } from '../refusal.ts';
import { createFrameScanner } from './zstd-frames.ts';

/** Large chunks are the cheapest gain in speed: a fifth of the time. */
const chunkSize = 1024 * 1024;
/** The stream's own limit is less than one chunk, and would stop the decoder after each. */
const decoderOptions = { chunkSize, readableHighWaterMark: 4 * chunkSize };
/** A small archive of repetitive pages may well compress better than any limit; a bomb is never small. */
const ratioFromBytes = 16 * chunkSize;

/**
 * @param bytes of the archive
 * @returns the tar's bytes; reading it throws {@link BundleError}
 */
export async function* decode(
  type: 'gzip' | 'zstd' | 'tar',
  bytes: Bytes,
  limits: BundleLimits,
): AsyncGenerator<Buffer> {
  let compressedBytes = 0;
  const counted = watch(bytes, (chunk) => {
    compressedBytes += chunk.length;
  });
  let total = 0;
  for await (const chunk of decoderOf(type, counted, limits)) {
    total += chunk.length;
    if (total > limits.maxTotalBytes) throw refusal('ContentTooLarge');
    if (total > ratioFromBytes && total > limits.maxRatio * compressedBytes) throw refusal('RatioTooHigh');
    yield chunk;
  }
}

function decoderOf(type: 'gzip' | 'zstd' | 'tar', bytes: Bytes, limits: BundleLimits): Bytes {
  if (type === 'tar') return bytes;
  return type === 'gzip' ? gunzip(bytes) : unzstd(bytes, limits);
}

/**
 * The platform's decoder takes a zero byte after a member for padding, ends, and leaves the rest unread.
 * This function reads the rest, which must be zeros too.
 */
async function* gunzip(bytes: Bytes): AsyncGenerator<Buffer> {
  const iterator = bytes[Symbol.asyncIterator]();
  const decoder = createGunzip(decoderOptions);
  let taken = 0;
  let contentEnd = 0; // position after the last byte that is not zero
  async function* remaining(): AsyncGenerator<Buffer> {
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
      const last = next.value.findLastIndex((byte) => byte !== 0);
      if (last >= 0) contentEnd = taken + last + 1;
      taken += next.value.length;
      yield next.value;
    }
  }
  try {
    yield* run(remaining(), decoder);
    for await (const _padding of remaining());
    if (contentEnd > decoder.bytesWritten) throw refusal('DataAfterEnd');
  } finally {
    letGo(iterator);
  }
}

/** Uses one decoder for each frame; the scan in zstd-frames.ts finds its end. */
async function* unzstd(bytes: Bytes, limits: BundleLimits): AsyncGenerator<Buffer> {
  const scanner = createFrameScanner(limits);
  const params = { [constants.ZSTD_d_windowLogMax]: Math.floor(Math.log2(limits.maxWindowBytes)) };
  const options = { ...decoderOptions, params, rejectGarbageAfterEnd: true };
  const iterator = bytes[Symbol.asyncIterator]();
  const queue: ReturnType<typeof scanner.feed>[number][] = [];
  const pull = async (): Promise<(typeof queue)[number] | undefined> => {
    while (queue.length === 0) {
      const next = await iterator.next();
      if (next.done === true) return undefined;
      for (const piece of scanner.feed(next.value)) queue.push(piece);
    }
    return queue.shift();
  };
  async function* frame(first: Buffer): AsyncGenerator<Buffer> {
    yield first;
    for (let piece = await pull(); piece !== undefined; piece = await pull()) {
      yield piece.bytes;
      if (piece.endsFrame) return;
    }
  }
  try {
    for (let piece = await pull(); piece !== undefined; piece = await pull()) {
      if (piece.isSkippable) continue;
      const whole = piece.endsFrame ? Readable.from([piece.bytes]) : frame(piece.bytes);
      yield* run(whole, zlib.createZstdDecompress(options));
    }
    if (!scanner.isBetweenFrames) throw refusal('TruncatedArchive');
  } finally {
    letGo(iterator);
  }
}

async function* run(bytes: Bytes, decoder: Transform): AsyncGenerator<Buffer> {
  try {
    yield* throughTransform(bytes, decoder);
  } catch (error) {
    throw decodingFault(error);
  }
}

function decodingFault(error: unknown): unknown {
  if (error instanceof PublishableError || !(error instanceof Error) || !('code' in error)) return error;
  const code = String(error.code);
  if (code === 'Z_BUF_ERROR') return refusal('TruncatedArchive', { cause: error });
  if (code === 'ZSTD_error_frameParameter_windowTooLarge') return refusal('WindowTooLarge', { cause: error });
  if (code === 'ERR_TRAILING_JUNK_AFTER_STREAM_END') return refusal('DataAfterEnd', { cause: error });
  const isDecoders = code.startsWith('Z_') || code.startsWith('ZSTD_');
  return isDecoders ? refusal('CorruptArchive', { cause: error }) : error;
}
