// Spans in lines: prose that wraps at words, and nodes as a tree. Pure. Refuses: breaking a word, because a name that is
// cut cannot be copied.

import { columnsOf, type Span, type Spans, showSpans, spansOf, textOfSpan, textOfSpans } from './paint.ts';

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
export function wrapSpans(text: Spans, width: number): readonly (readonly Span[])[] {
  const lines: Span[][] = [];
  let line: Span[] = [];
  let taken = 0;
  for (const word of wordsOf(text)) {
    const columns = columnsOf(textOfSpans(word));
    if (line.length > 0 && taken + 1 + columns > width) {
      lines.push(line);
      line = [...word];
      taken = columns;
    } else {
      taken += line.length === 0 ? columns : columns + 1;
      line = line.length === 0 ? [...word] : [...line, ' ', ...word];
    }
  }
  return [...lines, line];
}

/** A word may have parts with other meanings: `Exported=` and `False`. */
function wordsOf(text: Spans): readonly (readonly Span[])[] {
  const words: Span[][] = [[]];
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
