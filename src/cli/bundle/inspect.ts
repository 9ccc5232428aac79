// `bundle inspect`: what an archive holds, as a server would see it. Owns the fields and words that all commands about
// archives share. Refuses: names of files that are not printable.

import type { BundleIndex } from '../../bundle/bundle-index.ts';
import { isHiddenFile } from '../../bundle/store/hidden-files.ts';
import { printable } from '../../wire/printable-text.ts';
import type { CliContext, CommandResult } from '../context.ts';
import { readIndex, type SizeLimits, sizeWords } from './reading.ts';

interface InspectValues extends SizeLimits {
  /** Whether to list the files. */
  readonly files: boolean;
}

export async function inspectBundle(
  values: InspectValues,
  [path = '']: readonly string[],
  context: CliContext,
): Promise<CommandResult> {
  const index = await readIndex(path, values, context);
  const { files } = index;
  const hidden = files.filter((file) => isHiddenFile(file.path)).length;
  const listed = files.map(({ path: name, size, sha256 }) => ({ path: printable(name), size, sha256 }));
  return {
    outcome: 'done',
    kind: 'ArchiveSummary',
    fields: {
      ...summaryFields(index),
      hiddenFiles: hidden,
      notes: index.notes,
      ...(values.files && { entries: listed }),
    },
    lines: [
      `Digest:  ${index.digest}`,
      `Pages:   ${index.pages}`,
      `Files:   ${files.length}${hidden === 0 ? '' : ` (${hidden} that a server does not show)`}`,
      `Size:    ${sizeWords(index.sizeBytes)}`,
      ...index.notes.map(({ code, count, example }) => `Note:    ${noteWords(code, count, example)}`),
      ...(values.files ? listed.map((file) => `${file.sha256}  ${file.size}  ${file.path}`) : []),
    ],
  };
}

/** What every document about an archive holds. */
export function summaryFields({ digest, pages, files, sizeBytes }: BundleIndex) {
  return { digest, pages, files: files.length, sizeBytes };
}

function noteWords(code: string, count: number, example: string): string {
  return `${code} (${count} ${count === 1 ? 'time' : 'times'}${example === '' ? '' : `, such as ${example}`})`;
}
