// What a runner that was killed outright could not clear away: its folders and its control groups. All carry the
// runner's process id in their name, so the next start can tell what has no owner any more, and removes that only.

import { existsSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listCgroups, removeCgroups } from './cgroup-tree.ts';
import { restoreKernelSettings } from './kernel-settings.ts';

/** Of every name that nodes and images leave on the machine. */
export const nodePrefix = 'static-export-node-';

/** The start of every name that nodes and images of this process leave on the machine. */
export function ownPrefix(): string {
  return `${nodePrefix}${process.pid}-`;
}

/** Everything on this machine that belongs to a node of process `pid`; of any process without it. */
export async function findRemains(pid?: number): Promise<readonly string[]> {
  const wanted = pid === undefined ? nodePrefix : `${nodePrefix}${pid}-`;
  const folders = (await readdir(tmpdir())).filter((name) => name.startsWith(wanted));
  return [...folders.map((name) => join(tmpdir(), name)), ...(await listCgroups(wanted))];
}

/** Clears away what has no owner any more. */
export async function sweepRemains(): Promise<void> {
  for (const found of await findRemains()) {
    const name = found.slice(found.indexOf(nodePrefix));
    const owner = name.slice(nodePrefix.length).split('-')[0] ?? '';
    if (owner === '' || existsSync(`/proc/${owner}`)) continue;
    if (found === name) {
      await removeCgroups(name);
    } else {
      await restoreKernelSettings(found, nodePrefix);
      await rm(found, { recursive: true, force: true });
    }
  }
}
