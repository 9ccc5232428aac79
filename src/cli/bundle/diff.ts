// `bundle diff`: the files that were added, changed and removed between two archives or folders. Exits with 1 if there are
// any, as `diff` and `kubectl diff` do. A folder lacks what servers do not show, so that does not count against an archive.

import type { BundleIndex } from '#bundle/bundle-index.ts';
import { isHiddenFile } from '#bundle/store/hidden-files.ts';
import { printable } from '#platform/wire/printable-text.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { composedForm } from '#platform/wire/unicode-form.ts';
import { CliError } from '../cli-error.ts';
import type { CliContext } from '../context.ts';
import { counted } from '../output/amounts.ts';
import { marked } from '../output/paint.ts';
import { markedLine } from '../output/screen.ts';
import type { ArchiveAnswer } from './documents.ts';
import { type FoundIndex, readFolderOrArchive } from './folder-index.ts';
import { summaryFields } from './inspect.ts';
import type { SizeLimits } from './reading.ts';

export async function diffBundles(
  values: SizeLimits,
  [oldPath = '', newPath = '']: readonly string[],
  context: CliContext,
): Promise<ArchiveAnswer<'ArchiveDiff'>> {
  const read = (argument: string, path: string): Promise<FoundIndex> =>
    readFolderOrArchive(path, values, context, `Reading ${argument}`).catch(naming(argument));
  const [old, now] = [await read('OLD', oldPath), await read('NEW', newPath)];
  const isMixed = old.isFolder !== now.isFolder;
  const shown = ({ index }: FoundIndex): BundleIndex =>
    isMixed ? { ...index, files: index.files.filter(({ path }) => !isHiddenFile(path)) } : index;
  const [before, after] = [shown(old), shown(now)];
  const { added, changed, removed } = diffFiles(before, after);
  const isSame = added.length + changed.length + removed.length === 0;
  const counts = `${added.length} added, ${changed.length} changed, ${removed.length} removed`;
  const pages = before.pages === after.pages ? `${after.pages}` : `${before.pages} → ${after.pages}`;
  return {
    outcome: isSame ? 'done' : 'no',
    kind: 'ArchiveDiff',
    fields: {
      same: isSame,
      old: summaryFields(old.index),
      new: summaryFields(now.index),
      ...{ added, changed, removed },
    },
    lines: isSame
      ? [sameWords(old, now), `Digest:  ${old.isFolder ? now.index.digest : old.index.digest}`]
      : [
          ...added.map((path) => markedLine(marked('A', 'good'), ` ${path}`)),
          ...changed.map((path) => markedLine(marked('M', 'unsure'), ` ${path}`)),
          ...removed.map((path) => markedLine(marked('D', 'bad'), ` ${path}`)),
          ...formLines(before, after),
          `${counts}. Pages: ${pages}`,
        ],
  };
}

function sameWords(old: FoundIndex, now: FoundIndex): string {
  if (old.isFolder === now.isFolder)
    return `The ${old.isFolder ? 'folders' : 'archives'} have the same content.`;
  return 'The folder has what a server shows of the archive.';
}

/** Of names that look the same on a screen: a folder that went through macOS has decomposed names (NFD). */
function formLines(before: BundleIndex, after: BundleIndex): readonly string[] {
  const known = new Set(before.files.map(({ path }) => path));
  const forms = new Set(before.files.map(({ path }) => composedForm(path)));
  const renamed = after.files.filter(({ path }) => !known.has(path) && forms.has(composedForm(path)));
  if (renamed.length === 0) return [];
  return [
    `${counted(renamed.length, 'path')} in another Unicode form (NFC, NFD); a server answers both forms`,
  ];
}

/** Says which of the two archives an error is about. */
function naming(argument: string) {
  return (cause: unknown): never => {
    if (!(cause instanceof CliError))
      throw cause instanceof PublishableError ? cause.saying(`${argument}: ${cause.message}`) : cause;
    if (cause.outcome !== 'usage') throw cause;
    const { outcome, code, message, next } = cause;
    throw new CliError(outcome, code, `${argument}: ${message}`, { cause, next });
  };
}

export interface FileDiff {
  /** Printable paths, sorted. */
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

/** By path and hash. */
export function diffFiles(before: Pick<BundleIndex, 'files'>, after: Pick<BundleIndex, 'files'>): FileDiff {
  const hashes = new Map(before.files.map(({ path, sha256 }) => [path, sha256]));
  const kept = new Set(after.files.map(({ path }) => path));
  const paths = (files: BundleIndex['files']): readonly string[] => files.map(({ path }) => printable(path));
  return {
    added: paths(after.files.filter(({ path }) => !hashes.has(path))),
    changed: paths(after.files.filter(({ path, sha256 }) => hashes.has(path) && hashes.get(path) !== sha256)),
    removed: paths(before.files.filter(({ path }) => !kept.has(path))),
  };
}
