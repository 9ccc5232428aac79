// The machine-wide kernel settings that a kubelet changes for its own reasons. There is no namespace for them, so they are
// read before and put back after, from a file when the one who read them is gone. Invariant: where several clusters run at
// once, each folder keeps what was set before the first of them, and only the last one puts it back.

import { existsSync } from 'node:fs';
import { copyFile, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { whileLocked } from '../file-lock.ts';

const fileName = 'kernel-settings.json';
const lockFile = join(tmpdir(), 'static-export-kernel-settings.lock');
const settings = [
  'vm/overcommit_memory',
  'vm/panic_on_oom',
  'kernel/panic',
  'kernel/panic_on_oops',
  'kernel/keys/root_maxkeys',
  'kernel/keys/root_maxbytes',
];

export type KernelSettings = ReadonlyMap<string, string>;

export async function readKernelSettings(): Promise<KernelSettings> {
  const values = settings.map(async (name) => [name, (await readFile(pathOf(name), 'utf8')).trim()] as const);
  return new Map(await Promise.all(values));
}

/**
 * Keeps the settings in `folder`, for {@link restoreKernelSettings}: those of before its neighbour, where there is one.
 * @param prefix of the names of folders beside it that may keep them too
 */
export async function keepKernelSettings(folder: string, prefix: string): Promise<void> {
  const kept = join(folder, fileName);
  await whileLocked(
    lockFile,
    async () => {
      const [neighbour] = await findKept(prefix);
      if (neighbour !== undefined) await copyFile(neighbour, kept);
      else await writeFile(kept, JSON.stringify([...(await readKernelSettings())]));
    },
    () => {},
  );
}

/** Puts back what the folder keeps, if it keeps any and no folder beside it does. @param prefix as before */
export async function restoreKernelSettings(folder: string, prefix: string): Promise<void> {
  const kept = join(folder, fileName);
  await whileLocked(
    lockFile,
    async () => {
      if (!existsSync(kept)) return;
      const saved: [string, string][] = JSON.parse(await readFile(kept, 'utf8'));
      await rm(kept);
      if ((await findKept(prefix)).length > 0) return;
      const now = await readKernelSettings();
      for (const [name, value] of saved) {
        if (settings.includes(name) && now.get(name) !== value) await writeFile(pathOf(name), value);
      }
    },
    () => {},
  );
}

async function findKept(prefix: string): Promise<readonly string[]> {
  const names = (await readdir(tmpdir())).filter((name) => name.startsWith(prefix));
  return names.map((name) => join(tmpdir(), name, fileName)).filter((file) => existsSync(file));
}

function pathOf(name: string): string {
  return `/proc/sys/${name}`;
}
