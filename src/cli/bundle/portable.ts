// `bundle portable`: an archive of the same site that works from a disk and below any prefix, and what a reader of it misses. Refuses
// to read pages on the main thread. Invariant: the archive that it reads is replaced whole, where --to and --replace name it, or stays.

import { printable } from '#platform/wire/printable-text.ts';
import { type PortableOutcome, remakeInThread } from '#site/remake/remaking.ts';
import type { CliContext, Finding } from '../context.ts';
import { counted, sizeWords } from '../output/amounts.ts';
import { marked } from '../output/paint.ts';
import { prose } from '../output/screen.ts';
import { requireNewArchive } from './archive-file.ts';
import type { ArchiveAnswer } from './documents.ts';
import { contentWarnings, summaryFields, warningLines } from './inspect.ts';
import { remadePackPath, writeRemadeArchive } from './planned-archive.ts';
import { type SizeLimits, withPack } from './reading.ts';

interface PortableValues extends SizeLimits {
  readonly to: string;
  readonly basePath: string;
  readonly domain: string | undefined;
  readonly replace: boolean;
}

export async function makePortable(
  values: PortableValues,
  [source = '']: readonly string[],
  context: CliContext,
): Promise<ArchiveAnswer<'PortableArchive'>> {
  const { progress, signal } = context;
  const { to, basePath, domain } = values;
  await requireNewArchive(to, values.replace);
  return withPack(source, values, context, async (archive) => {
    progress.phase('Reading the pages');
    const toPath = remadePackPath(archive);
    const { packPath, index: old } = archive;
    const task = { packPath, index: old, toPath, basePath, domain };
    const { outcome: plan, index: made } = await remakeInThread(
      context.siteWorker,
      { task: 'make-portable', ...task },
      { signal, onProgress: ({ files, of }) => progress.advance((100 * files) / of, counted(files, 'file')) },
    );
    const index = await writeRemadeArchive(toPath, made, to, 'bundle portable', values, context);
    const missed = missedFindings(plan);
    const { digest, pages, sizeBytes, lost } = plan;
    const { files } = made;
    return {
      outcome: 'done',
      kind: 'PortableArchive',
      fields: {
        ...{ digest, pages, files: files.length, sizeBytes },
        changed: plan.isChanged,
        path: to,
        old: summaryFields(old),
        changedTexts: plan.changed,
        removedScripts: plan.scripts,
        removedFiles: plan.dropped,
        lost: { count: lost.count, examples: lost.examples.map((path) => printable(path)) },
        unread: plan.unread.map((path) => printable(path)),
      },
      lines: [
        `Written: ${printable(to)}`,
        `Digest:  ${digest}`,
        `Pages:   ${pages}`,
        `Files:   ${files.length}`,
        `Size:    ${sizeWords(sizeBytes)}`,
        `Changed: ${counted(plan.changed, 'text')}`,
        `Removed: ${counted(plan.scripts, 'script')} of pages, ${counted(plan.dropped, 'file')}`,
        ...missed.map(({ lines }) => prose([marked('Warning', 'unsure'), `: ${lines.join('. ')}`], '', '  ')),
        ...warningLines(index),
      ],
      findings: [...missed, ...contentWarnings(index)],
    };
  });
}

function missedFindings({ lost, unread }: PortableOutcome): readonly Finding[] {
  const [page = ''] = lost.examples;
  const [text = ''] = unread;
  const findings: readonly (Finding | false)[] = [
    lost.count > 0 && {
      level: 'warning',
      code: 'LinkWithoutFile',
      lines: [
        `${counted(lost.count, 'link')} without a file in the archive, the first in ${printable(page, 80)}`,
        'Check --base-path; a link that is broken on the site stays broken',
      ],
    },
    unread.length > 0 && {
      level: 'warning',
      code: 'TextNotRead',
      lines: [
        `${counted(unread.length, 'text')} of more than 8 MiB kept as it was, such as ${printable(text, 80)}`,
        'Its rooted addresses do not work from a disk',
      ],
    },
  ];
  return findings.filter((finding) => finding !== false);
}
