// Writes the blocks of a page as HTML in its plainest form: paragraphs, headings, lists, quotes and tables of data. Keeps the open
// elements of the page as frames, and closes what the page leaves open. Refuses blocks within a heading or a cell: there they part
// words. Invariant: what is written is balanced after `finish`, and nests no deeper than its bounds.

import type { TagToken } from '#platform/html/html-tokens.ts';
import { attributeOf } from '../pages/content-scope.ts';
import type { BlockKind } from './block-elements.ts';
import { languageOf } from './code-block.ts';
import { createInlineWriter, escapedText, type InlineWriter } from './inline-writer.ts';
import type { TableShape } from './table-shapes.ts';
import { createTableWriter, type TableWriter } from './table-writer.ts';

export interface BlockWriter {
  readonly inline: InlineWriter;
  start(tag: TagToken, kind: BlockKind): void;
  startTable(tag: TagToken): void;
  /** @param tag of a row, a cell, or a group of rows */
  startTablePart(tag: TagToken): void;
  end(tagName: string): void;
  /** @param language of its own; without one, that of the elements around it */
  code(text: string, language: string | undefined): void;
  rule(): void;
  /** Ends a paragraph, because a block begins. */
  part(): void;
  /** Directly within a table that lays out a page. */
  readonly isInLayout: boolean;
  finish(): void;
}

type FrameKind = BlockKind | 'table' | 'row' | 'cell' | 'layout';

interface Frame {
  readonly tagName: string;
  readonly kind: FrameKind;
  readonly end: string;
  readonly language: string | undefined;
  /** Of terms: whether an item is open, and has its definition. */
  item: 'none' | 'term' | 'definition';
}

/** Deeper elements part texts and are not remembered. */
const maxFrames = 200;
/** A language is named by the block itself or by what wraps it. */
const languageFrames = 3;

