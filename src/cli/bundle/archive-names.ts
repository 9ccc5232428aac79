// Which archives this program writes, by the ending of a name: the one list for flags, messages and checks. Refuses to load
// what writes them, because `--help` of any command would load it too.

import type { ArchiveFormat } from '#bundle/archive/archive-writer.ts';

const endings = {
  '.tar': 'tar',
  '.tar.gz': 'tar.gz',
  '.tgz': 'tar.gz',
  '.tar.zst': 'tar.zst',
} as const satisfies Readonly<Record<string, ArchiveFormat>>;

/** For a sentence: `.tar, .tar.gz, .tgz or .tar.zst`. */
export const archiveEndings: string = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(
  Object.keys(endings),
);

/** @returns `undefined` for a name of another kind, such as of a folder */
export function archiveFormatOf(path: string): ArchiveFormat | undefined {
  return Object.entries(endings).find(([ending]) => path.endsWith(ending))?.[1];
}

export const isArchiveName = (path: string): boolean => archiveFormatOf(path) !== undefined;
