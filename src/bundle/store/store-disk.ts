// The file operations that the store's guarantees depend on, as a value: a test may stop between any two of them.
// Invariant of every write here: the file is synced before it is named, and its folder is synced after.

import { open, readdir, readFile, rename, rm, statfs } from 'node:fs/promises';
import { makeFolder, syncFolder } from '#platform/runtime/folder.ts';

export interface ReadableFile {
  stat(): Promise<{ readonly size: number }>;
  read(
    into: Buffer,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ readonly bytesRead: number }>;
  close(): Promise<void>;
}

export interface StoreDisk {
  /** With its parents; fine if it exists. */
  makeFolder(path: string): Promise<void>;
  /** Names in a folder; empty if there is none. */
  list(path: string): Promise<readonly string[]>;
  /** `undefined` if there is none. */
  readText(path: string): Promise<string | undefined>;
  /** For reading. @throws where there is none too */
  openFile(path: string): Promise<ReadableFile>;
  /** Makes or truncates the file, and syncs it. */
  writeText(path: string, text: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  /** Makes the names in a folder durable. */
  syncFolder(path: string): Promise<void>;
  /** Of a file or a folder; fine if there is none. */
  remove(path: string): Promise<void>;
}

export const systemDisk: StoreDisk = {
  makeFolder: (path) => makeFolder(path),
  list: async (path) => (await unlessMissing(readdir(path))) ?? [],
  readText: (path) => unlessMissing(readFile(path, 'utf8')),
  openFile: (path) => open(path, 'r'),
  writeText: async (path, text) => {
    const file = await open(path, 'w');
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
  },
  rename,
  syncFolder,
  remove: (path) => rm(path, { recursive: true, force: true }),
};

/** What may still be written where this folder lies; `undefined` where the file system knows no limit, or will not say. */
export async function freeBytesOf(folder: string): Promise<number | undefined> {
  try {
    const { blocks, bavail, bsize } = await statfs(folder);
    return blocks === 0 ? undefined : bavail * bsize;
  } catch {
    return undefined;
  }
}

/** For what must not hide the error that led here; a leftover goes at the next start. */
export async function removeQuietly(path: string): Promise<void> {
  await systemDisk.remove(path).catch(() => {});
}

async function unlessMissing<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR'))
      return undefined;
    throw error;
  }
}
