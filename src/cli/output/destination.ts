// What the writers of destinations share: the error, and files that are whole or as before. An error names the flag that
// the user wrote. Refuses: naming any other path, because a path may be private.

import { createHash } from 'node:crypto';
import { lstat, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { syncFolder } from '../../runtime/folder.ts';
import { publishableCode } from '../../wire/publishable-error.ts';
import { CliError } from '../cli-error.ts';

/** @param name the flag or argument: `--to` */
export function notWritten(name: string, cause: unknown): CliError {
  if (cause instanceof CliError) return cause;
  const message = `${name} could not be written (${publishableCode(cause)}); check its path, permissions and free space`;
  return new CliError('notWritten', 'DestinationNotWritten', message, { cause });
}

/** Who writes a destination, and whether what is there may be replaced. */
export interface Placement {
  /** The flag or argument that names the destination, for errors: `--to`. */
  readonly name: string;
  /** A name of the writer, such as its state folder: two writers never share a file that is being written. */
  readonly owner: string;
  readonly mayReplace: boolean;
}

/** A name beside a destination, of this writer alone: no file of a user's has it. */
export function nameBeside(path: string, owner: string, suffix: 'partial' | 'old'): string {
  const mark = createHash('sha256').update(owner).digest('hex').slice(0, 8);
  return join(dirname(path), `.${basename(path)}.static-export-${mark}.${suffix}`);
}

/** What a run that was killed left. */
export const isUnfinished = (name: string): boolean =>
  /^\..+\.static-export-[0-9a-f]{8}\.(?:partial|old)$/.test(name);

export const isThere = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );

/** Right before a rename, because something may have appeared since the start. @throws {CliError} `DestinationExists` */
export async function requireReplaceable(path: string, { name, mayReplace }: Placement): Promise<void> {
  if (mayReplace || !(await isThere(path))) return;
  const message = `${name} exists and was not written with this state; name another path, or move it away`;
  throw new CliError('usage', 'DestinationExists', message);
}

/** Writes a file under another name, syncs it, and renames it: it is whole or as before. */
export async function writeWhole(path: string, content: string | Uint8Array, mode: number): Promise<void> {
  const partial = join(dirname(path), `.${basename(path)}.partial`);
  try {
    await rm(partial, { force: true });
    const file = await open(partial, 'wx', mode);
    try {
      await file.writeFile(content);
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
