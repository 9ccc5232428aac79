// What a visitor reads on a page, as a hash: a build that only renames scripts and styles changes no page. Owns what counts as
// text. One pass over the tokens of a page. Never throws.

import { createHash, type Hash } from 'node:crypto';
import { readHtmlTokens, type TagToken } from '#platform/html/html-tokens.ts';

/** Not shown. */
const hidden: ReadonlySet<string> = new Set([
  ...['script', 'style', 'iframe', 'noembed', 'noframes', 'noscript', 'template'],
]);
/** The same on many pages, or new with each build: one added page changes all menus. */
const around: ReadonlySet<string> = new Set(['nav', 'footer', 'time']);
/** A page with fewer letters is drawn by its scripts. */
const leastLetters = 20;

/** A call for each word would take longer than its hash. */
const longestPending = 64 * 1024;

/** Text without its white space, which differs between builds. */
class Text {
  #letters = 0;
  #pending = '';
  readonly #hash: Hash = createHash('sha256');
  add(chars: string): void {
    this.#letters += chars.length;
    this.#pending += chars;
    if (this.#pending.length >= longestPending) this.#flush();
  }
  digest(): string | undefined {
    this.#flush();
    return this.#letters < leastLetters ? undefined : this.#hash.digest('hex');
  }
  #flush(): void {
    this.#hash.update(this.#pending);
    this.#pending = '';
  }
}

/**
 * Of the element `main` where the page has one, of the whole page otherwise; without menus and footers.
 *
 * @param pieceLength how much is read at a time; it changes nothing of the hash
 * @returns SHA-256 in hexadecimal; `undefined` where the page has too little text, or a tag that no browser would take
 */
export function pageTextHash(html: string, pieceLength?: number): string | undefined {
  const main = new Text();
  const body = new Text();
  const all = new Text();
  const depth = { main: 0, hidden: 0, around: 0 };

  const addText = (chars: string): void => {
    const text = chars.replaceAll(/\s+/g, '');
    if (depth.hidden > 0 || text === '') return;
    all.add(text);
    if (depth.around > 0) return;
    body.add(text);
    if (depth.main > 0) main.add(text);
  };
  const count = (tagName: string, change: 1 | -1): void => {
    const step = (name: keyof typeof depth): void => {
      depth[name] = Math.max(0, depth[name] + change);
    };
    if (tagName === 'main') step('main');
    if (hidden.has(tagName)) step('hidden');
    if (around.has(tagName)) step('around');
  };
  const start = ({ tagName, attrs }: TagToken, isOpen: boolean): void => {
    if (tagName === 'img') addText(attrs.find(({ name }) => name === 'alt')?.value ?? '');
    if (isOpen) count(tagName, 1);
  };
  const end = ({ tagName }: TagToken): void => count(tagName, -1);
  if (!readHtmlTokens(html, { start, end, text: addText }, pieceLength)) return undefined;
  // A menu without an end would hide the rest of its page.
  return depth.around > 0 ? all.digest() : (main.digest() ?? body.digest() ?? all.digest());
}
