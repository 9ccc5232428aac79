// Finds what a style sheet, a `<style>` element or a `style` attribute loads: `url()`, `@import`, `image-set()`. Works
// on tokens, so it reads custom properties and broken rules as a browser's tokenizer does. Never throws.

import { string as cssString, url as cssUrl, tokenize, tokenTypes } from 'css-tree';
import { type AddressPosition, type LoadUse, maxReferences, type Reference } from './reference.ts';

/** A string inside one of these is an address; elsewhere it is text. */
const addressFunctions = new Set(['url', 'src', 'image-set', '-webkit-image-set']);
/** Strings in these, nested in an address function, are not addresses. */
const plainFunctions = new Set(['type', 'format', 'tech', 'layer', 'supports']);

export function readCssReferences(css: string): readonly Reference[] {
  return readCssPositions(css).map(({ text, of }) => ({ text, use: 'asset', load: loadOf(of) }));
}

function loadOf(of: CssPosition['of']): LoadUse {
  if (of === undefined) return 'picture';
  return of === 'import' ? 'style' : 'font';
}

export interface CssPosition extends AddressPosition {
  /** Absent: a picture. */
  readonly of?: 'import' | 'font';
}

/** The same with their positions. */
export function readCssPositions(css: string): readonly CssPosition[] {
  const found: CssPosition[] = [];
  const add = (text: string, at: number, to: number): void => {
    if (text === '' || found.length >= maxReferences) return;
    if (atRule === '@import') found.push({ text, at, to, of: 'import' });
    else found.push(isInFont ? { text, at, to, of: 'font' } : { text, at, to });
  };
  /** Names of the functions and blocks that are open at this token. */
  const open: string[] = [];
  let atRule = '';
  let isInFont = false;
  tokenize(css, (type, start, end) => {
    if (type === tokenTypes.WhiteSpace || type === tokenTypes.Comment) return;
    const text = css.slice(start, end);
    switch (type) {
      case tokenTypes.Url:
        if (atRule !== '@namespace')
          add(cssUrl.decode(text), start + lengthOf(/^url\(\s*/i, text), start + urlEnd(text));
        break;
      case tokenTypes.String: {
        const inside = open.at(-1) ?? '';
        if (atRule === '@import' ? !plainFunctions.has(inside) : isAddress(inside, atRule)) {
          const quote = /(?:^.|[^\\])(["'])$/.test(text) ? 1 : 0;
          add(cssString.decode(text), start + lengthOf(/^.\s*/, text), end - quote);
        }
        break;
      }
      case tokenTypes.AtKeyword:
        atRule = text.toLowerCase();
        break;
      case tokenTypes.Semicolon:
      case tokenTypes.LeftCurlyBracket:
      case tokenTypes.RightCurlyBracket:
        // The prelude of an at-rule ends here, and so does any function left open by mistake.
        if (type !== tokenTypes.Semicolon) isInFont = atRule === '@font-face';
        atRule = '';
        open.length = 0;
        break;
      case tokenTypes.Function:
        open.push(text.slice(0, -1).toLowerCase());
        break;
      case tokenTypes.LeftParenthesis:
        open.push('');
        break;
      case tokenTypes.RightParenthesis:
        open.pop();
        break;
    }
  });
  return found;
}

/** Before the bracket and the blanks in front of it, where there is one. */
const urlEnd = (text: string): number => (text.endsWith(')') ? text.slice(0, -1).trimEnd() : text).length;

const lengthOf = (pattern: RegExp, text: string): number => pattern.exec(text)?.[0].length ?? 0;

function isAddress(inside: string, atRule: string): boolean {
  return addressFunctions.has(inside) && atRule !== '@namespace';
}
