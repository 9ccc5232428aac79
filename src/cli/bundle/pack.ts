// `bundle pack`: a folder, or the checked content of an archive, as an archive. What was written is read back by a
// server's rules before it gets its name. Invariant: an archive that servers would reject replaces nothing.

import { realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import type { ArchivedFile } from '#bundle/archive/archive-writer.ts';
import { packedFiles } from '#bundle/archive/packed-files.ts';
import type { BundleIndex } from '#bundle/bundle-index.ts';
import { printable } from '#platform/wire/printable-text.ts';
import { CliError } from '../cli-error.ts';
import type { CliContext } from '../context.ts';
import { sizeWords } from '../output/amounts.ts';
import { isUnfinished, namedPath } from '../output/destination.ts';
import { requireNewArchive, writeArchive } from './archive-file.ts';
import type { ArchiveAnswer } from './documents.ts';
import { filesOf, sourceUnreadable } from './folder-files.ts';
import { contentFields, contentLines, contentWarnings, warningLines } from './inspect.ts';
import { isLink, linkAsPath, readIndex, type SizeLimits, withArchive } from './reading.ts';

interface PackValues extends SizeLimits {
  readonly replace: boolean;
}

export async function packBundle(
  values: PackValues,
  [source = '', destination = '']: readonly string[],
  context: CliContext,
): Promise<ArchiveAnswer<'PackedArchive'>> {
  const { progress, signal } = context;
  await requireNewArchive(destination, values.replace, 'ARCHIVE');
  const name = namedPath('ARCHIVE', destination);
  const checked: BundleIndex[] = [];
  const write = async (files: readonly ArchivedFile[]): Promise<void> => {
    progress.phase('Writing the archive');
    const mayReplace = async (): Promise<boolean> => values.replace;
    const placement = { name, owner: 'bundle pack', mayReplace, replaceFlag: '--replace' };
    await writeArchive(withProgress(files, progress), destination, placement, signal, async (partial) => {
      checked.push(await readIndex(partial, values, context));
    });
  };
  const stats = await stat(source).catch((cause: unknown) => {
    throw isLink(source) ? linkAsPath() : sourceUnreadable(cause);
  });
  if (stats.isDirectory()) {
    progress.phase('Reading the folder');
    await requireOutside(source, destination);
    const files = await filesOf(source, (path) => isUnfinished(basename(path)));
    if (files.length === 0) {
      throw new CliError('usage', 'FolderEmpty', 'SOURCE is a folder without files; check its path');
    }
    await write(files);
  } else {
    await withArchive(source, values, context, (bundle) => write(packedFiles(bundle)));
  }
  const [index] = checked;
  if (index === undefined) throw new Error('the archive was written without a check');
  return {
    outcome: 'done',
    kind: 'PackedArchive',
    fields: { ...contentFields(index), path: destination },
    lines: [`Written: ${printable(destination)}`, ...contentLines(index), ...warningLines(index)],
    findings: contentWarnings(index),
  };
}

/** An archive in the folder would be a part of the next one, and of the site. */
async function requireOutside(source: string, destination: string): Promise<void> {
  const [folder, parent] = await Promise.all([
    realpath(source),
    realpath(dirname(destination)).catch(() => resolve(dirname(destination))),
  ]);
  const within = relative(folder, parent);
  if (isAbsolute(within) || within === '..' || within.startsWith(`..${sep}`)) return;
  const message = 'ARCHIVE is inside the folder that is packed; name a path outside of it';
  throw new CliError('usage', 'DestinationInSource', message);
}

/** The same files; how much of them is read is progress. */
export function withProgress(
  files: readonly ArchivedFile[],
  progress: CliContext['progress'],
): readonly ArchivedFile[] {
  const total = files.reduce((sum, { size }) => sum + size, 0);
  let written = 0;
  return files.map((file) => ({
    ...file,
    read: async function* () {
      for await (const piece of file.read()) {
        yield piece;
        written += piece.length;
        progress.advance((100 * written) / total, `${sizeWords(written)} of ${sizeWords(total)}`);
      }
    },
  }));
}
