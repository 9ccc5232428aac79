// The key of redaction: a file of the user's, or one that is made at the first use and kept. Refuses a short key, because
// addresses could be guessed with it.

import { link, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CliError } from '#cli/cli-error.ts';
import { namedPath } from '#cli/output/destination.ts';
import { readBounded } from '#platform/runtime/bounded-file.ts';
import { isThere, makeFolder, syncFolder } from '#platform/runtime/folder.ts';
import type { Random } from '#platform/runtime/random.ts';
import { publishableCode } from '#platform/wire/publishable-error.ts';

const shortestKey = 16;

/** @param named by the user. @param own where the key lies that this program makes @throws {CliError} */
export async function readRedactionKey(
  named: string | undefined,
  own: string,
  random: Random,
): Promise<string> {
  const key = named === undefined ? await ownKey(own, random) : await readKeyFile(named);
  if (key.length >= shortestKey) return key;
  const file = named === undefined ? namedPath('file', own) : namedPath('--redact-key-file', named);
  const message = `the redaction key in ${file} must have at least ${shortestKey} characters`;
  throw new CliError('usage', 'RedactionKeyInvalid', message);
}

async function ownKey(path: string, random: Random): Promise<string> {
  try {
    if (!(await isThere(path))) await makeKey(path, random);
  } catch (error) {
    throw unreadable(error);
  }
  return await readKeyFile(path);
}

/** The file has its name when it has its key: a process that ends before leaves none, and of two at once both get one key. */
async function makeKey(path: string, random: Random): Promise<void> {
  await makeFolder(dirname(path), 0o700);
  const partial = `${path}.${random.uuid()}`;
  try {
    const file = await open(partial, 'wx', 0o600);
    try {
      await file.writeFile(`${Buffer.from(random.bytes(32)).toString('hex')}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await link(partial, path).catch(async (error: unknown) => {
      // Shares of Windows have no hard links.
      if (publishableCode(error) !== 'EEXIST') await rename(partial, path);
    });
    await syncFolder(dirname(path));
  } finally {
    await rm(partial, { force: true });
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
