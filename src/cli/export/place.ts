// Writes a checked export as a folder or an archive, which is whole or as before, also after a crash of the machine. A
// folder is written from the verified pack, never from the archive, and gets no file that a server must not show.
// Refuses: replacing what it did not write, unless told.

import { createHash } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { ArchivedFile } from '../../bundle/archive/archive-writer.ts';
import { packedFiles } from '../../bundle/archive/packed-files.ts';
import type { BundleIndex } from '../../bundle/bundle-index.ts';
import { isHiddenFile } from '../../bundle/store/hidden-files.ts';
import type { StoredBundle } from '../../bundle/store/stored-bundle.ts';
import { isThere, syncFolder } from '../../runtime/folder.ts';
import { isArchiveName, writeArchive } from '../bundle/archive-file.ts';
import { CliError } from '../cli-error.ts';
import {
  newPartialName,
  notWritten,
  oldName,
  type Placement,
  requireReplaceable,
} from '../output/destination.ts';

/** The paths of the files that `placeBundle` writes below a path; of an archive, the empty path alone. */
export function placedFiles({ files }: Pick<BundleIndex, 'files'>, path: string): readonly string[] {
  return isArchiveName(path) ? [''] : files.map((file) => file.path).filter((file) => !isHiddenFile(file));
}

/** @returns how many files were left out, because a server must not show them */
export async function placeBundle(
  bundle: StoredBundle,
  to: string,
  placement: Placement,
  signal: AbortSignal,
): Promise<number> {
  const path = resolve(to);
  const files = packedFiles(bundle);
  if (isArchiveName(path)) {
    await writeArchive(files, path, placement, signal);
    return 0;
  }
  const shown = files.filter((file) => !isHiddenFile(file.path));
  const hashes = new Map(bundle.index.files.map((file) => [file.path, file.sha256]));
  try {
    await replaceFolder(path, { files: shown, hashes }, placement, signal);
  } catch (error) {
    signal.throwIfAborted();
    throw notWritten(placement.name, error);
  }
  return files.length - shown.length;
}

/** Between the two renames the name is absent for an instant; a run that ends there is put back by the next. */
async function replaceFolder(
  path: string,
  {
    files,
    hashes,
  }: { readonly files: readonly ArchivedFile[]; readonly hashes: ReadonlyMap<string, string> },
  placement: Placement,
  signal: AbortSignal,
): Promise<void> {
  const partial = await newPartialName(path);
  const old = oldName(path, placement.owner);
  try {
    await mkdir(partial);
    for (const file of files) {
      signal.throwIfAborted();
      await writeFileOf(partial, file, hashes.get(file.path));
    }
    for (const folder of foldersOf(files)) await syncFolder(join(partial, folder));
    await requireReplaceable(path, placement);
    await rm(old, { recursive: true, force: true });
    if (await isThere(path)) await rename(path, old);
    await rename(partial, path);
    await syncFolder(dirname(path));
    await rm(old, { recursive: true, force: true });
  } catch (error) {
    if (!(await isThere(path))) await rename(old, path).catch(() => {});
    await rm(partial, { recursive: true, force: true });
    throw error;
  }
}

/** The folders that hold these files, and theirs, and the one around all. */
function foldersOf(files: readonly ArchivedFile[]): ReadonlySet<string> {
  const folders = new Set(['']);
  for (const { path } of files) {
    const names = path.split('/').slice(0, -1);
    for (let depth = names.length; depth > 0; depth -= 1) folders.add(names.slice(0, depth).join('/'));
  }
  return folders;
}

async function writeFileOf(
  folder: string,
  { path, read }: ArchivedFile,
  sha256: string | undefined,
): Promise<void> {
  const target = join(folder, ...path.split('/'));
  await mkdir(dirname(target), { recursive: true });
  const hash = createHash('sha256');
  const file = await open(target, 'wx').catch((cause: unknown) => {
    const isTaken = cause instanceof Error && 'code' in cause && cause.code === 'EEXIST';
    if (!isTaken) throw cause;
    const message =
      'two files of the archive have names that this file system does not tell apart; write an archive instead';
    throw new CliError('notWritten', 'NamesCollide', message, { cause });
  });
  try {
    for await (const piece of read()) {
      hash.update(piece);
      await file.writeFile(piece);
    }
    // A machine that stops after the rename would otherwise leave empty files under the right names.
    await file.sync();
  } finally {
    await file.close();
  }
  if (hash.digest('hex') === sha256) return;
  throw new CliError(
    'notWritten',
    'WorkFilesChanged',
    'a file changed on the disk while it was written; check the disk',
  );
}
