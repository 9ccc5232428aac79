// Prometheus' own tool for rules, which evaluates them over made series. From PATH, or unpacked from Debian's package
// `prometheus` into the cache (nothing is installed, no daemon starts); where neither can be had, there is none.

import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { mustRun, runCommand } from './command.ts';
import { cachedFolder } from './tool-cache.ts';

/** @returns the path of promtool, or why there is none */
export async function findPromtool(): Promise<{ readonly path: string } | { readonly missing: string }> {
  if ((await runCommand(['promtool', '--version'])).code === 0) return { path: 'promtool' };
  if (process.platform !== 'linux') return { missing: 'promtool is not on PATH. Install promtool' };
  try {
    return { path: join(await cachedFolder('promtool', unpack), 'promtool') };
  } catch (error) {
    const why = error instanceof Error ? (error.message.split('\n')[0] ?? '') : '';
    return {
      missing: `promtool is not on PATH, and Debian's package could not be downloaded (${why}). Install promtool`,
    };
  }
}

async function unpack(folder: string): Promise<void> {
  const scratch = join(folder, 'scratch');
  await mkdir(scratch);
  await mustRun(['sh', '-c', 'cd "$1" && apt-get download -qq prometheus', 'sh', scratch], {
    timeoutMs: 600_000,
  });
  const [name = ''] = await readdir(scratch);
  await mustRun(['dpkg', '-x', join(scratch, name), join(scratch, 'files')]);
  await rename(join(scratch, 'files/usr/bin/promtool'), join(folder, 'promtool'));
  await rm(scratch, { recursive: true });
}
