// Which tables of a page are tables of data, and how wide they are. Read before the page is written, because the first row of a Markdown
// table says how many columns follow. Refuses tables that hold others or headings, and blocks of code without a header: those lay
// out a page.

import { readHtmlTokens } from '#platform/html/html-tokens.ts';

export interface TableShape {
  readonly isData: boolean;
  /** Most cells of a row, without spans. */
  readonly columns: number;
}

/** A wider table is not one of data. */
const maxColumns = 100;

interface OpenTable {
  isData: boolean;
  hasHeader: boolean;
  hasCode: boolean;
  columns: number;
  cells: number;
}

/** @returns one for each `<table>`, in their order */
export function readTableShapes(html: string): readonly TableShape[] {
  const shapes: OpenTable[] = [];
  const open: OpenTable[] = [];
  const laysOut = (): void => {
    const table = open.at(-1);
    if (table !== undefined) table.isData = false;
  };
  readHtmlTokens(html, {
    start: ({ tagName }) => {
      const table = open.at(-1);
      switch (tagName) {
        case 'table': {
          laysOut();
          const shape = { isData: true, hasHeader: false, hasCode: false, columns: 0, cells: 0 };
          shapes.push(shape);
          open.push(shape);
          return;
        }
        case 'tr':
          if (table !== undefined) table.cells = 0;
          return;
        case 'td':
        case 'th':
          if (table === undefined) return;
          table.cells += 1;
          table.hasHeader ||= tagName === 'th';
          table.columns = Math.max(table.columns, table.cells);
          if (table.columns > maxColumns) table.isData = false;
          return;
        case 'pre':
          if (table !== undefined) table.hasCode = true;
          return;
        case 'h1':
        case 'h2':
        case 'h3':
        case 'h4':
        case 'h5':
        case 'h6':
          laysOut();
      }
    },
    end: ({ tagName }) => {
      if (tagName === 'table') open.pop();
    },
    text: () => {},
  });
  return shapes.map(({ isData, hasHeader, hasCode, columns }) => ({
    isData: isData && columns > 0 && (hasHeader || !hasCode),
    columns,
  }));
}
