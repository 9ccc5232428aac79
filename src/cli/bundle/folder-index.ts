// The index of an archive, or of a folder as if it were packed: by the same reader, so that one content has one digest. Owns
// the temporary archive of a folder. Invariant: nothing of it stays, however the command ends.

import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { BundleIndex } from '#bundle/bundle-index.ts';
import type { CliContext } from '../context.ts';
import { isUnfinished } from '../output/destination.ts';
import { writeArchive } from './archive-file.ts';
import { filesOf } from './folder-files.ts';
import { readIndex, type SizeLimits } from './reading.ts';

export interface FoundIndex {
  readonly index: BundleIndex;
  readonly isFolder: boolean;
}

/**
 * @param phase as progress names it
 * @throws {PublishableError} {CliError} of an archive; of a folder `SourceUnreadable`, `LinkLeavesFolder`, `SpecialFile`
 */
export async function readFolderOrArchive(
  path: string,
  sizes: SizeLimits,
  context: CliContext,
  phase: string,
): Promise<FoundIndex> {
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isFolder) return { index: await readIndex(path, sizes, context, phase), isFolder };
  context.progress.phase(phase);
  const files = await filesOf(path, (file) => isUnfinished(basename(file)));
  const folder = await mkdtemp(join(tmpdir(), 'static-export-folder-'));
  try {
    const archive = join(folder, 'folder.tar');
    const placement = { name: phase, owner: 'folder', mayReplace: async () => false };
    await writeArchive(files, archive, placement, context.signal);
    return { index: await readIndex(archive, sizes, context, phase), isFolder };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
