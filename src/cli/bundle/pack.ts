// `bundle pack`: a folder, or the checked content of an archive, as an archive. Symbolic links are followed, as a server
// never sees one; a device, a pipe or a socket is refused.

import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { ArchivedFile } from '../../bundle/archive/archive-writer.ts';
import type { StoredBundle } from '../../bundle/store/stored-bundle.ts';
import { publishableCode } from '../../wire/publishable-error.ts';
import { CliError } from '../cli-error.ts';
import type { CliContext, CommandResult } from '../context.ts';
import { isArchiveName, writeArchive } from './archive-file.ts';
import { summaryFields } from './inspect.ts';
import { readIndex, type SizeLimits, sizeWords, withArchive } from './reading.ts';

interface PackValues extends SizeLimits {
  readonly replace: boolean;
}

export async function packBundle(
  values: PackValues,
  [source = '', destination = '']: readonly string[],
  context: CliContext,
): Promise<CommandResult> {
  const { progress, signal } = context;
  if (!isArchiveName(destination)) {
    throw new CliError('usage', 'UnknownArchiveName', 'ARCHIVE must end in .tar, .tar.gz, .tgz or .tar.zst');
  }
  if (!values.replace && (await exists(destination))) {
    throw new CliError('usage', 'DestinationExists', 'ARCHIVE exists; name another, or add --replace');
  }
  const isFolder = (await statSource(source)).isDirectory();
  const write = async (files: readonly ArchivedFile[]): Promise<void> => {
    progress.phase('Writing the archive');
    // A folder that holds the archive does not pack it into itself.
    const others = files.filter((file) => !isFolder || resolve(source, file.path) !== resolve(destination));
    const placement = { owner: context.random.uuid(), mayReplace: values.replace };
    await writeArchive(others, destination, placement, signal);
  };
  if (isFolder) await write(await filesOf(source));
  else await withArchive(source, values, context, (bundle) => write(packedFiles(bundle)));
  // The archive is read again by a server's rules, so that an archive that servers reject is not published.
  const index = await readIndex(destination, values, context);
  return {
    outcome: 'done',
    kind: 'PackedArchive',
    fields: { ...summaryFields(index), path: destination },
    lines: [
      `Packed ${index.files.length} files (${sizeWords(index.sizeBytes)}) with ${index.pages} pages.`,
      `Digest: ${index.digest}`,
    ],
  };
}

const pieceBytes = 1024 * 1024;

/** All files of a bundle, those included that a server does not show: only so the digest stays the same. */
export function packedFiles(bundle: StoredBundle): readonly ArchivedFile[] {
  return bundle.index.files.map(({ path, offset, size }) => ({
    path,
    size,
    read: async function* () {
      for (let at = 0; at < size; at += pieceBytes) {
        const piece = Buffer.allocUnsafe(Math.min(pieceBytes, size - at));
        await bundle.readInto({ offset: offset + at, size: piece.length }, piece);
        yield piece;
      }
    },
  }));
}

async function filesOf(folder: string): Promise<readonly ArchivedFile[]> {
  const names = await readdir(folder, { recursive: true });
  const found = await Promise.all(
    names.map(async (name): Promise<readonly ArchivedFile[]> => {
      const path = join(folder, name);
      const stats = await statSource(path);
      if (stats.isDirectory()) return [];
      if (!stats.isFile()) {
        throw new CliError(
          'usage',
          'SpecialFile',
          'the folder holds a device, a pipe or a socket; remove it',
        );
      }
      return [{ path: name, size: stats.size, read: () => createReadStream(path) }];
    }),
  );
  return found.flat();
}

async function statSource(path: string) {
  try {
    return await stat(path);
  } catch (cause) {
    const message = `SOURCE cannot be read (${publishableCode(cause)}); check its path and permissions`;
    throw new CliError('usage', 'SourceUnreadable', message, { cause });
  }
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
