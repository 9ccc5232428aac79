// Writes a checked export as a folder or an archive, which is whole or as before, also after a crash of the machine; a folder
// that a rename cannot replace gets whole files, one after another. A folder is written from the verified pack, never from
// the archive, and gets no file that a server must not show.
// Refuses: replacing what it did not write, unless told.

import { createHash } from 'node:crypto';
import { mkdir, open, realpath, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { ArchivedFile } from '#bundle/archive/archive-writer.ts';
import { packedFiles } from '#bundle/archive/packed-files.ts';
import type { BundleIndex } from '#bundle/bundle-index.ts';
import { isExportDocument } from '#bundle/export-documents.ts';
import { isHiddenFile } from '#bundle/store/hidden-files.ts';
import type { StoredBundle } from '#bundle/store/stored-bundle.ts';
import { isThere, syncFolder } from '#platform/runtime/folder.ts';
import { publishableCode } from '#platform/wire/publishable-error.ts';
import { writeArchive } from '../bundle/archive-file.ts';
import { isArchiveName } from '../bundle/archive-names.ts';
import { CliError } from '../cli-error.ts';
import {
  newPartialName,
  notWritten,
  oldName,
  type Placement,
  requireReplaceable,
} from '../output/destination.ts';
import { filesAt } from './content-marks.ts';
import { fillFolder } from './fill-folder.ts';
import { findFilled } from './filled-folder.ts';

/** The paths of the files that `placeBundle` writes below a path; of an archive, the empty path alone. */
export function placedFiles({ files }: Pick<BundleIndex, 'files'>, path: string): readonly string[] {
  return isArchiveName(path) ? [''] : files.map((file) => file.path).filter((file) => !isHiddenFile(file));
}

/** @returns how many files were left out, because a server must not show them; the report of an export does not count */
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
  // Each export of the export service has a report, and its absence is nothing to act on.
  return files.filter(({ path }) => isHiddenFile(path) && !isExportDocument(path)).length;
}

interface SiteFiles {
  readonly files: readonly ArchivedFile[];
  readonly hashes: ReadonlyMap<string, string>;
}

/** What a rename of a folder ends with where the system does not let it go: a mount point, an image's layer, a permission. */
const heldCodes: ReadonlySet<string> = new Set(['EBUSY', 'EXDEV', 'EACCES', 'EPERM', 'EROFS']);

async function replaceFolder(
  path: string,
  site: SiteFiles,
  placement: Placement,
  signal: AbortSignal,
): Promise<void> {
  const filled = await findFilled(path);
  if (filled !== undefined) return fillInPlace(path, filled, site, placement, signal);
  try {
    await renameFolder(path, site, placement, signal);
  } catch (error) {
    const isHeld = heldCodes.has(publishableCode(error)) && (await isThere(path));
    if (!isHeld) throw error;
    await fillInPlace(path, await realpath(path), site, placement, signal);
  }
}

/** Between the two renames the name is absent for an instant; a run that ends there is put back by the next. */
async function renameFolder(
  path: string,
  site: SiteFiles,
  placement: Placement,
  signal: AbortSignal,
): Promise<void> {
  const partial = await newPartialName(path);
  const old = oldName(path, placement.owner);
  try {
    await writeSite(partial, site, signal);
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

/** All files are on the disk before the first one gets its name, so that a full disk changes nothing. */
async function fillInPlace(
  path: string,
  folder: string,
  site: SiteFiles,
  placement: Placement,
  signal: AbortSignal,
): Promise<void> {
  const partial = await newPartialName(join(folder, 'site'));
  try {
    await writeSite(partial, site, signal);
    const before = await filesAt(folder);
    await requireReplaceable(path, placement);
    await fillFolder(
      partial,
      folder,
      site.files.map((file) => file.path),
      before,
    );
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}

async function writeSite(folder: string, { files, hashes }: SiteFiles, signal: AbortSignal): Promise<void> {
  await mkdir(folder);
  for (const file of files) {
    signal.throwIfAborted();
    await writeFileOf(folder, file, hashes.get(file.path));
  }
  for (const one of foldersOf(files)) await syncFolder(join(folder, one));
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
