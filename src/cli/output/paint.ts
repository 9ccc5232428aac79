// Text with its meaning, and where it is shown. A span says what it means; colour comes when its line is whole. Refuses:
// colour as the only sign; each painted word says it too. Whether a stream gets colours is decided by Node, from the
// terminal, NO_COLOR and FORCE_COLOR.

import { styleText } from 'node:util';

export type Paint = 'good' | 'bad' | 'unsure' | 'quiet' | 'strong';

const styles = { good: 'green', bad: 'red', unsure: 'yellow', quiet: 'dim', strong: 'bold' } as const;

/** Text, with what it means to a reader where it means something. */
export type TextSpan = string | { readonly text: string; readonly paint: Paint | undefined };
export type Spans = TextSpan | readonly TextSpan[];

/** Where lines are shown. */
export interface Screen {
  /** Elsewhere tables keep all columns, and their times are instants alone. */
  readonly isTerminal: boolean;
  readonly columns: number;
  readonly isColoured: boolean;
  readonly now: number;
}

export function hasColours(stream: NodeJS.WritableStream): boolean {
  return styleText('red', 'x', { stream }) !== 'x';
}

export function painted(text: string, paint: Paint): string {
  return styleText(styles[paint], text, { validateStream: false });
}

export const marked = (text: string, paint: Paint | undefined): TextSpan => ({ text, paint });

export const spansOf = (spans: Spans): readonly TextSpan[] =>
  typeof spans === 'string' || 'text' in spans ? [spans] : spans;

export const textOfSpan = (span: TextSpan): string => (typeof span === 'string' ? span : span.text);
export const textOfSpans = (spans: Spans): string => spansOf(spans).map(textOfSpan).join('');

export function showSpans(spans: Spans, isColoured: boolean): string {
  if (!isColoured) return textOfSpans(spans);
  return spansOf(spans)
    .map((span) =>
      typeof span === 'string' || span.paint === undefined || span.text === ''
        ? textOfSpan(span)
        : painted(span.text, span.paint),
    )
    .join('');
}

const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;

/** Columns of a terminal. */
export function columnsOf(text: string): number {
  let columns = 0;
  for (const letter of text) columns += /^\p{M}$/u.test(letter) ? 0 : wide.test(letter) ? 2 : 1;
  return columns;
}
