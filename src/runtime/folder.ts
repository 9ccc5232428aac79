// Makes folders that a user named. Refuses Node's own recursive mkdir: where the system denies a name and not its
// parent (/proc does), that one tries for ever, and the program hangs instead of saying so.

import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * With its parents; fine if it exists. `mode` is for those that were made.
 * @throws the system's own error, soon, whatever the path
 */
export async function makeFolder(path: string, mode = 0o777): Promise<void> {
  try {
    await mkdir(path, { mode });
  } catch (error) {
    if (await isFolder(path)) return;
    const parent = dirname(path);
    if (!isNoSuchFile(error) || (await isFolder(parent))) throw error;
    await makeFolder(parent, mode);
    await makeFolder(path, mode);
  }
}

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );

const isNoSuchFile = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT';
