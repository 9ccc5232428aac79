// Bytes that no compression makes smaller, the same ones in each run: the key stream of a cipher whose key is a name. Random
// bytes instead would make a test red by chance, and nobody could repeat it.

import { createCipheriv, hash } from 'node:crypto';

/** @param name other bytes for each; of one name the shorter are the beginning of the longer */
export function noise(length: number, name = ''): Buffer {
  const key = hash('sha256', name, 'buffer').subarray(0, 16);
  return createCipheriv('aes-128-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(length));
}
