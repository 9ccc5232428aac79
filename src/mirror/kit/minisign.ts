// Signatures in the form of minisign, made and checked with ed25519 and BLAKE2b-512 of the platform. Owns public keys and
// signature files. Refuses what minisign would read in a second way: each signature has one text, so that a changed byte of
// it is found. Secret keys are in `minisign-secret-key.ts`.

import { createHash, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import type { KitError, KitErrorCode } from './kit-error.ts';

export interface VerifyKey {
  /** 16 hex digits, as minisign prints it. */
  readonly id: string;
  readonly idBytes: Buffer;
  readonly key: KeyObject;
}

/** A pair whose secret half signs. */
export interface SignKey extends VerifyKey {
  readonly secret: KeyObject;
}

const untrustedStart = 'untrusted comment: signature of ';
/** What a signature is of, unless its maker says otherwise. */
const kitSubject = 'static-export kit';
const trustedStart = 'trusted comment: ';
const idBytes = 8;
const signatureBytes = 64;
const publicKeyBytes = 32;
/** DER of SubjectPublicKeyInfo for ed25519 up to the key (RFC 8410). */
const publicKeyStart = Buffer.from('302a300506032b6570032100', 'hex');

export const keyIdOf = (bytes: Buffer): string => Buffer.from(bytes).reverse().toString('hex').toUpperCase();

export const publicKeyOf = (raw: Buffer): KeyObject =>
  createPublicKey({ key: Buffer.concat([publicKeyStart, raw]), format: 'der', type: 'spki' });

/**
 * @param text of a public key file, or its second line alone, which begins with `RW`
 * @returns `undefined` if it is not a key of minisign
 */
export function parseVerifyKey(text: string): VerifyKey | undefined {
  const lines = text.split(/\r?\n/).filter((line) => line !== '');
  const line = lines.length === 2 && lines[0]?.startsWith('untrusted comment:') ? lines[1] : lines[0];
  if (line === undefined || lines.length > 2) return undefined;
  const bytes = readBase64(line.trim(), 2 + idBytes + publicKeyBytes);
  if (bytes === undefined || bytes.toString('latin1', 0, 2) !== 'Ed') return undefined;
  const id = bytes.subarray(2, 2 + idBytes);
  return { id: keyIdOf(id), idBytes: id, key: publicKeyOf(bytes.subarray(2 + idBytes)) };
}

/**
 * The text of a signature file.
 *
 * @param comment is signed too: one line of printable ASCII
 * @param subject what is signed, for people who open the file; it is not signed
 */
export function signBytes(
  bytes: Uint8Array,
  comment: string,
  key: SignKey,
  subject: string = kitSubject,
): string {
  const signature = sign(null, blake2b(bytes), key.secret);
  const whole = sign(null, Buffer.concat([signature, Buffer.from(comment)]), key.secret);
  const packed = Buffer.concat([Buffer.from('ED'), key.idBytes, signature]);
  return formatSignature(subject, packed, comment, whole);
}

/**
 * @param subject as it was signed
 * @throws {KitError} `SignatureInvalid`
 */
export function verifyBytes(
  bytes: Uint8Array,
  signatureText: string,
  key: VerifyKey,
  subject: string = kitSubject,
): void {
  const { id, signature, comment, whole } = parseSignature(signatureText, subject);
  if (id !== key.id) {
    throw invalid(
      `the kit is signed with the key ${id}, not with ${key.id}`,
      'Name the public key of the program or person that made the kit.',
    );
  }
  const isSigned =
    verify(null, blake2b(bytes), key.key, signature) &&
    verify(null, Buffer.concat([signature, Buffer.from(comment)]), key.key, whole);
  if (!isSigned) throw invalid('the signature of the kit does not fit its kit.json', copyAgain);
}

/** The key that a signature names, unchecked. @throws {KitError} `SignatureInvalid` */
export const signatureKeyId = (signatureText: string): string => parseSignature(signatureText, kitSubject).id;

const copyAgain = 'Copy the kit again from where it was made.';

function parseSignature(text: string, subject: string) {
  const [, packed = '', comment = '', wholeText = ''] = text.split('\n');
  const bytes = readBase64(packed, 2 + idBytes + signatureBytes);
  const whole = readBase64(wholeText, signatureBytes);
  const trusted = comment.startsWith(trustedStart) ? comment.slice(trustedStart.length) : undefined;
  if (bytes === undefined || whole === undefined || trusted === undefined) throw malformed();
  // minisign ignores the first line and the end of the file. One text for each signature leaves no byte unchecked.
  if (formatSignature(subject, bytes, trusted, whole) !== text) throw malformed();
  if (bytes.toString('latin1', 0, 2) !== 'ED') throw malformed();
  const signature = bytes.subarray(2 + idBytes);
  return { id: keyIdOf(bytes.subarray(2, 2 + idBytes)), signature, comment: trusted, whole };
}

const formatSignature = (subject: string, packed: Buffer, comment: string, whole: Buffer): string =>
  `${untrustedStart}${subject}\n${packed.toString('base64')}\n${trustedStart}${comment}\n${whole.toString('base64')}\n`;

const malformed = (): KitError => invalid('the signature of the kit is malformed', copyAgain);

const invalid = (message: string, remedy: string): KitError =>
  new PublishableError<KitErrorCode>('SignatureInvalid', message, { kind: 'refused', remedy: remedy });

/** @returns `undefined` for another length, and for text that the platform's decoder would repair */
export function readBase64(text: string, length: number): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.length === length && bytes.toString('base64') === text ? bytes : undefined;
}

const blake2b = (bytes: Uint8Array): Buffer => createHash('blake2b512').update(bytes).digest();
