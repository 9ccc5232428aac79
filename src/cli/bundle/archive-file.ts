// Writes an archive under the name that the user gave; the ending says which kind. Invariant: the destination's name
// appears only when the whole archive is on the disk.

import { open, realpath, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type ArchivedFile, type ArchiveFormat, archiveBytes } from '#bundle/archive/archive-writer.ts';
import { syncFolder } from '#platform/runtime/folder.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { CliError } from '../cli-error.ts';
import { admitFile } from '../output/admitted-file.ts';
import {
  namedPath,
  newPartialName,
  notWritten,
  type Placement,
  requireReplaceable,
} from '../output/destination.ts';
import { archiveEndings, archiveFormatOf, isArchiveName } from './archive-names.ts';

/**
 * Before the source is read, which may take minutes.
 *
 * @param flag or argument that names the archive
 * @throws {CliError} `UnknownArchiveName`, `DestinationExists`, and those of `admitFile`
 */
export async function requireNewArchive(
  destination: string,
  mayReplace: boolean,
  flag = '--to',
): Promise<void> {
  if (!isArchiveName(destination)) {
    throw new CliError('usage', 'UnknownArchiveName', `${flag} must end in ${archiveEndings}`);
  }
  const name = namedPath(flag, destination);
  const present = await realpath(destination).catch(() => undefined);
  if (!mayReplace && present !== undefined) {
    throw new CliError('usage', 'DestinationExists', `${name} exists; name another, or add --replace`);
  }
  await admitFile(destination, name);
}

/**
 * @param check of the whole archive under another name, before it gets its own; what it throws leaves all as before
 * @throws {CliError} `UnknownArchiveName`, `DestinationExists`, `DestinationNotWritten`, `FileChanged`; the signal's reason
 */
export async function writeArchive(
  files: readonly ArchivedFile[],
  destination: string,
  placement: Placement,
  signal: AbortSignal,
  check: (partial: string) => Promise<void> = async () => {},
): Promise<void> {
  const format = archiveFormatOf(destination);
  if (format === undefined) {
    throw new CliError('usage', 'UnknownArchiveName', `an archive ends in ${archiveEndings}`);
  }
  const partial = await newPartialName(destination);
  try {
    await writeTo(partial, files, format, signal);
    await check(partial);
    await requireReplaceable(destination, placement);
    await rename(partial, destination);
    await syncFolder(dirname(destination));
  } catch (error) {
    await rm(partial, { force: true });
    signal.throwIfAborted();
    throw (
      fileChanged(error) ?? (error instanceof PublishableError ? error : notWritten(placement.name, error))
    );
  }
}

function fileChanged(cause: unknown): CliError | undefined {
  if (!(cause instanceof PublishableError) || cause.code !== 'FileChanged') return undefined;
  return new CliError('temporary', cause.code, cause.message, { cause });
}

async function writeTo(
  path: string,
  files: readonly ArchivedFile[],
  format: ArchiveFormat,
  signal: AbortSignal,
): Promise<void> {
  const handle = await open(path, 'wx');
  try {
    for await (const chunk of archiveBytes(files, format, signal)) await handle.writeFile(chunk);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
