// Writes the small objects of a mirror in a bucket: layout, descriptors, the lock. Refuses to overwrite one unless that is
// asked for.

import { createHash } from 'node:crypto';
import type { Bucket } from '#mirror/s3/bucket.ts';

/** @returns `exists` if there is an object already and it is not replaced */
export async function writeSmall(
  bucket: Bucket,
  key: string,
  text: string,
  signal: AbortSignal,
  { replaces = false }: { readonly replaces?: boolean } = {},
): Promise<'written' | 'exists'> {
  const bytes = Buffer.from(text);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const contentType = 'application/json';
  const object = { key, size: bytes.length, sha256, contentType, open: () => inOnePiece(bytes), replaces };
  return await bucket.put(object, signal);
}

export async function* inOnePiece(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}
