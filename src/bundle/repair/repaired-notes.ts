// What an inspection notes of a repaired site: the notes of its archive, with those about the list of files found again. Pure.
// Invariant: a defect that a rule removed is not noted, and so holds no export.

import type { BundleFile, BundleIndex, BundleNote } from '../bundle-index.ts';
import { notesOfContent } from '../store/content-notes.ts';

const ofContent: ReadonlySet<string> = new Set(['HomePageMissing', 'NotServed']);

/**
 * @param before the archive that was repaired
 * @param files of the repaired site, sorted by path
 */
export function notesAfterRepair(
  { files: sources, notes }: Pick<BundleIndex, 'files' | 'notes'>,
  files: readonly BundleFile[],
): readonly BundleNote[] {
  const paths = new Set(files.map(({ path }) => path));
  // Which hidden files pages link to is known of the archive alone, and only while no path changes.
  const isSamePaths = paths.size === sources.length && sources.every(({ path }) => paths.has(path));
  const found = isSamePaths ? notes.filter(({ code }) => ofContent.has(code)) : notesOfContent(files);
  return [...notes.filter(({ code }) => !ofContent.has(code)), ...found].sort((a, b) =>
    a.code < b.code ? -1 : 1,
  );
}
