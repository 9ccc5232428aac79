// Bytes that no compression makes smaller, the same ones in each run: the key stream of a cipher, each call taking up where the
// last one ended. Random bytes instead would make a test red by chance, and nobody could repeat it.

import { createCipheriv } from 'node:crypto';

const keyStream = createCipheriv('aes-128-ctr', Buffer.alloc(16), Buffer.alloc(16));

/** @returns other bytes at each call of a process */
export function noise(length: number): Buffer {
  return keyStream.update(Buffer.alloc(length));
}
