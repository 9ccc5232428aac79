// The key of redaction: a file of the user's, or one that is made at the first use and kept. Refuses a short key, because
// addresses could be guessed with it.

import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { readBounded } from '../../runtime/bounded-file.ts';
import { makeFolder } from '../../runtime/folder.ts';
import type { Random } from '../../runtime/random.ts';
import { publishableCode } from '../../wire/publishable-error.ts';
import { CliError } from '../cli-error.ts';

const shortestKey = 16;

/** @param named by the user. @param own where the key lies that this program makes @throws {CliError} */
export async function readRedactionKey(
  named: string | undefined,
  own: string,
  random: Random,
): Promise<string> {
  const key = named === undefined ? await ownKey(own, random) : await readKeyFile(named);
  if (key.length >= shortestKey) return key;
  const message = `the redaction key must have at least ${shortestKey} characters`;
  throw new CliError('usage', 'RedactionKeyInvalid', message);
}

async function ownKey(path: string, random: Random): Promise<string> {
  try {
    await makeFolder(dirname(path), 0o700);
    const file = await open(path, 'wx', 0o600);
    const key = Buffer.from(random.bytes(32)).toString('hex');
    await file.writeFile(`${key}\n`);
    await file.sync().finally(() => file.close());
    return key;
  } catch (error) {
    const isThere = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    if (isThere) return await readKeyFile(path);
    throw unreadable(error);
  }
}

async function readKeyFile(path: string): Promise<string> {
  const text = await readBounded(path, 4096).catch((cause: unknown) => {
    throw unreadable(cause);
  });
  return (text ?? '').trim();
}

const unreadable = (cause: unknown): CliError =>
  new CliError(
    'usage',
    'RedactionKeyUnreadable',
    `the redaction key cannot be read (${publishableCode(cause)}); name a file with --redact-key-file`,
    { cause },
  );
