// Writes a table of data as HTML without spans: each row has the cells that it covers. Refuses to repeat a cell beyond the table's own
// columns. Invariant: the first row is as wide as the widest, because Markdown counts its columns there.

import type { TagToken } from '#platform/html/html-tokens.ts';
import { attributeOf } from '../pages/content-scope.ts';

export interface TableWriter {
  startRow(): void;
  startCell(tag: TagToken): void;
  endCell(): void;
  endRow(): void;
  end(): void;
}

/** @param columns most cells of a row */
export function createTableWriter(columns: number, write: (html: string) => void): TableWriter {
  /** Rows for which a cell above still covers a column. */
  const covered: number[] = [];
  let column = 0;
  let rows = 0;
  let isInRow = false;
  let cell: { readonly name: 'td' | 'th'; readonly spare: number } | undefined;

  const passCovered = (): void => {
    while (column < columns && (covered[column] ?? 0) > 0) {
      covered[column] = (covered[column] ?? 0) - 1;
      write('<td></td>');
      column += 1;
    }
  };
  const endCell = (): void => {
    if (cell === undefined) return;
    write(`</${cell.name}>${'<td></td>'.repeat(cell.spare)}`);
    cell = undefined;
  };
  const endRow = (): void => {
    if (!isInRow) return;
    endCell();
    passCovered();
    if (rows === 0) write('<td></td>'.repeat(Math.max(0, columns - column)));
    write('</tr>');
    rows += 1;
    isInRow = false;
  };
  const startRow = (): void => {
    endRow();
    if (rows === 0) write('<table>');
    write('<tr>');
    column = 0;
    isInRow = true;
  };
  return {
    startRow,
    startCell: ({ tagName, attrs }) => {
      if (!isInRow) startRow();
      endCell();
      passCovered();
      const spare = Math.max(0, Math.min(spanOf(attrs, 'colspan'), columns - column) - 1);
      const below = Math.min(spanOf(attrs, 'rowspan'), maxRows) - 1;
      for (let at = column; at <= column + spare; at += 1) if (below > 0 && at < columns) covered[at] = below;
      column += spare + 1;
      cell = { name: tagName === 'th' ? 'th' : 'td', spare };
      write(`<${cell.name}>`);
    },
    endCell,
    endRow,
    end: () => {
      endRow();
      if (rows > 0) write('</table>');
    },
  };
}

const maxRows = 1000;

function spanOf(attrs: TagToken['attrs'], name: 'colspan' | 'rowspan'): number {
  const span = Number(attributeOf(attrs, name) ?? 1);
  return Number.isInteger(span) && span > 0 ? span : 1;
}
