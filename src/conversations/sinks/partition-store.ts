// Where partitions of Parquet are kept: files of a folder, or objects of a bucket. Owns their names, and how a partition is
// replaced. Invariant: a partition is as before or complete, so that readers see no half file.

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rename, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeFolder, syncFolder } from '#platform/runtime/folder.ts';
import type { BucketPlace } from './bucket-sink.ts';
import { writeParquet } from './parquet-file.ts';

export interface PartitionStore {
  /** As the state knows it. @param day `day=2026-11-26` */
  nameOf(day: string): string;
  has(name: string): Promise<boolean>;
  /** @returns a file with what the partition holds, until the next call; `undefined` if it does not exist */
  read(name: string): Promise<string | undefined>;
  /** @returns an empty file for what replaces the partition, for its owner alone */
  newFile(name: string): Promise<string>;
  /** @param file of `newFile`, which is gone afterwards. @returns its size */
  replace(name: string, file: string): Promise<number>;
  /** Absent is done. */
  remove(name: string): Promise<void>;
  close(): Promise<void>;
}

/** @returns the size of the new file */
export async function rewritePartition(
  store: PartitionStore,
  name: string,
  rows: AsyncIterable<Record<string, unknown>>,
): Promise<number> {
  const file = await store.newFile(name);
  try {
    await writeParquet(file, rows);
    return await store.replace(name, file);
  } catch (error) {
    await rm(file, { force: true });
    throw error;
  }
}

/** Beside a partition, while it is written. */
export const partialName = '.turns.parquet.partial';

/** @param folder created if absent */
export function folderPartitions(folder: string): PartitionStore {
  const pathOf = (name: string): string => join(folder, name);
  return {
    nameOf: (day) => `${day}/turns.parquet`,
    has: async (name) => (await sizeOf(pathOf(name))) !== undefined,
    read: async (name) => ((await sizeOf(pathOf(name))) === undefined ? undefined : pathOf(name)),
    newFile: async (name) => {
      await makeFolder(dirname(pathOf(name)), 0o700);
      // Of one run at a time, because the state has a lock.
      return await emptyFile(join(dirname(pathOf(name)), partialName));
    },
    replace: async (name, file) => {
      const path = pathOf(name);
      const opened = await open(file, 'r+');
      await opened.sync().finally(() => opened.close());
      await rename(file, path);
      await syncFolder(dirname(path));
      return (await sizeOf(path)) ?? 0;
    },
    remove: async (name) => {
      const path = pathOf(name);
      for (const one of [path, join(dirname(path), partialName)]) await rm(one, { force: true });
      // A folder with files of others stays.
      await rmdir(dirname(path)).catch(() => {});
      await syncFolder(folder);
    },
    close: async () => {},
  };
}

/** @param scratch a folder of this run alone; it is removed at the start and at the end, because it holds words of visitors */
export async function bucketPartitions(
  { bucket, prefix }: BucketPlace,
  scratch: string,
  signal: AbortSignal,
): Promise<PartitionStore> {
  // What a killed run left.
  const removeScratch = (): Promise<void> => rm(scratch, { recursive: true, force: true });
  await removeScratch();
  await makeFolder(scratch, 0o700);
  return {
    nameOf: (day) => [...(prefix === '' ? [] : [prefix]), day, 'turns.parquet'].join('/'),
    has: async (key) => (await bucket.head(key, signal)) !== undefined,
    read: async (key) => {
      const pieces = await bucket.get(key, signal);
      if (pieces === undefined) return undefined;
      const path = await emptyFile(join(scratch, 'stored.parquet'));
      const file = await open(path, 'r+');
      try {
        for await (const piece of pieces) await file.appendFile(piece);
      } finally {
        await file.close();
      }
      return path;
    },
    newFile: () => emptyFile(join(scratch, 'new.parquet')),
    replace: async (key, path) => {
      const size = (await sizeOf(path)) ?? 0;
      const hash = createHash('sha256');
      for await (const piece of createReadStream(path)) hash.update(piece);
      const sha256 = hash.digest('hex');
      const contentType = 'application/vnd.apache.parquet';
      const object = { key, size, sha256, contentType, open: () => createReadStream(path), replaces: true };
      await bucket.put(object, signal);
      await rm(path, { force: true });
      return size;
    },
    remove: (key) => bucket.delete(key, signal),
    close: async () => {
      await removeScratch();
      await bucket.close();
    },
  };
}

async function emptyFile(path: string): Promise<string> {
  await rm(path, { force: true });
  await (await open(path, 'wx', 0o600)).close();
  return path;
}

const sizeOf = (path: string): Promise<number | undefined> =>
  stat(path).then(
    ({ size }) => size,
    () => undefined,
  );
