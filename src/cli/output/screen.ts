// What commands print for a person, as blocks: sentences, commands, tables and trees. Width, colour and "in 12 min" are
// decided here in one step, from the screen. Pure. Refuses: breaking a command, because what is cut cannot be copied.

import { withRelativeTimes } from './amounts.ts';
import { drawTree, type TableBlock, type TreeNode, tableLines, wrapSpans } from './layout.ts';
import {
  columnsOf,
  type Screen,
  type Spans,
  showSpans,
  spansOf,
  type TextSpan,
  textOfSpan,
} from './paint.ts';

export type Block =
  /** A line as it is, such as one of a log or of YAML. */
  | string
  | { readonly kind: 'prose'; readonly text: Spans; readonly first: string; readonly more: string }
  | { readonly kind: 'line'; readonly text: Spans }
  | { readonly kind: 'command'; readonly command: string; readonly effect: string; readonly indent: string }
  | { readonly kind: 'tree'; readonly root: TreeNode }
  | TableBlock;

const widestText = 120;
const usualColumns = 80;

/** Of a file or a pipe: lines stay whole, so that a program finds its words. */
export const plainScreen: Screen = {
  isTerminal: false,
  columns: Infinity,
  isColoured: false,
  now: Number.NaN,
};

/** @param stream that the lines go to */
export function screenOf(
  stream: { readonly isTTY?: boolean; readonly columns?: number },
  isColoured: boolean,
  now: number,
): Screen {
  const isTerminal = stream.isTTY === true;
  return { isTerminal, columns: isTerminal ? stream.columns || usualColumns : Infinity, isColoured, now };
}

/** Sentences. @param first before the first line @param more before the others */
export const prose = (text: Spans, first = '', more = ' '.repeat(first.length)): Block => ({
  kind: 'prose',
  text,
  first,
  more,
});

/** A line with a meaning, which is never broken. */
export const markedLine = (...text: readonly TextSpan[]): Block => ({ kind: 'line', text });

/** A line for each: `COMMAND  # EFFECT`, a command without an effect, or a sentence. */
export function stepBlocks(steps: readonly string[], indent = '  '): readonly Block[] {
  return steps.map((step) => {
    const [command = '', effect = ''] = step.split('  # ');
    if (effect === '' && !/^(?:static-export|kubectl) /.test(step)) return prose(step, indent);
    return { kind: 'command', command, effect, indent };
  });
}

export function renderBlocks(blocks: readonly Block[], screen: Screen): readonly string[] {
  return blocks.flatMap((block) =>
    typeof block === 'string'
      ? [block]
      : renderBlock(block, screen).map((line) => line.replaceAll('\u00a0', ' ')),
  );
}

function renderBlock(block: Exclude<Block, string>, screen: Screen): readonly string[] {
  const { isColoured } = screen;
  const width = screen.isTerminal ? Math.min(screen.columns, widestText) : Infinity;
  switch (block.kind) {
    case 'table':
      return tableLines(block, screen);
    case 'tree':
      return drawTree(timedTree(block.root, screen.now), { width, isColoured });
    case 'line':
      return [showSpans(timed(block.text, screen.now), isColoured)];
    case 'command':
      return commandLines(block, width, isColoured);
    case 'prose': {
      const { first, more } = block;
      const room = width - Math.max(columnsOf(first), columnsOf(more));
      const lines = wrapSpans(timed(block.text, screen.now), room);
      return lines.map((line, at) => `${at === 0 ? first : more}${showSpans(line, isColoured)}`);
    }
    default:
      return block satisfies never;
  }
}

/** An effect without room is a comment above its command. */
function commandLines(
  { command, effect, indent }: Extract<Block, { kind: 'command' }>,
  width: number,
  isColoured: boolean,
): readonly string[] {
  const shown = `${indent}${showSpans({ text: command, paint: 'strong' }, isColoured)}`;
  const comment = showSpans({ text: `# ${effect}`, paint: 'quiet' }, isColoured);
  if (effect === '') return [shown];
  const whole = columnsOf(`${indent}${command}  # ${effect}`);
  return whole <= width ? [`${shown}  ${comment}`] : [`${indent}${comment}`, shown];
}

function timed(text: Spans, now: number): Spans {
  if (Number.isNaN(now)) return text;
  return spansOf(text).map((span) => {
    const shown = withRelativeTimes(textOfSpan(span), now);
    return typeof span === 'string' ? shown : { ...span, text: shown };
  });
}

const timedTree = ({ text, children }: TreeNode, now: number): TreeNode => ({
  text: timed(text, now),
  children: children.map((child) => timedTree(child, now)),
});
