// The machine-wide kernel settings that a kubelet changes for its own reasons. There is no namespace for them,
// so they are read before and put back after, from a file when the one who read them is gone.

import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const fileName = 'kernel-settings.json';
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

export async function restoreKernelSettings(before: KernelSettings): Promise<void> {
  const now = await readKernelSettings();
  for (const [name, value] of before) {
    if (now.get(name) !== value) await writeFile(pathOf(name), value);
  }
}

/** Keeps what was read in `folder`, for {@link restoreKernelSettingsFrom}. */
export async function saveKernelSettings(folder: string, read: KernelSettings): Promise<void> {
  await writeFile(join(folder, fileName), JSON.stringify([...read]));
}

/** Puts back what the folder keeps, if it keeps any. */
export async function restoreKernelSettingsFrom(folder: string): Promise<void> {
  const file = join(folder, fileName);
  if (!existsSync(file)) return;
  const saved: [string, string][] = JSON.parse(await readFile(file, 'utf8'));
  await restoreKernelSettings(new Map(saved.filter(([name]) => settings.includes(name))));
}

function pathOf(name: string): string {
  return `/proc/sys/${name}`;
}
