// The Secret with a mirror's credentials: a mounted folder, as bytes by key, and the keys of a bucket in it. A registry reads
// its own keys. Invariant: no message repeats a value.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AccessKey } from '#mirror/s3/bucket.ts';
import { PublishableError, publishableCode } from '#platform/wire/publishable-error.ts';
import type { MirrorError } from './mirror-error.ts';

export interface MirrorSecret {
  /** For messages. */
  readonly name: string;
  /** Decoded bytes by key. */
  readonly data: Readonly<Record<string, Uint8Array>>;
}

const keyNames = [
  '.dockerconfigjson',
  'config.json',
  'username',
  'password',
  'accessKeyId',
  'secretAccessKey',
  'sessionToken',
] as const;
/** Longer than any docker config. */
const maxBytes = 1024 * 1024;

/** @throws {MirrorError} `InvalidCredentials` */
export async function readMirrorSecret(folder: string): Promise<MirrorSecret> {
  const data: Record<string, Uint8Array> = {};
  for (const name of keyNames) {
    const bytes = await readFile(join(folder, name)).catch((cause: unknown) => {
      const code = publishableCode(cause);
      if (code === 'ENOENT') return undefined;
      throw invalid(
        `The credentials of the mirror cannot be read (${code}). Mount their Secret as a folder.`,
        cause,
      );
    });
    if (bytes === undefined) continue;
    if (bytes.length > maxBytes)
      throw invalid(`${name} of the mirror's credentials is longer than 1 MiB. Correct it.`);
    data[name] = bytes;
  }
  return { name: 'of the mirror', data };
}

/** @throws {MirrorError} `InvalidCredentials` */
export function readAccessKey({ name, data }: MirrorSecret): AccessKey {
  const read = (key: (typeof keyNames)[number]): string | undefined => {
    const bytes = Object.hasOwn(data, key) ? data[key] : undefined;
    // Files end with a line feed, and no key does.
    return bytes === undefined ? undefined : Buffer.from(bytes).toString('utf8').trim() || undefined;
  };
  const [accessKeyId, secretAccessKey] = [read('accessKeyId'), read('secretAccessKey')];
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    throw invalid(`The Secret ${name} has no accessKeyId and secretAccessKey. Write both.`);
  }
  return { kind: 'AccessKey', accessKeyId, secretAccessKey, sessionToken: read('sessionToken') };
}

const invalid = (message: string, cause?: unknown): MirrorError =>
  new PublishableError('InvalidCredentials', message, { cause });
