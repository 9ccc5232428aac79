// Signs commits as `git -c gpg.format=ssh` does: reads an OpenSSH private key (PROTOCOL.key) and writes the armored
// signature of PROTOCOL.sshsig in the namespace `git`. Refuses passphrases and key types other than ed25519. Invariant:
// no message quotes the key.

import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';

export interface SigningKey {
  readonly key: KeyObject;
  /** As in `authorized_keys`, in SSH's wire format. */
  readonly publicBlob: Buffer;
}

export class SigningKeyRefused extends Error {}

const keyForm =
  /^\s*-----BEGIN OPENSSH PRIVATE KEY-----\s+([A-Za-z0-9+/=\s]+?)\s*-----END OPENSSH PRIVATE KEY-----\s*$/;
const magic = Buffer.from('openssh-key-v1\0');
const keyType = 'ssh-ed25519';
const namespace = 'git';
const hashName = 'sha512';

/** @throws {SigningKeyRefused} with words to put after a colon */
export function readSigningKey(pem: string): SigningKey {
  const [, base64] = keyForm.exec(pem) ?? [];
  if (base64 === undefined) throw new SigningKeyRefused('it is not an OpenSSH private key');
  const reader = new WireReader(Buffer.from(base64, 'base64'));
  if (!reader.bytes(magic.length).equals(magic)) throw damaged();
  const cipher = reader.text();
  const derivation = reader.text();
  reader.string();
  if (cipher !== 'none' || derivation !== 'none') {
    throw new SigningKeyRefused('it has a passphrase; store a key without one');
  }
  if (reader.number() !== 1) throw new SigningKeyRefused('it holds several keys; store one');
  const publicBlob = reader.string();
  const secret = new WireReader(reader.string());
  const check = secret.number();
  if (secret.number() !== check) throw damaged();
  const type = secret.text();
  if (type !== keyType)
    throw new SigningKeyRefused('it is not an ed25519 key; make one with `ssh-keygen -t ed25519`');
  const publicBytes = secret.string();
  const pair = secret.string();
  if (publicBytes.length !== 32 || pair.length !== 64) throw damaged();
  const expected = Buffer.concat([wireString(keyType), wireString(publicBytes)]);
  const key = keyOfSeed(pair.subarray(0, 32));
  const isOnePair = rawPublicKey(key).equals(publicBytes) && publicBlob.equals(expected);
  if (!isOnePair || !pair.subarray(32).equals(publicBytes)) throw damaged();
  return { key, publicBlob };
}

const damaged = (): SigningKeyRefused => new SigningKeyRefused('it is damaged or cut short');

/** PKCS #8 of an ed25519 key is this prefix and the seed (RFC 8410). */
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex');

function keyOfSeed(seed: Buffer): KeyObject {
  return createPrivateKey({ key: Buffer.concat([pkcs8Prefix, seed]), format: 'der', type: 'pkcs8' });
}

/** The last 32 bytes of SPKI are the key (RFC 8410). */
function rawPublicKey(key: KeyObject): Buffer {
  return createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-32);
}

/** @returns the armored signature, without a line end after it */
export function signText(text: string, { key, publicBlob }: SigningKey): string {
  const digest = createHash(hashName).update(text, 'utf8').digest();
  const context = [wireString(namespace), wireString(''), wireString(hashName)];
  const signed = Buffer.concat([Buffer.from('SSHSIG'), ...context, wireString(digest)]);
  const signature = Buffer.concat([wireString(keyType), wireString(sign(null, signed, key))]);
  const version = Buffer.from([0, 0, 0, 1]);
  const blob = Buffer.concat([
    Buffer.from('SSHSIG'),
    version,
    wireString(publicBlob),
    ...context,
    wireString(signature),
  ]);
  const lines = blob.toString('base64').match(/.{1,70}/g) ?? [];
  return ['-----BEGIN SSH SIGNATURE-----', ...lines, '-----END SSH SIGNATURE-----'].join('\n');
}

function wireString(content: string | Buffer): Buffer {
  const bytes = Buffer.from(content);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

/** SSH's wire format (RFC 4251 §5). */
class WireReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  bytes(count: number): Buffer {
    if (count > this.#bytes.length - this.#at) throw damaged();
    this.#at += count;
    return this.#bytes.subarray(this.#at - count, this.#at);
  }

  number(): number {
    return this.bytes(4).readUInt32BE();
  }

  string(): Buffer {
    return this.bytes(this.number());
  }

  text(): string {
    return this.string().toString('latin1');
  }
}
