// Imports one bundle as a folder that any web server can serve, without the files that a server must not show. Refuses to
// replace a folder, unless told.

import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { removeQuietly } from '#bundle/store/store-disk.ts';
import { packName } from '#bundle/store/store-layout.ts';
import { openPack } from '#bundle/store/stored-bundle.ts';
import { isThere } from '#platform/runtime/folder.ts';
import { CliError } from '../cli-error.ts';
import { namedPath } from '../output/destination.ts';
import { placeBundle } from '../publish/site-writer.ts';
import type { ImportContext, ImportTarget } from './import-target.ts';
import { stageBundle } from './stage.ts';

export function folderTarget(
  to: string,
  replace: boolean,
  { context, limits, blobs }: ImportContext,
): ImportTarget {
  const path = resolve(to);
  const name = namedPath('--to-folder', to);
  const mayReplace = async (): Promise<boolean> => replace || (await isEmptyFolder(path));
  return {
    // Not in the folder: a server would show it, and the next import replaces the folder.
    statePath: join(dirname(path), `.${basename(path)}.kit-imports.json`),
    prepare: async () => {
      if (!(await isThere(path)) || (await mayReplace())) return;
      throw new CliError('usage', 'DestinationExists', `${name} exists; name another path, or add --replace`);
    },
    findBase: async () => undefined,
    stage: async (bundle, base) => {
      const { random, signal } = context;
      const workDir = join(tmpdir(), `static-export-${random.uuid()}`);
      const discard = (): Promise<void> => removeQuietly(workDir);
      try {
        const options = { limits, base, keepsHiddenFiles: false, onProgress: () => {} };
        const staged = await stageBundle(bundle, blobs(), workDir, options, signal);
        const placement = { name, owner: 'kit import', mayReplace, replaceFlag: '--replace' };
        const place = async () => {
          const opened = await openPack(join(staged.folder, packName), staged.index, undefined);
          try {
            await placeBundle(opened, path, placement, signal);
          } finally {
            await opened.close();
          }
          return { path: to };
        };
        return { place, discard };
      } catch (error) {
        await discard();
        throw error;
      }
    },
    close: async () => {},
  };
}

const isEmptyFolder = (path: string): Promise<boolean> =>
  readdir(path).then(
    (names) => names.length === 0,
    () => false,
  );
