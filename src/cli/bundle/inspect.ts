// `bundle inspect`: what an archive holds, as a server would see it. Owns the fields and words that all commands about
// archives share. Refuses: names of files that are not printable.

import type { BundleIndex, BundleNote } from '#bundle/bundle-index.ts';
import { isExportDocument } from '#bundle/export-documents.ts';
import { describeReportEntry, type SiteReport } from '#bundle/site-report.ts';
import { isHiddenFile } from '#bundle/store/hidden-files.ts';
import { printable } from '#platform/wire/printable-text.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import type { CliContext, Finding } from '../context.ts';
import { counted, sizeWords } from '../output/amounts.ts';
import { marked } from '../output/paint.ts';
import { type Block, prose } from '../output/screen.ts';
import { browserLines } from './browser-lines.ts';
import type { ArchiveAnswer } from './documents.ts';
import { readIndex, type SizeLimits } from './reading.ts';

interface InspectValues extends SizeLimits {
  /** Whether to list the files. */
  readonly files: boolean;
  /** Whether to show what the export says of itself. */
  readonly report: boolean;
}

export async function inspectBundle(
  values: InspectValues,
  [path = '']: readonly string[],
  context: CliContext,
): Promise<ArchiveAnswer<'ArchiveSummary'>> {
  const index = await readIndex(path, values, context);
  const listed = index.files.map(({ path: name, size, sha256 }) => ({ path: printable(name), size, sha256 }));
  return {
    outcome: 'done',
    kind: 'ArchiveSummary',
    fields: {
      ...contentFields(index),
      notes: index.notes,
      ...(values.files && { entries: listed }),
      ...(values.report && index.report && { report: index.report }),
    },
    lines: [
      ...contentLines(index),
      ...index.notes.map((note) => prose(`Note:    ${noteWords(note)}`, '', ' '.repeat(9))),
      ...(values.report ? ['', ...siteReportLines(index.report)] : []),
      ...(values.files ? ['', ...fileLines(listed)] : []),
    ],
  };
}

/** What is missing first. */
export function siteReportLines(report: SiteReport | undefined): readonly Block[] {
  if (report === undefined)
    return ['Report:  none. This archive was not made by an export service that writes one.'];
  const { missing, external, copied, leftOut, queryVariants, searchIndexes, notes } = report;
  const rest = (list: { readonly count: number; readonly entries: readonly unknown[] }): readonly string[] =>
    list.count > list.entries.length ? [`  and ${list.count - list.entries.length} more`] : [];
  const section = (title: string, list: typeof leftOut): readonly string[] =>
    list.count === 0
      ? [`${title}: none`]
      : [
          `${title}: ${list.count}`,
          ...list.entries.map((one) => `  ${describeReportEntry(one)}`),
          ...rest(list),
        ];
  const merged = queryVariants.entries.filter(({ contents }) => contents > 1);
  return [
    `Report:  ${counted(report.pages, 'page')}, ${counted(report.files, 'file')}, ${sizeWords(report.sizeBytes)}`,
    ...section(`Missing, of ${missing.asked} that the site asks for`, missing),
    ...section('From other hosts', external),
    `Copied from other hosts: ${copied === undefined ? 'none' : copied.count}`,
    ...(copied?.entries ?? []).map(({ path, file }) => `  ${path}: ${file}`),
    ...(copied === undefined ? [] : rest(copied)),
    ...section('Left out', leftOut),
    `Files with several queries: ${queryVariants.count}`,
    ...merged.map(({ path, queries, contents }) => `  ${path}: ${queries} queries, ${contents} contents`),
    `Search indexes: ${searchIndexes.count === 0 ? 'none' : searchIndexes.count}`,
    ...searchIndexes.entries.map(({ tool, path: at }) => `  ${tool}: ${at}`),
    `Notes: ${notes.count === 0 ? 'none' : notes.count}`,
    ...notes.entries.map(
      ({ code, count, example }) => `  ${code} (${counted(count, 'time')}), such as at ${example}`,
    ),
    ...browserLines(report.browser),
  ];
}

/** A line for each file; their sizes are a column. */
export function fileLines(
  files: readonly { readonly path: string; readonly size: number; readonly sha256: string }[],
): readonly string[] {
  const width = files.reduce((most, { size }) => Math.max(most, `${size}`.length), 0);
  return files.map(({ path, size, sha256 }) => `${sha256}  ${`${size}`.padStart(width)}  ${path}`);
}

