// The admin API key: from a file, from standard input, or from $STATIC_EXPORT_API_KEY. There is no flag for the key
// itself, because every process of the machine can read a command line. Refuses: printing it.

import { readBounded } from '#platform/runtime/bounded-file.ts';
import { publishableCode } from '#platform/wire/publishable-error.ts';
import { CliError } from './cli-error.ts';
import type { CliContext } from './context.ts';

export interface KeyFlags {
  readonly keyFile: string | undefined;
  readonly keyStdin: boolean;
}

export const keyVariable = 'STATIC_EXPORT_API_KEY';

/** No key is longer. */
const longestKeyFile = 64 * 1024;
const remedy = `use --key-file, --key-stdin or ${keyVariable}`;

/** @throws {CliError} `KeyMissing`, `KeyUnreadable`, `KeyInvalid` */
export async function readKey(
  { keyFile, keyStdin }: KeyFlags,
  { env, readStdin }: Pick<CliContext, 'env' | 'readStdin'>,
): Promise<string> {
  const text = keyStdin
    ? await readStdin()
    : keyFile === undefined
      ? (env[keyVariable] ?? '')
      : await readKeyFile(keyFile);
  const key = text.trim();
  if (key === '') throw new CliError('key', 'KeyMissing', `there is no API key; ${remedy}`);
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new CliError('key', 'KeyInvalid', 'the API key must be one line of printable ASCII without blanks');
  }
  return key;
}

/** Most admin keys begin so; another kind of key may still be valid. As the reconcile warns for `run`. */
export function describeKeyPrefix(key: string): string | undefined {
  if (key.startsWith('svc_')) return undefined;
  return 'API key does not begin with svc_. Check that it is an admin key.';
}

async function readKeyFile(path: string): Promise<string> {
  let text: string | undefined;
  try {
    text = await readBounded(path, longestKeyFile);
  } catch (cause) {
    const message = `--key-file cannot be read (${publishableCode(cause)}); check its path and permissions`;
    throw new CliError('key', 'KeyUnreadable', message, { cause });
  }
  if (text === undefined)
    throw new CliError('key', 'KeyInvalid', '--key-file is longer than 64 KiB; check its path');
  return text;
}
