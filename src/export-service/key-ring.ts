// Which clients may call: the keys of the keys file, kept as hashes. Pure. One key a line, `#` starts a comment line,
// `read:<key>` may only read. Invariant: comparing takes the same time whichever key (or none) matches.

import { createHash, timingSafeEqual } from 'node:crypto';
import { PublishableError } from '../wire/publishable-error.ts';

export interface Credential {
  /** SHA-256 of the key, hex: names the caller in the store and says nothing of the key. */
  readonly id: string;
  readonly mayWrite: boolean;
}

interface KeyEntry extends Credential {
  readonly digest: Uint8Array;
}

/** Each request is compared with every key. */
const maxKeys = 10_000;

export type KeyRing = readonly KeyEntry[];

/** @throws {PublishableError} `KeysFileInvalid`: a key that no bearer header can carry, or a file without any key */
export function readKeyRing(text: string): KeyRing {
  const entries = text.split('\n').flatMap((raw, index) => {
    const line = raw.trim();
    if (line === '' || line.startsWith('#')) return [];
    const mayWrite = !line.startsWith('read:');
    const key = mayWrite ? line : line.slice('read:'.length);
    if (!/^[\x21-\x7e]+$/.test(key)) {
      throw invalid(
        `line ${index + 1} of the keys file is not a key: write one key a line, in printable ASCII without spaces`,
      );
    }
    const digest = digestOf(key);
    return [{ id: digest.toString('hex'), mayWrite, digest }];
  });
  if (entries.length > maxKeys) {
    throw invalid(`the keys file holds more than ${maxKeys} keys: remove those that are not used`);
  }
  if (entries.length === 0) throw invalid('the keys file holds no key: write one key a line');
  return entries;
}

/** @param header the Authorization header; the scheme's case does not matter (RFC 9110 §11.1) */
export function findCredential(ring: KeyRing, header: string | undefined): Credential | undefined {
  const key = /^bearer +([\x21-\x7e]+) *$/i.exec(header ?? '')?.[1];
  const digest = digestOf(key ?? '');
  let found: KeyEntry | undefined;
  for (const entry of ring) {
    if (timingSafeEqual(entry.digest, digest)) found ??= entry;
  }
  return key === undefined ? undefined : found;
}

function digestOf(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

/** The message names a line and never repeats its text. */
function invalid(message: string): PublishableError {
  return new PublishableError('KeysFileInvalid', message);
}
