// The machine-wide kernel settings that a kubelet changes for its own reasons. There is no namespace for them,
// so they are read before and put back after.

import { readFile, writeFile } from 'node:fs/promises';

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

function pathOf(name: string): string {
  return `/proc/sys/${name}`;
}
