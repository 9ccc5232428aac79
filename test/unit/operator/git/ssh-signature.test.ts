// OpenSSH private keys as they are read: a written key gives its own public key, and every other text is refused.

import assert from 'node:assert/strict';
import { createHash, generateKeyPairSync, verify } from 'node:crypto';
import { test } from 'node:test';
import { readSigningKey, SigningKeyRefused, signText } from '#operator/git/ssh-signature.ts';
import * as fc from '../../../support/properties.ts';

const string = (content: string | Buffer): Buffer => {
  const bytes = Buffer.from(content);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
};
const number = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

function makeKey({ cipher = 'none', type = 'ssh-ed25519', second = 7, count = 1 } = {}) {
  const pair = generateKeyPairSync('ed25519');
  const seed = pair.privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(-32);
  const raw = pair.publicKey.export({ format: 'der', type: 'spki' }).subarray(-32);
  const publicBlob = Buffer.concat([string('ssh-ed25519'), string(raw)]);
  const secret = Buffer.concat([
    number(7),
    number(second),
    string(type),
    string(raw),
    string(Buffer.concat([seed, raw])),
    string('me'),
    Buffer.from([1, 2, 3]),
  ]);
  const bytes = Buffer.concat([
    Buffer.from('openssh-key-v1\0'),
    string(cipher),
    string('none'),
    string(''),
    number(count),
    string(publicBlob),
    string(secret),
  ]);
  return { pem: armored(bytes), bytes, publicBlob, publicKey: pair.publicKey };
}

const armored = (bytes: Buffer): string =>
  `-----BEGIN OPENSSH PRIVATE KEY-----\n${bytes.toString('base64').replace(/.{70}/g, '$&\n')}\n-----END OPENSSH PRIVATE KEY-----\n`;

test('a key signs what its public key verifies', () => {
  const { pem, publicBlob, publicKey } = makeKey();
  const key = readSigningKey(pem);
  assert.ok(key.publicBlob.equals(publicBlob));
  const text = signText('payload', key);
  assert.match(text, /^-----BEGIN SSH SIGNATURE-----\n([A-Za-z0-9+/=]{1,70}\n)+-----END SSH SIGNATURE-----$/);
  const blob = Buffer.from(text.split('\n').slice(1, -1).join(''), 'base64');
  const digest = createHash('sha512').update('payload').digest();
  const signed = [Buffer.from('SSHSIG'), string('git'), string(''), string('sha512'), string(digest)];
  assert.ok(verify(null, Buffer.concat(signed), publicKey, blob.subarray(-64)));
});

test('other kinds of keys are refused in words', () => {
  const wrong: readonly (readonly [string, RegExp])[] = [
    ['', /not an OpenSSH private key/],
    ['-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----', /not an OpenSSH private key/],
    [makeKey({ cipher: 'aes256-ctr' }).pem, /passphrase/],
    [makeKey({ type: 'ssh-rsa' }).pem, /not an ed25519 key/],
    [makeKey({ second: 8 }).pem, /damaged/],
    [makeKey({ count: 2 }).pem, /several keys/],
  ];
  for (const [pem, message] of wrong) {
    assert.throws(
      () => readSigningKey(pem),
      (error) => error instanceof SigningKeyRefused && message.test(error.message),
    );
  }
});

test('a key with line ends of another system, or with blanks around it, is the same key', () => {
  const { pem, publicBlob } = makeKey();
  assert.ok(readSigningKey(`\r\n${pem.replaceAll('\n', '\r\n')}  `).publicBlob.equals(publicBlob));
});

test('a key that is cut or changed anywhere gives the same key or is refused', () => {
  const { bytes, publicBlob } = makeKey();
  const used = bytes.length - 3 - 6;
  fc.assert(
    fc.property(fc.nat({ max: bytes.length - 1 }), fc.integer({ min: 1, max: 255 }), (at, change) => {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ change;
      for (const text of [armored(changed), armored(bytes.subarray(0, Math.min(at, used)))]) {
        try {
          assert.ok(readSigningKey(text).publicBlob.equals(publicBlob));
        } catch (error) {
          assert.ok(error instanceof SigningKeyRefused, String(error));
        }
      }
    }),
    { numRuns: 500 },
  );
});
