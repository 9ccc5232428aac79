// Keys of kits from the files that the user names. Refuses a key on the command line, except a public one. No error repeats a
// byte of a file.

import { parseVerifyKey, type SignKey, type VerifyKey } from '#mirror/kit/minisign.ts';
import { parseSignKey } from '#mirror/kit/minisign-secret-key.ts';
import { readBounded } from '#platform/runtime/bounded-file.ts';
import { publishableCode } from '#platform/wire/publishable-error.ts';
import { CliError } from '../cli-error.ts';
import type { CliContext } from '../context.ts';

const longestKeyFile = 16 * 1024;

/** @throws {CliError} `KeyUnreadable`; {PublishableError} */
export async function readSignKey(
  keyFile: string,
  passwordFile: string | undefined,
  { progress }: Pick<CliContext, 'progress'>,
): Promise<SignKey> {
  const text = await readSmall('--sign-key', keyFile);
  const password =
    passwordFile === undefined
      ? undefined
      : (await readSmall('--sign-password-file', passwordFile)).replace(/\r?\n$/, '');
  // An encrypted key takes seconds and a gigabyte of memory to open, as it does for minisign.
  if (password !== undefined) progress.phase('Opening the secret key');
  return parseSignKey(text, password);
}

export interface VerifyKeyValues {
  readonly key: string | undefined;
  readonly keyText: string | undefined;
}

/** @returns `undefined` if no key is named. @throws {CliError} `KeyUnreadable`, `KeyInvalid` */
export async function readVerifyKey({ key, keyText }: VerifyKeyValues): Promise<VerifyKey | undefined> {
  if (key === undefined && keyText === undefined) return undefined;
  const [flag, text] =
    key === undefined ? ['--key-text', keyText ?? ''] : ['--key', await readSmall('--key', key)];
  const read = parseVerifyKey(text);
  if (read !== undefined) return read;
  const message = `${flag} is not a public key of minisign, which has the form RW and 54 more characters`;
  throw new CliError('usage', 'KeyInvalid', message);
}

async function readSmall(flag: string, path: string): Promise<string> {
  const text = await readBounded(path, longestKeyFile).catch((cause: unknown) => {
    const code = publishableCode(cause);
    const why =
      code === 'ENOENT'
        ? 'does not exist; check its path'
        : `cannot be read (${code}); check its permissions`;
    throw new CliError('usage', 'KeyUnreadable', `the file of ${flag} ${why}`, { cause });
  });
  if (text === undefined)
    throw new CliError('usage', 'KeyUnreadable', `the file of ${flag} is too long for a key`);
  return text;
}
