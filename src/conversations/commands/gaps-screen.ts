// The report of gaps on a terminal: the parts of the Markdown form, without its signs. Pure. Refuses: breaking an id; a
// narrow terminal loses columns, and questions are cut.

import { marked, type TextSpan } from '#cli/output/paint.ts';
import { type Block, markedLine, prose } from '#cli/output/screen.ts';
import { type ReportPart, reportParts, type Words } from '../gaps/report-parts.ts';
import type { GapReport } from '../gaps/report-schema.ts';
import { shownInLine } from '../gaps/words.ts';

export function reportBlocks(report: GapReport): readonly Block[] {
  return reportParts(report).flatMap((part, at) => {
    const isSection = part.kind === 'heading' && at > 0;
    return [...(isSection ? [''] : []), ...blocksOf(part)];
  });
}

/** The lowest goes first. */
const ranks: Readonly<Record<string, number>> = {
  'Without sources': 1,
  Why: 2,
  Pages: 3,
  Share: 4,
  Turns: 5,
  Asked: 6,
};
const cut: ReadonlySet<string> = new Set(['Gap', 'Question', 'Page', 'Search']);

function blocksOf(part: ReportPart): readonly Block[] {
  switch (part.kind) {
    case 'heading':
      return [markedLine(marked(part.text, 'strong'))];
    case 'text':
      return [prose(spansIn(part.text))];
    case 'list':
      return part.items.map((item) => prose(spansIn(item), '- '));
    case 'table': {
      const columns = part.columns.map(({ title, isNumeric }) => {
        const rank = ranks[title];
        const isCut = cut.has(title);
        return { title, isRight: isNumeric, isCut, ...(rank !== undefined && { rank }) };
      });
      return [{ kind: 'table', columns, rows: part.rows.map((row) => row.map(spansIn)) }];
    }
    default:
      return part satisfies never;
  }
}

function spansIn(words: Words): readonly TextSpan[] {
  if (typeof words === 'string') return [words];
  return 'quoted' in words ? [shownInLine(words.quoted)] : words.flatMap(spansIn);
}
