// An archive that is made of another one, with its digest known before it is written. What was written is read back by a server's
// rules before it gets its name. Invariant: an archive that servers would reject, or that is not the planned one, replaces nothing.

import { join } from 'node:path';
import { packedFiles } from '#bundle/archive/packed-files.ts';
import type { BundleIndex } from '#bundle/bundle-index.ts';
import { openPack } from '#bundle/store/stored-bundle.ts';
import type { CliContext } from '../context.ts';
import { namedPath } from '../output/destination.ts';
import { writeArchive } from './archive-file.ts';
import { withProgress } from './pack.ts';
import { readIndex, type SizeLimits, type UnpackedArchive } from './reading.ts';

interface WriteValues extends SizeLimits {
  readonly replace: boolean;
}

/** Names a file in the work folder of an archive, for the pack that the thread writes. */
export const remadePackPath = ({ workFolder }: UnpackedArchive): string => join(workFolder, 'remade');

/**
 * Writes what a thread made of an archive.
 *
 * @param packPath of its content
 * @param owner the command, as a temporary file names it
 * @returns what a server reads in the archive
 */
export async function writeRemadeArchive(
  packPath: string,
  index: BundleIndex,
  destination: string,
  owner: string,
  values: WriteValues,
  context: CliContext,
): Promise<BundleIndex> {
  const { progress, signal } = context;
  const checked: BundleIndex[] = [];
  const placement = {
    name: namedPath('--to', destination),
    owner,
    mayReplace: async () => values.replace,
    replaceFlag: '--replace',
  };
  progress.phase('Writing the archive');
  const pack = await openPack(packPath, index, undefined);
  try {
    const files = withProgress(packedFiles(pack), progress);
    await writeArchive(files, destination, placement, signal, async (partial) => {
      const written = await readIndex(partial, values, context);
      if (written.digest !== index.digest) throw new Error('the archive was written with another content');
      checked.push(written);
    });
  } finally {
    await pack.close();
  }
  const [written] = checked;
  if (written === undefined) throw new Error('the archive was written without a check');
  return written;
}
