// How spans become lines: prose that wraps at words, nodes as a tree, and tables. On a terminal a table loses columns until
// each row has room on one line; elsewhere it is whole, because a program may read it. Pure. Refuses: breaking a word or a
// row, and cutting a name or an id, because what is cut cannot be copied.

import { relativeTime } from './amounts.ts';
import {
  columnsOf,
  type Screen,
  type Spans,
  showSpans,
  spansOf,
  type TextSpan,
  textOfSpan,
  textOfSpans,
} from './paint.ts';

export interface TreeNode {
  readonly text: Spans;
  readonly children: readonly TreeNode[];
}

type Shown = { readonly width: number; readonly isColoured: boolean };

/** The tree, a line or more for each node; the lines of a long text are joined by its guide. */
export function drawTree({ text, children }: TreeNode, { width, isColoured }: Shown): readonly string[] {
  const [first = '', ...more] = linesIn(text, { width: width - 5, isColoured });
  const guide = children.length > 0 ? '│    ' : '     ';
  return [first, ...more.map((line) => `${guide}${line}`), ...drawChildren(children, { width, isColoured })];
}

function drawChildren(children: readonly TreeNode[], { width, isColoured }: Shown): readonly string[] {
  return children.flatMap((child, at) => {
    const isLast = at === children.length - 1;
    const hasOwn = child.children.length > 0;
    const [first = '', ...more] = linesIn(child.text, { width: width - 5, isColoured });
    const guide = isLast ? '   ' : '│  ';
    return [
      `${isLast ? '└─ ' : '├─ '}${first}`,
      ...more.map((line) => `${guide}${hasOwn ? '│ ' : '  '}${line}`),
      ...drawChildren(child.children, { width: width - 3, isColoured }).map((line) => `${guide}${line}`),
    ];
  });
}

const linesIn = (text: Spans, { width, isColoured }: Shown): readonly string[] =>
  wrapSpans(text, width).map((line) => showSpans(line, isColoured));

export const wrapText = (text: string, width: number): readonly string[] =>
  wrapSpans(text, width).map(textOfSpans);

/** Lines of at most `width` columns, unless a word is longer. */
export function wrapSpans(text: Spans, width: number): readonly (readonly TextSpan[])[] {
  const lines: TextSpan[][] = [];
  let line: TextSpan[] = [];
  let taken = 0;
  for (const word of wordsOf(text)) {
    const columns = columnsOf(textOfSpans(word));
    if (line.length > 0 && taken + 1 + columns > width) {
      lines.push(line);
      line = [...word];
      taken = columns;
    } else {
      taken += line.length === 0 ? columns : columns + 1;
      line = line.length === 0 ? [...word] : joined(line, word);
    }
  }
  return [...lines, line];
}

/** A blank within one meaning has it too. */
function joined(line: readonly TextSpan[], word: readonly TextSpan[]): TextSpan[] {
  const [last = '', first = ''] = [line.at(-1), word[0]];
  const isOne = typeof last !== 'string' && typeof first !== 'string' && last.paint === first.paint;
  if (!isOne) return [...line, ' ', ...word];
  return [...line.slice(0, -1), { ...last, text: `${last.text} ${first.text}` }, ...word.slice(1)];
}

/** A word may have parts with other meanings: `Exported=` and `False`. */
function wordsOf(text: Spans): readonly (readonly TextSpan[])[] {
  const words: TextSpan[][] = [[]];
  for (const span of spansOf(text)) {
    textOfSpan(span)
      .split(' ')
      .forEach((part, at) => {
        if (at > 0) words.push([]);
        words.at(-1)?.push(typeof span === 'string' ? part : { ...span, text: part });
      });
  }
  return words;
}

/** `instant`: a time; an absent one is an empty cell. */
export type TableCell = Spans | { readonly instant: string | undefined };

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
  readonly rows: readonly (readonly TableCell[])[];
  /** These rows alone, without the heading; the columns are as wide as for all. */
  readonly only?: readonly number[];
}

interface Column extends TableColumn {
  readonly cells: readonly Spans[];
  readonly width: number;
}

type TimeForm = 'instant' | 'both' | 'relative';

const [usualGap, smallGap] = [3, 2];

export function tableLines({ columns, rows, only }: TableBlock, screen: Screen): readonly string[] {
  const made = (form: TimeForm): readonly Column[] =>
    columns.map((column, at) => {
      const cells = rows.map((row) => spansOfCell(row[at] ?? '', form, screen.now));
      const width = Math.max(columnsOf(column.title), ...cells.map((cell) => columnsOf(textOfSpans(cell))));
      return { ...column, cells, width };
    });
  const { shown, gap } = screen.isTerminal
    ? fitted(made, screen.columns)
    : { shown: made('instant'), gap: usualGap };
  const head = only === undefined ? [lineOf(shown, ({ title }) => title, gap, screen)] : [];
  const lines = (only ?? rows.keys().toArray()).map((row) =>
    lineOf(shown, ({ cells }) => cells[row] ?? '', gap, screen),
  );
  return [...head, ...lines];
}

/** Times become shorter first, then gaps; then columns go, those without a value before all. */
function fitted(
  made: (form: TimeForm) => readonly Column[],
  room: number,
): { readonly shown: readonly Column[]; readonly gap: number } {
  const whole = made('both');
  if (totalOf(whole, usualGap) <= room) return { shown: whole, gap: usualGap };
  let shown = made('relative');
  if (totalOf(shown, usualGap) <= room) return { shown, gap: usualGap };
  while (totalOf(shown.map(atLeast), smallGap) > room) {
    const rankOf = ({ rank = Infinity, cells }: Column): number =>
      rank - (cells.every((cell) => textOfSpans(cell) === '') ? 1000 : 0);
    const least = shown.toSorted((a, b) => rankOf(a) - rankOf(b))[0];
    if (least === undefined || rankOf(least) === Infinity) break;
    shown = shown.filter((one) => one !== least);
  }
  const excess = totalOf(shown, smallGap) - room;
  if (excess > 0)
    shown = shown.map((one) => (one.isCut === true ? cutTo(one, Math.max(8, one.width - excess)) : one));
  return { shown, gap: totalOf(shown, usualGap) <= room ? usualGap : smallGap };
}

/** Prose gives way to numbers until it is this short. */
const shortProse = 40;
const atLeast = (column: Column): Column =>
  column.isCut === true ? { ...column, width: Math.min(column.width, shortProse) } : column;

const totalOf = (columns: readonly Column[], gap: number): number =>
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

function lineOf(
  columns: readonly Column[],
  read: (column: Column) => Spans,
  gap: number,
  { isColoured }: Screen,
): string {
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

function spansOfCell(cell: TableCell, form: TimeForm, now: number): Spans {
  if (typeof cell === 'string' || !('instant' in cell)) return cell;
  const { instant = '' } = cell;
  const relative = relativeTime(instant, now);
  if (form === 'instant' || relative === undefined) return instant;
  return form === 'both' ? `${instant} (${relative})` : relative;
}
