// Secret key files of minisign: plain ones, and those that a password encrypts with scrypt. Refuses a key whose two halves do
// not belong together, which is also how a wrong password is found. No error repeats a byte of the file.

import { createPrivateKey, createPublicKey, type ScryptOptions, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { keyIdOf, publicKeyOf, readBase64, type SignKey } from './minisign.ts';

const headBytes = 6;
const saltBytes = 32;
const limitsAt = headBytes + saltBytes;
const secretAt = limitsAt + 16;
/** Key id, seed, public key, checksum. */
const secretBytes = 8 + 32 + 32 + 32;
/** DER of PrivateKeyInfo for ed25519 up to the seed (RFC 8410). */
const seedStart = Buffer.from('302e020100300506032b657004220420', 'hex');
const scryptAsync = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);

/**
 * @param password of an encrypted key; a plain key needs none
 * @throws {PublishableError}
 */
export async function parseSignKey(text: string, password: string | undefined): Promise<SignKey> {
  const [, line = ''] = text.split(/\r?\n/);
  const bytes = readBase64(line.trim(), secretAt + secretBytes);
  const kinds = bytes?.toString('latin1', 0, headBytes);
  if (bytes === undefined || kinds === undefined || !/^Ed(?:Sc|\0\0)B2$/.test(kinds)) throw invalid();
  const isEncrypted = kinds.startsWith('EdSc');
  const packed = bytes.subarray(secretAt);
  if (!isEncrypted) {
    const key = keyOf(packed);
    if (key === undefined) throw invalid();
    return key;
  }
  if (password === undefined) {
    throw new PublishableError(
      'SignKeyEncrypted',
      'the secret key is encrypted; name the file of its password, or make a key without one by "minisign -G -W"',
    );
  }
  const key = keyOf(await decrypt(packed, password, bytes.subarray(headBytes, secretAt)));
  if (key === undefined) {
    throw new PublishableError(
      'SignPasswordWrong',
      'the password does not open the secret key; check its file',
    );
  }
  return key;
}

function keyOf(packed: Buffer): SignKey | undefined {
  const idBytes = packed.subarray(0, 8);
  const raw = packed.subarray(40, 72);
  const key = Buffer.concat([seedStart, packed.subarray(8, 40)]);
  const secret = createPrivateKey({ key, format: 'der', type: 'pkcs8' });
  // The checksum is a BLAKE2b of 32 bytes, which the platform does not have. The public half proves more.
  const isPair = createPublicKey(secret).equals(publicKeyOf(raw));
  return isPair ? { id: keyIdOf(idBytes), idBytes, key: publicKeyOf(raw), secret } : undefined;
}

async function decrypt(packed: Buffer, password: string, kdf: Buffer): Promise<Buffer> {
  const salt = kdf.subarray(0, saltBytes);
  const cost = scryptCost(kdf.readBigUInt64LE(saltBytes), kdf.readBigUInt64LE(saltBytes + 8));
  if (cost === undefined) throw invalid();
  const stream = await scryptAsync(password, salt, secretBytes, cost);
  return Buffer.from(packed.map((byte, at) => byte ^ (stream[at] ?? 0)));
}

const blockSize = 8;
/** What minisign itself asks for at most, and a little room. */
const mostMemory = 1024 ** 3 + 64 * 1024 ** 2;

/**
 * libsodium, `crypto_pwhash_scryptsalsa208sha256`, "pickparams".
 *
 * @returns `undefined` for a cost that minisign does not choose
 */
function scryptCost(operations: bigint, memory: bigint): ScryptOptions | undefined {
  const opslimit = Math.max(32_768, Number(operations));
  const memlimit = Number(memory);
  const isShort = opslimit < memlimit / 32;
  const mostN = isShort ? opslimit / (blockSize * 4) : memlimit / (blockSize * 128);
  let power = 1;
  while (power < 32 && 2 ** power <= mostN / 2) power += 1;
  const N = 2 ** power;
  const p = isShort ? 1 : Math.floor(Math.min(opslimit / 4 / N, 0x3fffffff) / blockSize);
  const needed = 128 * N * blockSize + 128 * blockSize * p;
  if (p < 1 || p > 64 || needed > mostMemory) return undefined;
  return { N, r: blockSize, p, maxmem: needed + 1024 ** 2 };
}

const invalid = (): PublishableError =>
  new PublishableError(
    'SignKeyInvalid',
    'the file is not a secret key of minisign; make one by "minisign -G"',
  );
