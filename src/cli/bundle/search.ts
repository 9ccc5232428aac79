// `bundle search`: an archive of the same site with a search that needs no server, and what that search finds. Refuses to read pages on
// the main thread. Invariant: the archive that it reads is replaced whole, where --to and --replace name it, or stays.

import { nothingToFind, nothingToFindRemedy } from '#bundle/search-words.ts';
import { printable } from '#platform/wire/printable-text.ts';
import { largePageFiles } from '#site/pages/bundle-pages.ts';
import { type AddedSearch, remakeInThread } from '#site/remake/remaking.ts';
import type { CliContext, Finding } from '../context.ts';
import { counted, sizeWords } from '../output/amounts.ts';
import { requireNewArchive } from './archive-file.ts';
import type { ArchiveAnswer } from './documents.ts';
import { contentWarnings, findingLines, summaryFields, warningLines } from './inspect.ts';
import { remadePackPath, writeRemadeArchive } from './planned-archive.ts';
import { type SizeLimits, withPack } from './reading.ts';

interface SearchValues extends SizeLimits {
  readonly to: string;
  readonly replace: boolean;
}

export async function addSearch(
  values: SearchValues,
  [source = '']: readonly string[],
  context: CliContext,
): Promise<ArchiveAnswer<'SearchableArchive'>> {
  const { progress, signal } = context;
  const { to } = values;
  await requireNewArchive(to, values.replace);
  return withPack(source, values, context, async (archive) => {
    progress.phase('Reading the pages');
    const toPath = remadePackPath(archive);
    const { packPath, index: old } = archive;
    const { outcome: plan, index: made } = await remakeInThread(
      context.siteWorker,
      { task: 'add-search', packPath, index: old, toPath },
      {
        signal,
        onProgress: ({ files, of }) =>
          progress.advance((100 * files) / of, counted(Math.floor(files / 2), 'file')),
      },
    );
    const index = await writeRemadeArchive(toPath, made, to, 'bundle search', values, context);
    const notSearched = largePageFiles(old).map(({ path }) => printable(path));
    const findings = searchFindings(plan, index.pages, notSearched);
    const { digest, pages, files, sizeBytes } = made;
    const { languages, searchBytes, linedPages, withoutLine } = plan;
    return {
      outcome: 'done',
      kind: 'SearchableArchive',
      fields: {
        ...{ digest, pages, files: files.length, sizeBytes },
        changed: plan.isChanged,
        path: to,
        old: summaryFields(old),
        languages,
        searchSizeBytes: searchBytes,
        searchPages: linedPages,
        withoutSearch: {
          count: withoutLine.count,
          examples: withoutLine.examples.map((path) => printable(path)),
        },
        notSearched: { count: notSearched.length, examples: notSearched.slice(0, mostExamples) },
      },
      lines: [
        `Written: ${printable(to)}`,
        `Digest:  ${digest}`,
        `Pages:   ${pages}, ${linedPages} with the search`,
        `Files:   ${files.length}`,
        `Size:    ${sizeWords(sizeBytes)}, ${sizeWords(searchBytes)} of them for the search`,
        `Search:  ${languages.map(({ language, pages: found }) => `${counted(found, 'page')} in ${printable(language)}`).join(', ') || 'no page to find'}`,
        ...findingLines(findings),
        ...warningLines(index),
      ],
      findings: [...findings, ...contentWarnings(index)],
    };
  });
}

const mostExamples = 5;

/** @param notSearched printable paths of pages that are too large to be read */
function searchFindings(
  { withoutLine, languages }: AddedSearch,
  pages: number,
  notSearched: readonly string[],
): readonly Finding[] {
  const [page = ''] = withoutLine.examples;
  const [large = ''] = notSearched;
  const findings: readonly (Finding | false)[] = [
    languages.length === 0 &&
      pages > 0 && {
        level: 'warning',
        code: 'NothingToFind',
        lines: [nothingToFind, nothingToFindRemedy],
      },
    withoutLine.count > 0 && {
      level: 'warning',
      code: 'PageWithoutSearch',
      lines: [
        `${counted(withoutLine.count, 'page')} cannot load the search, such as ${printable(page, 80)}`,
        'Such a page has no head, another encoding, or a policy of its own; the search finds it if it has up to 8 MiB',
      ],
    },
    notSearched.length > 0 && {
      level: 'warning',
      code: 'PageNotSearched',
      lines: [
        `The search does not find ${counted(notSearched.length, 'page')} of more than 8 MiB, such as ${printable(large, 80)}`,
        'Split such a page',
      ],
    },
  ];
  return findings.filter((finding) => finding !== false);
}
