// Brings the files of a complete folder into another one that must keep its place, file by file: new files first, then
// changed ones, pages last, and the old files are removed at the end. So a page never names a file that is not there yet.
// Refuses: following a symbolic link below the folder. Invariant: each file is whole, old or new, at any time.

import { lstat, mkdir, readdir, rename, rm, rmdir, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isThere, syncFolder } from '#platform/runtime/folder.ts';
import { publishableCode } from '#platform/wire/publishable-error.ts';

/**
 * @param from holds the files, on the same file system
 * @param paths of the files, with "/"
 * @param old what may be removed at the end
 */
export async function fillFolder(
  from: string,
  folder: string,
  paths: readonly string[],
  old: readonly string[],
): Promise<void> {
  const held = new Set(old);
  const isPage = (path: string): boolean => /\.html?$/i.test(path);
  const rank = (path: string): number => (held.has(path) ? 2 : 0) + (isPage(path) ? 1 : 0);
  const folders = new Set(['']);
  for (const path of paths.toSorted((one, other) => rank(one) - rank(other))) {
    await makeFolders(folder, path, folders);
    const target = join(folder, path);
    if (await isFolder(target)) await rm(target, { recursive: true });
    await rename(join(from, path), target);
  }
  for (const one of folders) await syncFolder(join(folder, one));
  const wanted = new Set(paths);
  for (const path of old) {
    if (wanted.has(path) || folders.has(path)) continue;
    await unlink(join(folder, path)).catch(passAbsent);
    await removeEmpty(folder, dirname(path));
  }
  await syncFolder(folder);
}

/** A file may stand now where its folder was. */
function passAbsent(error: unknown): void {
  const code = publishableCode(error);
  if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
}

const isFolder = (path: string): Promise<boolean> =>
  lstat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );

/** A file or a symbolic link that stands where a folder is needed makes way. @param made gets each folder of the path */
async function makeFolders(folder: string, path: string, made: Set<string>): Promise<void> {
  const names = path.split('/').slice(0, -1);
  for (let depth = 1; depth <= names.length; depth += 1) {
    const one = names.slice(0, depth).join('/');
    if (made.has(one)) continue;
    const target = join(folder, one);
    if (!(await isFolder(target))) {
      if (await isThere(target)) await rm(target);
      await mkdir(target);
    }
    made.add(one);
  }
}

async function removeEmpty(folder: string, path: string): Promise<void> {
  for (let at = path; at !== '.' && at !== ''; at = dirname(at)) {
    const names = await readdir(join(folder, at)).catch(() => undefined);
    if (names?.length !== 0) return;
    await rmdir(join(folder, at)).catch(() => {});
  }
}
