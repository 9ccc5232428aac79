// Which clients may call: the keys of the keys file, kept as hashes. Pure. One key a line, `#` starts a comment line,
// `read:KEY` may only read. Invariant: a key is found by its hash, so the time of a search does not depend on the key.

import { createHash } from 'node:crypto';
import { PublishableError } from '#platform/wire/publishable-error.ts';

export interface Credential {
  /** SHA-256 of the key, hex. It names the caller in the store without showing the key. */
  readonly id: string;
  readonly mayWrite: boolean;
}

/** By {@link Credential.id}. */
export type KeyRing = ReadonlyMap<string, Credential>;

/** @throws {PublishableError} `KeysFileInvalid`: a key that no bearer header can carry, or a file without any key */
export function readKeyRing(text: string): KeyRing {
  const ring = new Map<string, Credential>();
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.trim();
    if (line === '' || line.startsWith('#')) continue;
    const mayWrite = !line.startsWith('read:');
    const key = mayWrite ? line : line.slice('read:'.length);
    if (!/^[\x21-\x7e]+$/.test(key)) {
      throw invalid(
        `line ${index + 1} of the keys file is not a key; write one key a line, in printable ASCII without spaces`,
      );
    }
    const id = hashKey(key);
    if (!ring.has(id)) ring.set(id, { id, mayWrite });
  }
  if (ring.size === 0) throw invalid('the keys file holds no key; write one key a line');
  return ring;
}

/** @param header the Authorization header; the scheme's case does not matter (RFC 9110 §11.1) */
export function findCredential(ring: KeyRing, header: string | undefined): Credential | undefined {
  const key = /^bearer +([\x21-\x7e]+) *$/i.exec(header ?? '')?.[1];
  return key === undefined ? undefined : ring.get(hashKey(key));
}

function hashKey(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

/** The message names a line and never repeats its text. */
function invalid(message: string): PublishableError {
  return new PublishableError('KeysFileInvalid', message);
}
