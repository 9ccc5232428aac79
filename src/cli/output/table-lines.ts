// Tables. On a terminal they lose columns until each row has room on one line; elsewhere they are whole, because a program
// may read them. Pure. Refuses: breaking a row, and cutting a name or an id.

import { relativeTime } from './amounts.ts';
import { columnsOf, type Screen, type Spans, showSpans, textOfSpans } from './paint.ts';

/** `instant`: a time; an absent one is an empty cell. */
export type Cell = Spans | { readonly instant: string | undefined };

export interface TableColumn {
  readonly title: string;
  /** A narrow terminal loses the column with the lowest rank first; absent: the column stays. */
  readonly rank?: number;
  /** Numbers. */
  readonly isRight?: boolean;
  /** Prose, which is cut where the table is still too wide. */
  readonly isCut?: boolean;
}

export interface TableBlock {
  readonly kind: 'table';
  readonly columns: readonly TableColumn[];
  readonly rows: readonly (readonly Cell[])[];
  /** These rows alone, without the heading; the columns are as wide as for all. */
  readonly only?: readonly number[];
}

interface Column extends TableColumn {
  readonly cells: readonly Spans[];
  readonly width: number;
}

type TimeForm = 'instant' | 'both' | 'relative';

const gap = 3;

export function tableLines({ columns, rows, only }: TableBlock, screen: Screen): readonly string[] {
  const made = (form: TimeForm): readonly Column[] =>
    columns.map((column, at) => {
      const cells = rows.map((row) => spansOfCell(row[at] ?? '', form, screen.now));
      const width = Math.max(columnsOf(column.title), ...cells.map((cell) => columnsOf(textOfSpans(cell))));
      return { ...column, cells, width };
    });
  const shown = screen.isTerminal ? fitted(made, screen.columns) : made('instant');
  const head = only === undefined ? [lineOf(shown, ({ title }) => title, screen)] : [];
  const lines = (only ?? rows.keys().toArray()).map((row) =>
    lineOf(shown, ({ cells }) => cells[row] ?? '', screen),
  );
  return [...head, ...lines];
}

/** Times become shorter first; then columns go, those without a value before all. */
function fitted(made: (form: TimeForm) => readonly Column[], room: number): readonly Column[] {
  let columns = made('both');
  if (totalOf(columns) > room) columns = made('relative');
  while (totalOf(columns) > room) {
    const rankOf = ({ rank = Infinity, cells }: Column): number =>
      rank - (cells.every((cell) => textOfSpans(cell) === '') ? 1000 : 0);
    const least = columns.toSorted((a, b) => rankOf(a) - rankOf(b))[0];
    if (least === undefined || rankOf(least) === Infinity) break;
    columns = columns.filter((one) => one !== least);
  }
  const excess = totalOf(columns) - room;
  if (excess <= 0) return columns;
  return columns.map((one) => (one.isCut === true ? cutTo(one, Math.max(8, one.width - excess)) : one));
}

const totalOf = (columns: readonly Column[]): number =>
  columns.reduce((sum, { width }) => sum + width + gap, -gap);

function cutTo(column: Column, width: number): Column {
  const cells = column.cells.map((cell) => {
    const text = textOfSpans(cell);
    return columnsOf(text) > width ? `${startOf(text, width - 1)}…` : cell;
  });
  return { ...column, cells, width };
}

function startOf(text: string, width: number): string {
  let start = '';
  for (const letter of text) {
    if (columnsOf(start + letter) > width) break;
    start += letter;
  }
  return start;
}

function lineOf(columns: readonly Column[], read: (column: Column) => Spans, { isColoured }: Screen): string {
  return columns
    .map((column, at) => {
      const spans = read(column);
      const fill = ' '.repeat(Math.max(0, column.width - columnsOf(textOfSpans(spans))));
      const text = showSpans(spans, isColoured);
      if (column.isRight === true) return `${fill}${text}`;
      return at === columns.length - 1 ? text : `${text}${fill}`;
    })
    .join(' '.repeat(gap))
    .trimEnd();
}

function spansOfCell(cell: Cell, form: TimeForm, now: number): Spans {
  if (typeof cell === 'string' || !('instant' in cell)) return cell;
  const { instant = '' } = cell;
  const relative = relativeTime(instant, now);
  if (form === 'instant' || relative === undefined) return instant;
  return form === 'both' ? `${instant} (${relative})` : relative;
}
