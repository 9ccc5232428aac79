// How many exports an export service was ever asked to start, read from outside while it runs. The service locks its
// database, so a copy is read. Invariant: the copy is of one moment. It is repeated if a file changed between its
// first and its last byte.

import { copyFile, mkdtemp, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { eventuallyInCluster } from '../support/eventually.ts';

const files = ['state.sqlite', 'state.sqlite-wal'] as const;

/** @param folder the service's data */
export async function countJobs(folder: string): Promise<number> {
  const copy = await mkdtemp(`${folder}-copy-`);
  try {
    await eventuallyInCluster('a copy of the jobs of one moment', () => copyUnchanged(folder, copy));
    return readCount(join(copy, files[0]));
  } finally {
    await rm(copy, { recursive: true });
  }
}

async function copyUnchanged(from: string, to: string): Promise<true | undefined> {
  const before = await stateOf(from);
  for (const name of files) {
    // A service that ended in order leaves no write-ahead log; one of an earlier attempt must not be used.
    await rm(join(to, name), { force: true });
    if (before.has(name)) await copyFile(join(from, name), join(to, name));
  }
  const after = await stateOf(from);
  return JSON.stringify([...after]) === JSON.stringify([...before]) ? true : undefined;
}

/** The properties of each existing file that any write changes. */
async function stateOf(folder: string): Promise<ReadonlyMap<string, string>> {
  const states = files.map(async (name) => {
    const found = await stat(join(folder, name), { bigint: true }).catch(() => undefined);
    return found === undefined ? [] : [[name, `${found.ino} ${found.size} ${found.mtimeNs}`] as const];
  });
  return new Map((await Promise.all(states)).flat());
}

// Numbers are never reused, so the last one is the count, including removed jobs.
function readCount(file: string): number {
  const database = new DatabaseSync(file);
  try {
    const last = database.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'jobs'").get();
    return Number(last?.['seq'] ?? 0);
  } finally {
    database.close();
  }
}