/** @param maxNesting lists and quotes within each other; deeper ones are text of the last */
export function createBlockWriter(
  shapes: readonly TableShape[],
  maxNesting: number,
  write: (html: string) => void,
): BlockWriter {
  const frames: Frame[] = [];
  const beyond = new Map<string, number>();
  /** `undefined` for a table that lays out a page. */
  const tables: (TableWriter | undefined)[] = [];
  let tableCount = 0;
  let nesting = 0;
  let isParagraphOpen = false;
  /** The heading, the summary or the cell that is open. */
  let flat: FrameKind | undefined;

  const inline = createInlineWriter(write, () => {
    if (flat !== undefined) return;
    write('<p>');
    isParagraphOpen = true;
  });
  const part = (): void => {
    if (flat === 'cell') inline.lineBreak();
    else if (flat !== undefined) inline.space();
    else {
      inline.endBlock();
      if (isParagraphOpen) write('</p>');
      isParagraphOpen = false;
    }
  };
  /** @returns whether it is remembered */
  const push = (tag: TagToken, kind: FrameKind, start = '', end = ''): boolean => {
    if (frames.length >= maxFrames) {
      beyond.set(tag.tagName, (beyond.get(tag.tagName) ?? 0) + 1);
      return false;
    }
    write(start);
    frames.push({ tagName: tag.tagName, kind, end, language: languageOf(tag), item: 'none' });
    if (isFlat(kind)) flat = kind;
    if (isNesting(kind)) nesting += 1;
    return true;
  };
  const pop = (): void => {
    const frame = frames.at(-1);
    if (frame === undefined) return;
    if (isFlat(frame.kind)) inline.endBlock();
    else part();
    if (frame.kind === 'summary') inline.close('strong');
    frames.pop();
    if (isFlat(frame.kind)) flat = undefined;
    if (isNesting(frame.kind)) nesting -= 1;
    if (frame.kind === 'cell') tables.at(-1)?.endCell();
    else if (frame.kind === 'row') tables.at(-1)?.endRow();
    else if (frame.kind === 'table' || frame.kind === 'layout') tables.pop()?.end();
    else if (frame.item !== 'none') write('</li>');
    write(frame.end);
  };
  const popAbove = (kinds: readonly FrameKind[]): void => {
    for (let top = frames.at(-1); top !== undefined && !kinds.includes(top.kind); top = frames.at(-1)) pop();
  };
  /** Ends the item that is open in the innermost list. */
  const endItem = (kinds: readonly FrameKind[]): void => {
    const at = frames.findLastIndex(({ kind }) => kinds.includes(kind) || itemBarriers.includes(kind));
    const found = frames[at];
    if (found !== undefined && kinds.includes(found.kind)) while (frames.length > at) pop();
  };
  const startTerm = (tag: TagToken, kind: 'term' | 'definition'): void => {
    endItem(['term', 'definition']);
    const terms = frames.at(-1);
    if (terms?.kind !== 'terms') {
      push(tag, 'plain');
      return;
    }
    if (terms.item === 'definition' && kind === 'term') write('</li><li>');
    else if (terms.item === 'none') write('<li>');
    terms.item = kind;
    push(tag, kind);
  };
  return {
    inline,
    part,
    start: (tag, kind) => {
      part();
      if (frames.at(-1)?.tagName === 'p') pop();
      // An open heading ends where the next begins.
      if (kind === 'heading' && frames.at(-1)?.kind === 'heading') pop();
      if (flat !== undefined || (isNesting(kind) && nesting >= maxNesting)) {
        push(tag, 'plain');
      } else if (kind === 'heading') {
        // In a list, the writer of Markdown adds a heading to the line in front of it unless a paragraph begins there.
        const [before, behind] = nesting > 0 ? ['<p>', '</p>'] : ['', ''];
        push(tag, kind, `${before}<${tag.tagName}>`, `</${tag.tagName}>${behind}`);
      } else if (kind === 'summary') {
        if (push(tag, kind, '<p>', '</p>')) inline.open('strong');
      } else if (kind === 'list') {
        if (tag.tagName === 'ol') push(tag, kind, `<ol${firstNumber(tag)}>`, '</ol>');
        else push(tag, kind, '<ul>', '</ul>');
      } else if (kind === 'terms') {
        push(tag, kind, '<ul>', '</ul>');
      } else if (kind === 'quote') {
        push(tag, kind, '<blockquote>', '</blockquote>');
      } else if (kind === 'item') {
        endItem(['item']);
        if (frames.at(-1)?.kind === 'list') push(tag, kind, '<li>', '</li>');
        else push(tag, 'plain');
      } else if (kind === 'plain') {
        push(tag, kind);
      } else {
        startTerm(tag, kind);
      }
    },
    startTable: (tag) => {
      const shape = shapes[tableCount];
      tableCount += 1;
      part();
      if (frames.at(-1)?.tagName === 'p') pop();
      if (flat !== undefined) {
        push(tag, 'plain');
        return;
      }
      const isData = shape?.isData === true;
      if (push(tag, isData ? 'table' : 'layout')) {
        tables.push(isData ? createTableWriter(shape.columns, write) : undefined);
      }
    },
    startTablePart: (tag) => {
      const table = tables.at(-1);
      if (table === undefined) {
        part();
        return;
      }
      if (tag.tagName === 'td' || tag.tagName === 'th') {
        popAbove(['row', 'table']);
        if (push(tag, 'cell')) table.startCell(tag);
        return;
      }
      popAbove(['table']);
      if (tag.tagName === 'tr' && push(tag, 'row')) table.startRow();
    },
    end: (tagName) => {
      const extra = beyond.get(tagName) ?? 0;
      if (extra > 0) {
        beyond.set(tagName, extra - 1);
        part();
        return;
      }
      const isOfTable = tableElements.has(tagName);
      const at = frames.findLastIndex(
        (frame) => frame.tagName === tagName || (frame.kind === 'cell' && !isOfTable),
      );
      if (frames[at]?.tagName !== tagName) part();
      else while (frames.length > at) pop();
    },
    code: (text, language) => {
      part();
      if (flat === undefined) {
        if (frames.at(-1)?.tagName === 'p') pop();
        const around = frames.slice(-languageFrames).findLast((frame) => frame.language !== undefined);
        const named = language ?? around?.language;
        const attribute = named === undefined ? '' : ` class="language-${named}"`;
        write(`<pre><code${attribute}>${escapedText(text)}\n</code></pre>`);
        return;
      }
      inline.open('code');
      for (const line of text.split('\n')) {
        inline.text(line);
        part();
      }
      inline.close('code');
    },
    rule: () => {
      part();
      if (flat === undefined) write('<hr>');
    },
    get isInLayout() {
      return frames.at(-1)?.kind === 'layout';
    },
    finish: () => {
      while (frames.length > 0) pop();
      part();
    },
  };
}

const itemBarriers: readonly FrameKind[] = ['list', 'terms', 'quote', 'table', 'layout', 'cell'];
const tableElements: ReadonlySet<string> = new Set(['table', 'tr', 'td', 'th', 'thead', 'tbody', 'tfoot']);

/** Its words stand in one line. */
const isFlat = (kind: FrameKind): boolean => kind === 'heading' || kind === 'cell' || kind === 'summary';
const isNesting = (kind: FrameKind): boolean => kind === 'list' || kind === 'terms' || kind === 'quote';

function firstNumber({ attrs }: TagToken): string {
  const start = Number(attributeOf(attrs, 'start') ?? 1);
  return Number.isInteger(start) && start >= 0 && start < 1e6 && start !== 1 ? ` start="${start}"` : '';
}
