// A block of code: its language, as generators write it, and its text without numbers of lines. Fed with tags and texts. Invariant: the
// text has no blank line at its ends.

import type { TagToken } from '#platform/html/html-tokens.ts';
import { blockKindOf } from './block-elements.ts';

export interface CodeBlock {
  start(tag: TagToken): void;
  end(tag: TagToken): void;
  text(chars: string): void;
  lineBreak(): void;
  result(): { readonly text: string; readonly language: string | undefined; readonly lines: number };
}

const namingAttributes: ReadonlySet<string> = new Set([
  'data-language',
  'data-lang',
  'language',
  'lang-name',
]);
/** Prism and highlight.js; Sphinx; Rouge. */
const namingClass = /^(?:language|lang|highlight|highlight-source)-([\w+#.-]{1,40})$/;
/** Of class names that look like a language, and of generators that know none. */
const noLanguage: ReadonlySet<string> = new Set([
  'default',
  'none',
  'source',
  'wrapper',
  'undefined',
  'null',
]);

/** The language that an element names, if it names one. */
export function languageOf({ attrs }: Pick<TagToken, 'attrs'>): string | undefined {
  for (const { name, value } of attrs) {
    if (namingAttributes.has(name) && /^[\w+#.-]{1,40}$/.test(value)) return known(value);
    if (name !== 'class') continue;
    for (const one of value.split(/\s+/, maxClasses)) {
      const language = known(namingClass.exec(one)?.[1]);
      if (language !== undefined) return language;
    }
  }
  return undefined;
}

const known = (language: string | undefined): string | undefined =>
  language === undefined || noLanguage.has(language) ? undefined : language;

const maxClasses = 20;

/** @param pre the tag that opens it */
export function createCodeBlock(pre: TagToken): CodeBlock {
  let language = languageOf(pre);
  const pieces: string[] = [];
  let isAtStart = true;
  const add = (chars: string): void => {
    if (chars === '') return;
    pieces.push(chars);
    isAtStart = chars.endsWith('\n');
  };
  /** Where a line is an element of its own. */
  const endLine = (): void => {
    if (!isAtStart) add('\n');
  };
  return {
    start: (tag) => {
      if (tag.tagName === 'code') language ??= languageOf(tag);
      if (isLine(tag)) endLine();
    },
    end: (tag) => {
      if (isLine(tag)) endLine();
    },
    text: add,
    lineBreak: () => add('\n'),
    result: () => {
      const text = withoutBlankEnds(pieces.join(''));
      return { text, language, lines: text.split('\n').length };
    },
  };
}

const isLine = (tag: TagToken): boolean => tag.tagName === 'tr' || blockKindOf(tag) !== undefined;

/** By position: a pattern for blanks at an end reads them once for each of them. */
function withoutBlankEnds(text: string): string {
  let [from, to] = [0, text.length];
  for (let at = 0; at < to && /\s/.test(text.charAt(at)); at += 1) if (text[at] === '\n') from = at + 1;
  while (to > from && /\s/.test(text.charAt(to - 1))) to -= 1;
  return text.slice(from, to);
}
