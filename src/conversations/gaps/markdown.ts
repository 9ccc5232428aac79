// The report as Markdown: for an issue or a summary of a pipeline. Text of others stands in code spans, where it is neither a
// link, a mention nor HTML. Invariant: whatever a visitor wrote, the lines and cells are the same.

import { type ReportPart, reportParts, type Words } from './report-parts.ts';
import type { GapReport } from './report-schema.ts';
import { shownInLine } from './words.ts';

export function markdownReport(report: GapReport): readonly string[] {
  return reportParts(report).flatMap((part, at) => [...(at === 0 ? [] : ['']), ...linesOf(part)]);
}

function linesOf(part: ReportPart): readonly string[] {
  switch (part.kind) {
    case 'heading':
      return [`${'#'.repeat(part.level)} ${part.text}`];
    case 'text':
      return [textOf(part.text)];
    case 'list':
      return part.items.map((item) => `- ${textOf(item)}`);
    case 'table':
      return [
        lineOf(part.columns.map(({ title }) => title)),
        lineOf(part.columns.map(({ isNumeric }) => (isNumeric ? '---:' : '---'))),
        ...part.rows.map((row) => lineOf(row.map(textOf))),
      ];
    default:
      return part satisfies never;
  }
}

const lineOf = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

function textOf(words: Words): string {
  if (typeof words === 'string') return words;
  return 'quoted' in words ? code(words.quoted) : words.map(textOf).join('');
}

/** A code span of GitHub's Markdown, also within a table: there a bar is escaped in code too. */
export function code(text: string): string {
  const line = shownInLine(text);
  if (line.trim() === '') return '';
  const longest = Math.max(0, ...(line.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = '`'.repeat(longest + 1);
  // A backslash before a bar would escape itself. A grave accent at an end would be taken for the fence.
  const safe = line.replaceAll('\\', '＼').replaceAll('|', '\\|');
  const space = /^[` ]|[` ]$/.test(safe) ? ' ' : '';
  return `${fence}${space}${safe}${space}${fence}`;
}
