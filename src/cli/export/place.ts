// Puts a checked export where the user wants it: a folder, an archive, a values file, `bundle.json`. Each is whole or as
// before. A folder is written from the verified pack, never from the archive, and gets no file that a server must not
// show. Refuses: replacing what it did not write, unless told.

import { createHash } from 'node:crypto';
import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import type { ArchivedFile } from '../../bundle/archive/archive-writer.ts';
import { formatPublishedBundle, type PublishedBundle } from '../../bundle/published-bundle.ts';
import { isHiddenFile } from '../../bundle/store/hidden-files.ts';
import type { StoredBundle } from '../../bundle/store/stored-bundle.ts';
import { syncFolder } from '../../runtime/folder.ts';
import { planValuesEdit } from '../../targets/values.ts';
import { isArchiveName, writeArchive } from '../bundle/archive-file.ts';
import { packedFiles } from '../bundle/pack.ts';
import { CliError } from '../cli-error.ts';
import {
  isThere,
  nameBeside,
  notWritten,
  type Placement,
  requireReplaceable,
  writeWhole,
} from '../output/destination.ts';

/**
 * Before an export begins: whether a destination may be written, and puts back a folder whose replacement was interrupted.
 *
 * @param keptPaths what a replacement would destroy: the state folder, the current folder
 * @throws {CliError} `DestinationExists`, `DestinationMissing`, `DestinationRefused`, `DestinationNotWritten`
 */
export async function admitDestination(
  to: string,
  placement: Placement,
  keptPaths: readonly string[],
): Promise<void> {
  const path = resolve(to);
  if (!isArchiveName(path) && archiveEndings.test(path)) {
    const message = 'an archive ends in .tar, .tar.gz, .tgz or .tar.zst; name a folder otherwise';
    throw new CliError('usage', 'UnknownArchiveName', message);
  }
  const isKept = (kept: string): boolean =>
    `${resolve(kept)}${sep}`.startsWith(`${path.replace(/\/+$/, '')}${sep}`);
  if (keptPaths.some(isKept)) {
    const message = 'the destination holds the state folder or the current folder; name a folder of its own';
    throw new CliError('usage', 'DestinationRefused', message);
  }
  if (!(await isThere(dirname(path)))) {
    const message = 'the folder around the destination does not exist; make it first';
    throw new CliError('usage', 'DestinationMissing', message);
  }
  const old = nameBeside(path, placement.owner, 'old');
  if (!(await isThere(path)) && (await isThere(old))) {
    await rename(old, path).catch((error: unknown) => {
      throw notWritten('folder', error);
    });
  }
  await requireReplaceable(path, placement);
}

const archiveEndings = /\.(?:zip|gz|zst|xz|bz2|br|7z|rar)$/i;

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
    throw notWritten('folder', error);
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
  const partial = nameBeside(path, placement.owner, 'partial');
  const old = nameBeside(path, placement.owner, 'old');
  await rm(partial, { recursive: true, force: true });
  try {
    await mkdir(partial);
    for (const file of files) {
      signal.throwIfAborted();
      await writeFileOf(partial, file, hashes.get(file.path));
    }
    await requireReplaceable(path, placement);
    await rm(old, { recursive: true, force: true });
    if (await isThere(path)) await rename(path, old);
    await rename(partial, path);
    await syncFolder(dirname(path));
    await rm(old, { recursive: true, force: true });
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    throw error;
  }
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

/**
 * Sets `staticExport.enabled` and `.version` and leaves every other byte. A file that does not exist is made.
 *
 * @throws {CliError} `ValuesRefused`, `DestinationNotWritten`
 */
export async function writeValues(path: string, version: string): Promise<void> {
  const plan = planValuesEdit(await readValues(path), { enabled: true, version });
  if (plan.outcome === 'in-sync') return;
  if (plan.outcome === 'refused') {
    throw new CliError('notWritten', 'ValuesRefused', `--values cannot be edited: ${plan.message}`);
  }
  const mode = await stat(path).then(
    (found) => found.mode & 0o777,
    () => 0o644,
  );
  await writeWhole(path, plan.text, mode).catch((error: unknown) => {
    throw notWritten('values file', error);
  });
}

async function readValues(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw notWritten('values file', error);
  }
}

/** `bundle.json` with the link, for its owner alone. Written only where it differs. */
export async function writeLinkFile(path: string, bundle: PublishedBundle): Promise<void> {
  const text = `${formatPublishedBundle(bundle)}\n`;
  if ((await readFile(path, 'utf8').catch(() => undefined)) === text) return;
  await writeWhole(path, text, 0o600).catch((error: unknown) => {
    throw notWritten('link file', error);
  });
}
