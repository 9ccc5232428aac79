// What a state remembers of the content of a destination: one hash of all bytes, which says whether anything changed, and
// a short hash of each file's path, which says whether a file was added. Only the first reads the files. Invariant: below
// the path a symbolic link counts as a file and is never followed.

import { createHash } from 'node:crypto';
import { createReadStream, type Dirent, type Stats } from 'node:fs';
import { lstat, readdir, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { digestOf } from '#bundle/store/digest.ts';
import { publishableCode } from '#platform/wire/publishable-error.ts';
import { isUnfinished } from '../output/destination.ts';

const markLength = 12;

/** @param paths below a destination, with "/"; of a single file, the empty path. @returns a mark each, in one text */
export function nameMarks(paths: readonly string[]): string {
  const marks = paths.map((path) =>
    createHash('sha256').update(path).digest('base64url').slice(0, markLength),
  );
  return marks.join('');
}

/** @param marks of `nameMarks`. @returns whether all files there are among them; false where it cannot be read */
export async function holdsOnly(path: string, marks: string): Promise<boolean> {
  const known = new Set<string>();
  for (let at = 0; at < marks.length; at += markLength) known.add(marks.slice(at, at + markLength));
  try {
    return (await filesAt(path)).every((file) => known.has(nameMarks([file])));
  } catch {
    return false;
  }
}

/** The paths of all files, with "/". Nothing where nothing is, the empty path of a single file. */
export async function filesAt(path: string): Promise<readonly string[]> {
  const found = await foundAt(path);
  if (found === undefined) return [];
  if (!found.isDirectory()) return [''];
  const files = await leavesBelow(path);
  return files.map(({ parentPath, name }) => relative(path, join(parentPath, name)).split(sep).join('/'));
}

/** A path that the user gave may be a symbolic link to a folder, which is filled in place. */
async function foundAt(path: string): Promise<Stats | undefined> {
  const read = (found: typeof stat | typeof lstat): Promise<Stats | undefined> =>
    found(path).catch((error: unknown) => {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
      throw error;
    });
  const found = await read(lstat);
  if (found?.isSymbolicLink() !== true) return found;
  const target = await read(stat);
  return target?.isDirectory() === true ? target : found;
}

/** All but folders, without what runs that were killed or go on have here. */
async function leavesBelow(path: string): Promise<readonly Dirent[]> {
  const entries = await readdir(path, { withFileTypes: true });
  return leavesOf(entries.filter(({ name }) => !isUnfinished(name)));
}

/** Folder by folder: since Node 26, `recursive` of `readdir` follows symbolic links. */
async function leavesOf(entries: readonly Dirent[]): Promise<readonly Dirent[]> {
  const found: Dirent[] = [];
  for (const entry of entries) {
    if (entry.isDirectory()) found.push(...(await leavesOf(await entriesOf(entry))));
    else found.push(entry);
  }
  return found;
}

/** A new volume has a folder `lost+found` that only root can read. */
async function entriesOf({ parentPath, name }: Dirent): Promise<readonly Dirent[]> {
  return readdir(join(parentPath, name), { withFileTypes: true }).catch((error: unknown) => {
    if (name === 'lost+found' && publishableCode(error) === 'EACCES') return [];
    throw error;
  });
}

/** One hash of what is at a path now; `undefined` where it cannot be read, or holds more than files and folders. */
export async function readContentMark(path: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    return await hashAll(path, signal);
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

async function hashAll(path: string, signal: AbortSignal): Promise<string | undefined> {
  const found = await foundAt(path);
  if (found?.isFile() === true) return hashOf(path, signal);
  if (found?.isDirectory() !== true) return undefined;
  const files = await leavesBelow(path);
  if (files.some((entry) => !entry.isFile())) return undefined;
  const paths = files.map(({ parentPath, name }) => join(parentPath, name)).sort();
  const rows: { readonly path: string; readonly sha256: string }[] = [];
  for (const file of paths) {
    rows.push({ path: relative(path, file).split(sep).join('/'), sha256: await hashOf(file, signal) });
  }
  return digestOf(rows);
}

async function hashOf(file: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(file, { signal })) hash.update(piece);
  return hash.digest('hex');
}
