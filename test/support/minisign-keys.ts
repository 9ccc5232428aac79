// Keys as `minisign -G -W` writes them, fresh for each test.

import { generateKeyPairSync, randomBytes } from 'node:crypto';
import type { SignKey } from '#mirror/kit/minisign.ts';
import { parseSignKey } from '#mirror/kit/minisign-secret-key.ts';

export interface MinisignKeys {
  readonly publicText: string;
  /** The second line of the public key file. */
  readonly publicLine: string;
  readonly secretText: string;
  readonly key: SignKey;
}

export async function minisignKeys(): Promise<MinisignKeys> {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const seed = privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(-32);
  const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32);
  const id = randomBytes(8);
  const publicLine = Buffer.concat([Buffer.from('Ed'), id, raw]).toString('base64');
  const secret = Buffer.concat([
    Buffer.from('Ed\0\0B2', 'latin1'),
    Buffer.alloc(48),
    ...[id, seed, raw, Buffer.alloc(32)],
  ]);
  const secretText = `untrusted comment: minisign encrypted secret key\n${secret.toString('base64')}\n`;
  const publicText = `untrusted comment: minisign public key\n${publicLine}\n`;
  return { publicText, publicLine, secretText, key: await parseSignKey(secretText, undefined) };
}

/** As minisign encrypts, with limits of 16 MiB instead of 1 GiB. */
export const encryptedKey = {
  password: 'hunter2',
  publicLine: 'RWTiSX/5GWqWjh7PcTURC+AOu+UnNn6D7gV+f1uasVmsF4nbiTgov51o',
  text: `untrusted comment: minisign encrypted secret key
RWRTY0IypTvfC+ycFCxiaF6JyfqGKdQzgfrh960n7Vb8wO4RX8AAAAgAAAAAAAAAAAEAAAAAUpEe1UA58mZYLFNzCzzbBNyfTnevGZWjOPpf2YrKTIcFdZooqFalHNVN50ip0NuYXX3BffaJF3VruNNABkEdoCXIeeSQzU8C775SyLvKEZ/oIJV3l/ZwP97BdBAsK2HDm09G8xnXC9k=
`,
} as const;
