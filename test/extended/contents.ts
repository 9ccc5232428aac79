// The contents of folders as hashes, and those of each group's last green run. The hash of a folder depends on the names and
// bytes of its files alone, so that it is the same in every clone.

import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { z } from 'zod';

const root = resolve(import.meta.dirname, '../..');
const recordFile = join(import.meta.dirname, 'green.json');
const recordSchema = z.record(z.string(), z.record(z.string(), z.string()));

export type Contents = Readonly<Record<string, string>>;
export type Records = Readonly<Record<string, Contents>>;

/**
 * Works without git, as in an unpacked archive of the sources.
 * @param paths of files and folders, relative to the repository
 * @throws Error where a path holds no file
 */
export function contentsOf(paths: readonly string[]): Contents {
  return Object.fromEntries(paths.map((path) => [path, hashOf(path)]));
}

function hashOf(path: string): string {
  const files = filesIn(path);
  if (files.length === 0) throw new Error(`${path} holds no file; correct test/extended/groups.ts`);
  const hash = createHash('sha256');
  for (const file of files) {
    const full = join(root, file);
    const bytes = lstatSync(full).isSymbolicLink() ? readlinkSync(full) : readFileSync(full);
    hash.update(`${file}\0${bytes.length}\0`).update(bytes);
  }
  return hash.digest('hex').slice(0, 16);
}

/** By name. */
function filesIn(path: string): readonly string[] {
  const found = lstatSync(join(root, path), { throwIfNoEntry: false });
  if (found === undefined || basename(path) === 'node_modules') return [];
  if (!found.isDirectory()) return [path];
  const names = readdirSync(join(root, path)).sort();
  return names.flatMap((name) => filesIn(`${path}/${name}`));
}

export const readRecords = (): Records => recordSchema.parse(JSON.parse(readFileSync(recordFile, 'utf8')));

export function writeRecord(group: string, contents: Contents): void {
  const records = Object.entries({ ...readRecords(), [group]: contents }).sort(([one], [other]) =>
    one < other ? -1 : 1,
  );
  writeFileSync(recordFile, `${JSON.stringify(Object.fromEntries(records), null, 2)}\n`);
}

/** Of a value, under a name that no file has. */
export const contentsOfValue = (name: string, value: unknown): Contents => ({
  [name]: createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16),
});

/** The paths whose contents differ from those of the last green run; all of them where there was none. */
export function changedSince(record: Contents | undefined, now: Contents): readonly string[] {
  return Object.keys(now).filter((path) => record?.[path] !== now[path]);
}