/** What every document about an archive holds. */
export function summaryFields({ digest, pages, files, sizeBytes }: BundleIndex) {
  return { digest, pages, files: files.length, sizeBytes };
}

/** The same, with the files that a server does not show: a packed folder may hold some by mistake. */
export function contentFields(index: BundleIndex) {
  return { ...summaryFields(index), hiddenFiles: hiddenPaths(index).length };
}

export function contentLines(index: BundleIndex): readonly string[] {
  const hidden = hiddenPaths(index);
  const [example = ''] = hidden;
  const hiddenWords = ` (${hidden.length} that a server does not show, such as ${printable(example, 80)})`;
  return [
    `Digest:  ${index.digest}`,
    `Pages:   ${index.pages}`,
    `Files:   ${index.files.length}${hidden.length === 0 ? '' : hiddenWords}`,
    `Size:    ${sizeWords(index.sizeBytes)}`,
  ];
}

const hiddenPaths = ({ files }: BundleIndex): readonly string[] =>
  files.map((file) => file.path).filter((path) => isHiddenFile(path) && !isExportDocument(path));

/**
 * A server does not serve such an archive, and there is nothing to check in it.
 *
 * @throws {PublishableError} `NoPages`
 */
export function requirePages({ pages }: Pick<BundleIndex, 'pages'>): void {
  if (pages > 0) return;
  const message = 'the archive has no page; check that it is an export of the site';
  throw new PublishableError('NoPages', message, { kind: 'refused' });
}

/** What visitors will miss, as warnings; a reader's other notes are none. */
export function contentWarnings({ notes, pages }: Pick<BundleIndex, 'notes' | 'pages'>): readonly Finding[] {
  const codeOf = ({ code }: BundleNote): string =>
    code === 'HomePageMissing' && pages === 0 ? 'NoPages' : code;
  return notes
    .map((note) => ({ note, code: codeOf(note) }))
    .filter(({ code }) => code in remedies)
    .map(({ note, code }) => ({
      level: 'warning',
      code,
      lines: [noteWords(note), remedies[code] ?? ''],
    }));
}

const remedies: Readonly<Record<string, string>> = {
  NoPages: 'Check that it is an export of the site.',
  HomePageMissing: 'Pack the folder that holds index.html, or export the site with its home page.',
  NotServed: 'Rename them, or name the hidden part in --serve-dotfiles of the bundle server.',
};

export const warningLines = (index: Pick<BundleIndex, 'notes' | 'pages'>): readonly Block[] =>
  findingLines(contentWarnings(index));

/** Of warnings. */
export const findingLines = (findings: readonly Finding[]): readonly Block[] =>
  findings.map(({ lines }) => prose([marked('Warning', 'unsure'), `: ${lines.join('. ')}`], '', '  '));

/** By the code of a note. */
const noteSentences: Readonly<Record<string, (count: number) => string>> = {
  DuplicateReplaced: (count) => `${counted(count, 'file')} replaced by a later file of the same name`,
  HardLinkFollowed: (count) => `${counted(count, 'hard link')} read as a copy`,
  NameEndsAtNul: (count) => `${counted(count, 'name')} cut at a NUL`,
  LeftOutOfExport: (count) => several(count, 'address is', 'addresses are', 'left out of the export'),
  LoadedFromElsewhere: (count) => several(count, 'file comes', 'files come', 'from another host'),
  MissingFromExport: (count) =>
    several(count, 'page or file is', 'pages or files are', 'missing from the export'),
  HomePageMissing: () => 'the root has no home page and the first page is',
  NotServed: (count) => `${counted(count, 'hidden path')} of pages or linked files or scripts get 404`,
  PathNormalised: (count) => `${counted(count, 'path')} written in its plain form`,
  WrappingFolderRemoved: () => 'the folder around all files is not part of their paths',
};

const several = (count: number, one: string, more: string, words: string): string =>
  `${count} ${count === 1 ? one : more} ${words}`;

/** What a reader had to adapt, for a person; documents have its code. */
export function noteWords({ code, count, example, paths = [] }: BundleNote): string {
  if (code === 'HomePageMissing' && example === '') return 'the archive has no page';
  const sentence = noteSentences[code]?.(count) ?? `${code} (${counted(count, 'time')})`;
  const more = paths.length > 0 && count > paths.length ? `, and ${count - paths.length} more` : '';
  const shown = paths.length > 0 ? `${paths.join(', ')}${more}` : example;
  return `${sentence}${shown === '' ? '' : `: ${shown}`}`;
}
