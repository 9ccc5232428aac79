// Where built and unpacked tools live: the user's cache folder, outside the checkout, so that a fresh clone on the same
// machine starts at once. One process fills a folder; others wait for it and show its progress, and go on by themselves
// where it is killed. Invariant: what stands under its final name is whole (temp + rename).

import { readFileSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { whileLocked } from './file-lock.ts';

export function cacheRoot(): string {
  return join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'static-export-operator');
}

/** Shows a line to the person who waits, and to those who wait in other processes. */
export type ShowProgress = (line: string) => void;

export const showLine: ShowProgress = (line) => void process.stderr.write(`${line}\n`);

/**
 * The folder `name` of the cache, made by `fill` if it is not there yet.
 * @param show gets what `fill` reports
 * @param showOfOther gets what it reports in the process that is waited for
 */
export async function cachedFolder(
  name: string,
  fill: (emptyFolder: string, onProgress: ShowProgress) => Promise<void>,
  show: ShowProgress = showLine,
  showOfOther: ShowProgress = show,
): Promise<string> {
  const target = join(cacheRoot(), name);
  if (await isThere(target)) return target;
  await mkdir(dirname(target), { recursive: true });
  const progress = `${target}.progress`;
  let shown = '';
  const showWait = (): void => {
    const line = readProgress(progress);
    if (line !== shown) showOfOther(line);
    shown = line;
  };
  return whileLocked(
    `${target}.lock`,
    async () => {
      if (await isThere(target)) return target;
      await removeDrafts(target);
      const draft = await mkdtemp(`${target}.draft-`);
      try {
        await fill(draft, (line) => {
          show(line);
          writeFileSync(progress, line);
        });
        await rename(draft, target);
      } finally {
        await rm(draft, { recursive: true, force: true });
        await rm(progress, { force: true });
      }
      return target;
    },
    showWait,
  );
}

/** Of processes that were killed: whoever holds the lock is alone. */
async function removeDrafts(target: string): Promise<void> {
  const drafts = (await readdir(dirname(target))).filter((name) =>
    name.startsWith(`${basename(target)}.draft-`),
  );
  // A child of the killed process may still write: what cannot be removed now goes with the next one.
  for (const name of drafts)
    await rm(join(dirname(target), name), { recursive: true, force: true, maxRetries: 5 }).catch(() => {});
}

function readProgress(file: string): string {
  try {
    return `Waiting for another process: ${readFileSync(file, 'utf8')}`;
  } catch {
    return `Waiting for another process, which prepares ${basename(file, '.progress')}.`;
  }
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
