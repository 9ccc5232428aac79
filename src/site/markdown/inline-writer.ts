// Writes the words of one block after another as HTML in its plainest form: links, emphasis and code, each closed in its block. Keeps
// formats as counts and writes their tags when a word follows, so that no order of tags can nest them wrongly. Invariant: blanks
// stand outside of formats, and what is written is balanced after `endBlock`.

import { isPermalinkSign } from '../pages/permalink-sign.ts';

export type InlineFormat = 'strong' | 'em' | 'del' | 'code';

export interface InlineWriter {
  open(format: InlineFormat): void;
  close(format: InlineFormat): void;
  /** @param address `undefined`: what follows is text alone */
  openLink(address: string | undefined, isLocal: boolean): void;
  closeLink(): void;
  text(chars: string): void;
  space(): void;
  /** Before the next word, if a word of the block precedes it. */
  lineBreak(): void;
  image(address: string, alternative: string): void;
  /** Closes what is open in the output. A link goes on in no further block. */
  endBlock(): void;
}

interface Link {
  readonly address: string;
  /** Text that may be nothing but the sign of a permalink; `undefined` after other text. */
  held: string | undefined;
  isOver: boolean;
}

const formats = ['strong', 'em', 'del', 'code'] as const;
const punctuation = /[\p{P}\p{S}]/u;

/**
 * @param write takes HTML, in order
 * @param beginBlock called before the first word of a block
 */
export function createInlineWriter(write: (html: string) => void, beginBlock: () => void): InlineWriter {
  const counts: Record<InlineFormat, number> = { strong: 0, em: 0, del: 0, code: 0 };
  /** Opened within code, where they mean nothing. */
  const ignored: Record<InlineFormat, number> = { strong: 0, em: 0, del: 0, code: 0 };
  /** Of the output: in this order, the link first. */
  let shown: readonly (InlineFormat | Link)[] = [];
  let link: Link | undefined;
  let needsSpace = false;
  let needsBreak = false;
  /** The code in the output has ended, and another may follow. */
  let isCodeOver = false;
  let hasWord = false;
  let before = ' ';

  const wanted = (): readonly (InlineFormat | Link)[] => [
    ...(link === undefined || link.isOver ? [] : [link]),
    ...formats.filter((format) => counts[format] > 0),
  ];
  const shows = (one: InlineFormat | Link): string =>
    typeof one === 'string' ? `<${one}>` : `<a href="${escapedAttribute(one.address)}">`;
  const closeFrom = (kept: number): void => {
    for (const one of shown.slice(kept).reverse()) {
      write(typeof one === 'string' ? `</${one}>` : '</a>');
      if (typeof one !== 'string') before = ')';
      else if (one === 'code') before = '`';
    }
    shown = shown.slice(0, kept);
  };
  /** @param first the first character of what follows, as Markdown shows it */
  const follow = (first: string): void => {
    if (!hasWord) beginBlock();
    const target = wanted();
    let same = 0;
    const isBroken = needsBreak && hasWord && !/^[=\-+#>|~`]/.test(first);
    // A break within code would be text of it.
    const mayStay = isBroken ? 1 : shown.length;
    const endsCode = isBroken || isCodeOver;
    while (same < mayStay && shown[same] === target[same] && !(endsCode && target[same] === 'code'))
      same += 1;
    const closes = shown.slice(same).some(isEmphasis);
    const opens = typeof target[same] === 'string' && target.slice(same).some(isEmphasis);
    closeFrom(same);
    const isLinkNext = target.length > same && typeof target[same] !== 'string';
    const next = isLinkNext ? '[' : target.at(-1) === 'code' ? '`' : first;
    const isAfterSign = punctuation.test(before);
    const isBeforeSign = punctuation.test(next);
    // Between a letter and a sign, or next to another, Markdown takes an asterisk for itself.
    const isStuck =
      (closes && opens) ||
      (before === '`' && next === '`') ||
      (closes && isAfterSign && !isBeforeSign) ||
      (opens && !isAfterSign && isBeforeSign);
    if (isBroken) write('<br>');
    else if (hasWord && (needsSpace || needsBreak || isStuck)) write(' ');
    needsSpace = false;
    needsBreak = false;
    isCodeOver = false;
    for (const one of target.slice(same)) write(shows(one));
    shown = target;
    hasWord = true;
  };
  const put = (chars: string): void => {
    follow(chars.slice(0, 1));
    write(escapedText(chars));
    before = chars.slice(-1);
  };
  return {
    open: (format) => {
      if (counts.code > 0 && format !== 'code') ignored[format] += 1;
      else counts[format] += 1;
    },
    close: (format) => {
      if (ignored[format] > 0) ignored[format] -= 1;
      else if (counts[format] > 0) counts[format] -= 1;
      if (format === 'code' && counts.code === 0) isCodeOver = true;
    },
    openLink: (address, isLocal) => {
      link = address === undefined ? undefined : { address, held: isLocal ? '' : undefined, isOver: false };
    },
    closeLink: () => {
      link = undefined;
    },
    text: (chars) => {
      if (link?.held === undefined) {
        put(chars);
        return;
      }
      link.held += chars;
      if (isPermalinkSign(link.held)) return;
      const { held } = link;
      link.held = undefined;
      put(held);
    },
    space: () => {
      needsSpace = true;
    },
    lineBreak: () => {
      needsBreak = true;
    },
    image: (address, alternative) => {
      if (link !== undefined) link.held = undefined;
      follow('!');
      write(`<img src="${escapedAttribute(address)}" alt="${escapedAttribute(alternative)}">`);
      before = ')';
    },
    endBlock: () => {
      closeFrom(0);
      if (link !== undefined && hasWord) link.isOver = true;
      needsSpace = false;
      needsBreak = false;
      hasWord = false;
      before = ' ';
    },
  };
}

const isEmphasis = (one: InlineFormat | Link): boolean => one === 'strong' || one === 'em' || one === 'del';

export function escapedText(text: string): string {
  return text.replace(/[&<>]/g, (char) => (char === '&' ? '&amp;' : char === '<' ? '&lt;' : '&gt;'));
}

export function escapedAttribute(text: string): string {
  return escapedText(text).replaceAll('"', '&quot;');
}
