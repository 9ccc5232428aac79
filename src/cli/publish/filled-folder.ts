// How a folder that exists gets new content: replaced by a rename, or filled in place where a rename cannot replace it: a
// mount point, a symbolic link to a folder, a folder whose parent cannot be written. Refuses: guessing from a failed rename
// alone, because it is known only after an hour of export.

import type { Stats } from 'node:fs';
import { lstat, readFile, realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { findWriteFault } from '../output/admitted-file.ts';

/** @returns the folder that is filled in place, without symbolic links; `undefined` where a rename replaces it */
export async function findFilled(path: string): Promise<string | undefined> {
  const found = await lstat(path).catch(() => undefined);
  const folder = await realpath(path).catch(() => undefined);
  if (found === undefined || folder === undefined) return undefined;
  const target = await stat(folder);
  if (!target.isDirectory()) return undefined;
  if (found.isSymbolicLink()) return folder;
  const isFilled = (await isMountPoint(folder, target)) || !(await isRemovable(folder, target));
  return isFilled ? folder : undefined;
}

/** A bind mount has the device of the folder around it, so that only the list of mounts shows it. */
async function isMountPoint(folder: string, { dev }: Stats): Promise<boolean> {
  const around = await stat(dirname(folder));
  if (around.dev !== dev) return true;
  const mounts = await readFile('/proc/self/mountinfo', 'utf8').catch(() => '');
  return mounts.split('\n').some((line) => unescaped(line.split(' ')[4] ?? '') === folder);
}

const unescaped = (text: string): string =>
  text.replaceAll(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));

/** In a folder such as /tmp, only the owner of an entry or of the folder may rename it. */
async function isRemovable(folder: string, { uid }: Stats): Promise<boolean> {
  const parent = dirname(folder);
  if ((await findWriteFault(parent)) !== undefined) return false;
  const around = await stat(parent);
  const user = process.geteuid?.() ?? 0;
  return (around.mode & 0o1000) === 0 || user === 0 || user === uid || user === around.uid;
}
