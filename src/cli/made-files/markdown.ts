// `bundle markdown`: an archive of the same site with a Markdown file for each page, and the lists that agents look for. Refuses to
// read pages on the main thread. Invariant: the archive that it reads is replaced whole, where --to and --replace name it, or stays.

import { printable } from '#platform/wire/printable-text.ts';
import { llmsFullPath, llmsPath } from '#site/markdown/markdown-files.ts';
import { type AddedFiles, remakeInThread } from '#site/remake/remaking.ts';
import { requireNewArchive } from '../bundle/archive-file.ts';
import type { ArchiveAnswer } from '../bundle/documents.ts';
import { contentWarnings, findingLines, summaryFields, warningLines } from '../bundle/inspect.ts';
import { remadePackPath, writeRemadeArchive } from '../bundle/planned-archive.ts';
import { type SizeLimits, withPack } from '../bundle/reading.ts';
import type { CliContext, Finding } from '../context.ts';
import { counted, sizeWords } from '../output/amounts.ts';

interface MarkdownValues extends SizeLimits {
  readonly to: string;
  readonly basePath: string;
  readonly domain: string | undefined;
  readonly replace: boolean;
}

export async function addMarkdown(
  values: MarkdownValues,
  [source = '']: readonly string[],
  context: CliContext,
): Promise<ArchiveAnswer<'MarkdownArchive'>> {
  const { progress, signal } = context;
  const { to, basePath, domain } = values;
  await requireNewArchive(to, values.replace);
  const origin = domain === undefined ? undefined : new URL(`https://${domain}`).origin;
  return withPack(source, values, context, async (archive) => {
    progress.phase('Reading the pages');
    const toPath = remadePackPath(archive);
    const { packPath, index: old } = archive;
    const task = { packPath, index: old, toPath, basePath, origin };
    const { outcome, index: made } = await remakeInThread(
      context.siteWorker,
      { task: 'add-markdown', ...task },
      { signal, onProgress: ({ files, of }) => progress.advance((100 * files) / of, counted(files, 'page')) },
    );
    const index = await writeRemadeArchive(toPath, made, to, 'bundle markdown', values, context);
    const { digest, pages, files, sizeBytes } = summaryFields(index);
    const lists = outcome.added.filter((path) => path === llmsPath || path === llmsFullPath);
    const { leftOut } = outcome;
    const findings = leftOutFindings(leftOut);
    const twins = outcome.added.length - lists.length;
    return {
      outcome: 'done',
      kind: 'MarkdownArchive',
      fields: {
        ...{ digest, pages, files, sizeBytes },
        changed: outcome.added.length > 0,
        path: to,
        old: summaryFields(old),
        markdownFiles: twins,
        lists,
        withoutMarkdown: { count: leftOut.count, examples: leftOut.examples.map((one) => printable(one)) },
      },
      lines: [
        `Written: ${printable(to)}`,
        `Digest:  ${digest}`,
        `Pages:   ${pages}`,
        `Files:   ${files}`,
        `Size:    ${sizeWords(sizeBytes)}`,
        `Added:   ${[counted(twins, 'Markdown file'), ...lists].join(', ')}`,
        ...findingLines(findings),
        ...warningLines(index),
      ],
      findings: [...findings, ...contentWarnings(index)],
    };
  });
}

function leftOutFindings({ count, examples }: AddedFiles['leftOut']): readonly Finding[] {
  if (count === 0) return [];
  const [page = ''] = examples;
  const many = `${counted(count, 'page')} of more than 8 MiB ${count === 1 ? 'gets' : 'get'} no Markdown`;
  const lines = [
    `${many}, such as ${printable(page, 80)}`,
    'Split such a page, or add its Markdown to the site',
  ];
  return [{ level: 'warning', code: 'PageWithoutMarkdown', lines }];
}
