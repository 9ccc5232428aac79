// Makes folders that a user named, and makes the names in a folder durable. Refuses Node's own recursive mkdir, which
// retries forever where the system denies a name but not its parent, as /proc does. The program would hang without an
// error.

import { lstat, mkdir, open, stat } from 'node:fs/promises';
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
    if (!isNoSuchFile(error)) throw error;
    const parent = dirname(path);
    if (!(await isFolder(parent))) await makeFolder(parent, mode);
    // Once more also where the parent exists: another caller may have made it since.
    await mkdir(path, { mode }).catch(async (again: unknown) => {
      if (!(await isFolder(path))) throw again;
    });
  }
}

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );

const isNoSuchFile = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT';

/** A symbolic link is there, also where it leads nowhere. */
export const isThere = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );

/** Makes the names in a folder durable, as after a rename. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync().catch(passUnsupported);
  } finally {
    await folder.close();
  }
}

/** Some network file systems cannot sync a folder; they have no better way to be asked. */
function passUnsupported(error: unknown): void {
  const isUnsupported =
    error instanceof Error && 'code' in error && (error.code === 'EINVAL' || error.code === 'ENOTSUP');
  if (!isUnsupported) throw error;
}
