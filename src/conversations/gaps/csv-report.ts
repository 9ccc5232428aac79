// The report as CSV: a row for each category, page and week, with the gap that they belong to. Owns the columns. Cells are as
// harmless to a spreadsheet as those of exported turns.

import { cellOf } from '../sinks/csv.ts';
import type { GapReport } from './report-schema.ts';
import { shownInLine } from './words.ts';

const columns = [
  'week',
  'category',
  'page',
  'turns',
  'judged',
  'unanswered',
  'unsourced',
  'gap',
  'state',
] as const;

/** With its line ends: RFC 4180 has CR LF. */
export function csvReport({ cells, gaps }: GapReport): string {
  const byCell = new Map(gaps.flatMap((gap) => (gap.kind === 'page' ? [[keyOf(gap), gap] as const] : [])));
  const rows = cells.flatMap((cell) =>
    cell.weeks.map(({ week, turns, judged, unanswered, unsourced }) => {
      const gap = byCell.get(keyOf(cell));
      const counts = [turns, judged, unanswered, unsourced].map(String);
      return [week, cell.category, cell.page, ...counts, gap?.id ?? null, gap?.state ?? null];
    }),
  );
  return [columns, ...rows]
    .map((row) => `${row.map((cell) => cellOf(cell === null ? null : shownInLine(cell))).join(',')}\r\n`)
    .join('');
}

const keyOf = ({
  category,
  page,
}: {
  category?: string | null | undefined;
  page?: string | null | undefined;
}): string => JSON.stringify([category ?? null, page ?? null]);
