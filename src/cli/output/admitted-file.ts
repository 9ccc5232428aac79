// Whether a file can be made at a path that the user named, before a command works for it. A missing folder that is found after an
// hour of work costs the hour. Refuses to make folders: a path may be mistyped.

import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { publishableCode } from '#platform/wire/publishable-error.ts';
import { CliError } from '../cli-error.ts';

/**
 * A single file, such as a values file.
 *
 * @param name the flag with its path: `--values values.yaml`
 * @throws {CliError} `DestinationRefused`, `DestinationMissing`, `DestinationReadOnly`
 */
export async function admitFile(file: string, name: string): Promise<void> {
  const path = resolve(file);
  const found = await stat(path).catch(() => undefined);
  if (found !== undefined && !found.isFile())
    throw new CliError('usage', 'DestinationRefused', `${name} is not a file; name a file`);
  await requireFolderAround(path, name);
}

/**
 * A file is replaced by a rename, so its folder must be writable, and not only the file.
 *
 * @param name as for `admitFile`
 * @throws {CliError} `DestinationMissing`, `DestinationRefused`, `DestinationReadOnly`
 */
export async function requireFolderAround(path: string, name: string): Promise<void> {
  const folder = dirname(path);
  const found = await stat(folder).catch((cause: unknown) => {
    if (publishableCode(cause) === 'ENOTDIR') return 'belowFile' as const;
    const message = `the folder around ${name} does not exist; make it first`;
    throw new CliError('usage', 'DestinationMissing', message, { cause });
  });
  if (found === 'belowFile' || !found.isDirectory())
    throw new CliError('usage', 'DestinationRefused', `${name} is below a file; name a path in a folder`);
  await requireWritable(folder, `the folder around ${name}`);
}

/** @param name of the folder, for the message. @throws {CliError} `DestinationReadOnly` */
export async function requireWritable(folder: string, name: string): Promise<void> {
  const code = await findWriteFault(folder);
  if (code === undefined) return;
  const message = `${name} cannot be written (${code}); check its permissions`;
  throw new CliError('usage', 'DestinationReadOnly', message);
}

/** @returns why files cannot be made in a folder, as the system's code; `undefined` where they can */
export async function findWriteFault(folder: string): Promise<string | undefined> {
  return access(folder, constants.W_OK | constants.X_OK).then(() => undefined, publishableCode);
}
