// Where built and unpacked tools live: the user's cache folder, outside the checkout, so that a fresh clone
// on the same machine starts at once. Invariant: what stands under its final name is whole (temp + rename).

import { mkdir, mkdtemp, rename, rm, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

export function cacheRoot(): string {
  return join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'static-export-operator');
}

/**
 * The folder `name` of the cache, made by `fill` if it is not there yet.
 * Two processes may fill at once; the first rename wins and the other's work is dropped.
 */
export async function cachedFolder(
  name: string,
  fill: (emptyFolder: string) => Promise<void>,
): Promise<string> {
  const target = join(cacheRoot(), name);
  if (await isThere(target)) return target;
  await mkdir(dirname(target), { recursive: true });
  const draft = await mkdtemp(`${target}.draft-`);
  try {
    await fill(draft);
    await rename(draft, target).catch(async (error: unknown) => {
      if (!(await isThere(target))) throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return target;
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
