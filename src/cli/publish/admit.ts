// Checks before an export begins what can be known then: whether each destination may be written. A fault that is found
// after an hour of export costs the hour. Puts back a folder whose replacement was interrupted. Refuses: what a
// replacement would destroy, and a link file where a web server shows it.

import { realpath, rename } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { isThere } from '#platform/runtime/folder.ts';
import { archiveEndings, isArchiveName } from '../bundle/archive-names.ts';
import { CliError } from '../cli-error.ts';
import { requireFolderAround, requireWritable } from '../output/admitted-file.ts';
import { notWritten, oldName, type Placement, requireReplaceable } from '../output/destination.ts';
import { findFilled } from './filled-folder.ts';

const looksArchived = /\.(?:zip|gz|zst|xz|bz2|br|7z|rar)$/i;

/**
 * A folder or an archive.
 *
 * @param kept what a replacement would destroy: the state folder, the current folder, other destinations
 * @throws {CliError} `DestinationExists`, `DestinationMissing`, `DestinationReadOnly`, `DestinationRefused`,
 *   `UnknownArchiveName`, `DestinationNotWritten`
 */
export async function admitDestination(
  to: string,
  placement: Placement,
  kept: readonly (string | undefined)[],
): Promise<void> {
  const path = resolve(to);
  const { name } = placement;
  if (!isArchiveName(path) && looksArchived.test(path)) {
    const message = `${name} names an archive that is not ${archiveEndings}; name one of these, or a folder`;
    throw new CliError('usage', 'UnknownArchiveName', message);
  }
  if (await holdsAny(path, kept)) {
    const message = `${name} holds the state folder, the current folder or another destination; name a folder of its own`;
    throw new CliError('usage', 'DestinationRefused', message);
  }
  const filled = isArchiveName(path) ? undefined : await findFilled(path);
  if (filled === undefined) await requireFolderAround(path, name);
  else await requireWritable(filled, name);
  const old = oldName(path, placement.owner);
  if (!(await isThere(path)) && (await isThere(old))) {
    await rename(old, path).catch((error: unknown) => {
      throw notWritten(name, error);
    });
  }
  await requireReplaceable(path, placement);
}

async function holdsAny(folder: string, kept: readonly (string | undefined)[]): Promise<boolean> {
  const folders = await placesOf(folder);
  for (const one of kept) {
    const places = one === undefined ? [] : await placesOf(one);
    if (places.some((place) => folders.some((around) => isWithin(place, around)))) return true;
  }
  return false;
}

/**
 * Where a path leads, and where its last name is: they differ for a symbolic link, which a rename replaces and a write
 * follows. What does not exist yet counts as made. Two paths are the same file if these meet.
 */
export async function placesOf(path: string): Promise<readonly string[]> {
  const absolute = resolve(path);
  return [await realPathOf(absolute), join(await realPathOf(dirname(absolute)), basename(absolute))];
}

/** Of the deepest folder that exists, and the rest. */
async function realPathOf(path: string): Promise<string> {
  const parent = dirname(path);
  return realpath(path).catch(async () =>
    parent === path ? path : join(await realPathOf(parent), basename(path)),
  );
}

const isWithin = (path: string, folder: string): boolean =>
  `${path}${sep}`.startsWith(`${folder.replace(/\/+$/, '')}${sep}`);
