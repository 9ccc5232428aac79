// A control-group subtree of our own, in every hierarchy of the machine (v1) or in the one there is (v2), so that
// the kubelets here never touch the pods of another, and what is left after them can be removed by name.

import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventuallyInCluster } from '../eventually.ts';

const mountPoint = '/sys/fs/cgroup';
const isUnified = existsSync(join(mountPoint, 'cgroup.controllers'));

export interface ContainerMemory {
  readonly usageBytes: number;
  /** What cannot be given back without swap: the resident memory of its processes. */
  readonly rssBytes: number;
  /** Usage without the file pages that go first: what the kubelet judges by. */
  readonly workingSetBytes: number;
  readonly peakBytes: number;
  /** How often the kernel ended a process of it for want of memory. */
  readonly oomKills: number;
  /** `undefined` without a limit. */
  readonly limitBytes: number | undefined;
}

/** Makes `/<path>` in every hierarchy. */
export async function createCgroups(path: string): Promise<void> {
  for (const root of await hierarchies()) {
    let folder = root;
    for (const part of path.split('/')) {
      if (isUnified) await delegate(folder);
      folder = join(folder, part);
      await mkdir(folder, { recursive: true });
      if (root.endsWith('/cpuset')) await inheritCpus(folder);
    }
  }
}

/** Removes `/<path>` and everything below. Its processes must be gone or going. */
export async function removeCgroups(path: string): Promise<void> {
  for (const root of await hierarchies()) {
    const folder = join(root, path);
    // A runtime that was killed with much to give back takes its time on a busy machine.
    await eventuallyInCluster(`${folder} empty`, () => removeTree(folder).then(() => true));
  }
}

/** Names of the subtrees below the root that start with `prefix`, in any hierarchy. */
export async function listCgroups(prefix: string): Promise<readonly string[]> {
  const names = await Promise.all((await hierarchies()).map((root) => readdir(root)));
  return [...new Set(names.flat().filter((name) => name.startsWith(prefix)))];
}

/** The processes of a group (not of those below), as this machine numbers them. */
export async function readProcesses(path: string): Promise<readonly number[]> {
  const text = await readFile(join(memoryRoot(), path, 'cgroup.procs'), 'utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map(Number);
}

/** The path of the group whose name is `name`, somewhere below `path`. */
export async function findCgroup(path: string, name: string): Promise<string | undefined> {
  for (const group of await listGroups(join(memoryRoot(), path))) {
    const below = `${path}/${group}`;
    const found = group === name ? below : await findCgroup(below, name);
    if (found !== undefined) return found;
  }
  return undefined;
}

export async function readMemory(path: string): Promise<ContainerMemory> {
  const folder = join(memoryRoot(), path);
  const read = async (name: string): Promise<string> => (await readFile(join(folder, name), 'utf8')).trim();
  const names = isUnified
    ? {
        usage: 'memory.current',
        peak: 'memory.peak',
        limit: 'memory.max',
        rss: 'anon',
        cold: 'inactive_file',
        ends: 'memory.events',
      }
    : {
        usage: 'memory.usage_in_bytes',
        peak: 'memory.max_usage_in_bytes',
        limit: 'memory.limit_in_bytes',
        rss: 'total_rss',
        cold: 'total_inactive_file',
        ends: 'memory.oom_control',
      };
  const table = async (name: string): Promise<ReadonlyMap<string, number>> =>
    new Map((await read(name)).split('\n').map((line) => pair(line.split(' '))));
  const stat = await table('memory.stat');
  const usageBytes = Number(await read(names.usage));
  const limit = Number(await read(names.limit));
  return {
    usageBytes,
    rssBytes: stat.get(names.rss) ?? 0,
    workingSetBytes: Math.max(0, usageBytes - (stat.get(names.cold) ?? 0)),
    peakBytes: Number(await read(names.peak)),
    oomKills: (await table(names.ends)).get('oom_kill') ?? 0,
    // v1 says "no limit" with a number near 2^63, v2 with a word.
    limitBytes: limit < Number.MAX_SAFE_INTEGER ? limit : undefined,
  };
}

/** Why no memory of a group can be limited on this machine, `false` when it can. */
export function memoryCgroupIsMissing(): string | false {
  if (process.platform !== 'linux') return 'memory cgroups are of Linux; run it there';
  if (process.getuid?.() !== 0) return 'making a memory cgroup needs root; run it as root';
  const controllers = isUnified
    ? readFileSync(join(mountPoint, 'cgroup.controllers'), 'utf8').split(/\s+/)
    : existsSync(join(mountPoint, 'memory'))
      ? ['memory']
      : [];
  return controllers.includes('memory') ? false : 'this machine has no memory controller for cgroups';
}

/**
 * Limits the memory of a group that was made, and lets its sockets be counted.
 *
 * @returns the folder whose `cgroup.procs` takes a process in
 */
export async function limitMemory(path: string, bytes: number): Promise<string> {
  const folder = join(memoryRoot(), path);
  await writeFile(join(folder, isUnified ? 'memory.max' : 'memory.limit_in_bytes'), `${bytes}`);
  // Under v1 sockets are counted only where they have a limit of their own; this one is above every figure of interest.
  if (!isUnified) await writeFile(join(folder, 'memory.kmem.tcp.limit_in_bytes'), `${bytes * 2}`);
  return folder;
}

/** What the kernel holds in the sockets of a group; under v2 it is part of the usage, and 0 is returned here. */
export async function readSocketMemory(path: string): Promise<number> {
  if (isUnified) return 0;
  return Number(await readFile(join(memoryRoot(), path, 'memory.kmem.tcp.usage_in_bytes'), 'utf8'));
}

function pair([name = '', value = '0']: readonly string[]): readonly [string, number] {
  return [name, Number(value)];
}

async function hierarchies(): Promise<readonly string[]> {
  if (isUnified) return [mountPoint];
  const entries = await readdir(mountPoint, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map((entry) => join(mountPoint, entry.name));
}

function memoryRoot(): string {
  return isUnified ? mountPoint : join(mountPoint, 'memory');
}

async function delegate(folder: string): Promise<void> {
  await writeFile(join(folder, 'cgroup.subtree_control'), '+cpu +cpuset +memory +pids');
}

// A fresh cpuset holds no processor, and no process can enter it before it does.
async function inheritCpus(folder: string): Promise<void> {
  for (const name of ['cpuset.cpus', 'cpuset.mems']) {
    await writeFile(join(folder, name), await readFile(join(folder, '..', name), 'utf8'));
  }
}

async function removeTree(folder: string): Promise<void> {
  for (const group of await listGroups(folder)) await removeTree(join(folder, group));
  await rmdir(folder).catch(unlessGone(undefined));
}

/** Names of the groups in one. Containers end whenever they like: one that has gone holds nothing. */
async function listGroups(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(unlessGone([]));
  return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
}

function unlessGone<T>(value: T): (error: NodeJS.ErrnoException) => T {
  return (error) => {
    // The kernel says ENODEV of a group that goes while it is read.
    if (error.code === 'ENOENT' || error.code === 'ENODEV') return value;
    throw error;
  };
}
