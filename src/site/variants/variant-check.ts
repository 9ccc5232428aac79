// Proof that coded forms found on disk are the files of the bundle: each is decoded, and its text has the hash that the
// bundle's digest covers. Why: the list of forms vouches only for itself, and what it names would be served under the
// tag of content that was verified. Refuses: decoding further than the file is long.

import { createHash } from 'node:crypto';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { BundleIndex } from '../../bundle/bundle-index.ts';
import { openPack } from '../../bundle/store/stored-bundle.ts';
import type { ContentCoding } from '../http/content-coding.ts';
import { fingerprintOf } from '../http/entity-tag.ts';
import type { Rest } from './core-share.ts';
import type { VariantDocument } from './variant-document.ts';

/**
 * Whether every form decodes to its file and has its fingerprint.
 *
 * @param rest is awaited after each form
 * @throws what opening the pack throws
 */
export async function areTrueForms(
  packPath: string,
  { forms }: VariantDocument,
  index: BundleIndex,
  rest: Rest,
): Promise<boolean> {
  const pack = await openPack(packPath, index, undefined);
  const proven = new Set<string>();
  let room = Buffer.allocUnsafeSlow(256 * 1024);
  try {
    for (const [ordinal, coding, offset, size, fingerprint] of forms) {
      const file = index.files[ordinal];
      if (file === undefined || size >= file.size) return false;
      // Files of the same content share their forms.
      const claim = [coding, offset, size, fingerprint, file.sha256].join();
      if (proven.has(claim)) continue;
      if (size > room.length) room = Buffer.allocUnsafeSlow(size);
      const body = room.subarray(0, size);
      pack.readIntoSync({ offset, size }, body);
      const isTrue = fingerprintOf(sha256(body)) === fingerprint && decodesTo(body, coding, file);
      if (!isTrue) return false;
      proven.add(claim);
      await rest();
    }
    return true;
  } finally {
    await pack.close();
  }
}

const minChunkBytes = 64;

function decodesTo(
  body: Buffer,
  coding: ContentCoding,
  file: { readonly size: number; readonly sha256: string },
): boolean {
  // In one piece, with a byte to spare: pieces that are put together are twice as much to be collected.
  const options = { maxOutputLength: file.size, chunkSize: Math.max(minChunkBytes, file.size + 1) };
  try {
    const decoded = coding === 'br' ? brotliDecompressSync(body, options) : gunzipSync(body, options);
    return sha256(decoded) === file.sha256;
  } catch {
    return false;
  }
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
