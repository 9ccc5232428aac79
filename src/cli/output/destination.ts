// What the writers of destinations share: the error, and files that are whole or as before. Refuses: naming a path in an
// error, because a path may be private.

import { constants, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { publishableCode } from '../../wire/publishable-error.ts';
import { CliError } from '../cli-error.ts';

/** @param what `archive`, `folder`, …: names no path, because a path may be private */
export function notWritten(what: string, cause: unknown): CliError {
  if (cause instanceof CliError) return cause;
  const message = `the ${what} could not be written (${publishableCode(cause)}); check its path, permissions and free space`;
  return new CliError('notWritten', 'DestinationNotWritten', message, { cause });
}

export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Writes a file under another name, syncs it, and renames it: it is whole or as before. */
export async function writeWhole(path: string, text: string, mode: number): Promise<void> {
  const partial = join(dirname(path), `.${basename(path)}.partial`);
  try {
    await rm(partial, { force: true });
    const file = await open(partial, 'wx', mode);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(partial, path);
    await syncFolder(dirname(path));
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}
