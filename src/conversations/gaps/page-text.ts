// What a visitor reads on a page, as a hash: a build that only renames scripts and styles changes no page. Owns what counts as
// text. One pass over parse5's tokens, without a tree, because a page may have megabytes. Never throws.

import { createHash, type Hash } from 'node:crypto';
import { type Token, Tokenizer, TokenizerMode } from 'parse5';

/** Elements whose content is text to the tokenizer. The consumer of its tokens must set this mode. */
const textModes: Readonly<Record<string, Tokenizer['state']>> = {
  script: TokenizerMode.SCRIPT_DATA,
  style: TokenizerMode.RAWTEXT,
  iframe: TokenizerMode.RAWTEXT,
  noembed: TokenizerMode.RAWTEXT,
  noframes: TokenizerMode.RAWTEXT,
  xmp: TokenizerMode.RAWTEXT,
  title: TokenizerMode.RCDATA,
  textarea: TokenizerMode.RCDATA,
  plaintext: TokenizerMode.PLAINTEXT,
};

/** Not shown. */
const hidden: ReadonlySet<string> = new Set([
  ...['script', 'style', 'iframe', 'noembed', 'noframes', 'noscript', 'template'],
]);
/** The same on many pages, or new with each build: one added page changes all menus. */
const around: ReadonlySet<string> = new Set(['nav', 'footer', 'time']);
/** A page with fewer letters is drawn by its scripts. */
const leastLetters = 20;

/** A tag is larger than this only to exhaust its reader. */
const maxAttributes = 1000;
const maxNameLength = 4096;
/** The bounds of the open tag are checked between two pieces. */
const usualPieceLength = 64 * 1024;

class BoundedTokenizer extends Tokenizer {
  isTagEndless(): boolean {
    const { currentToken: token, currentAttr } = this;
    if (token === null || !('attrs' in token)) return false;
    const { attrs, tagName } = token;
    return (
      attrs.length > maxAttributes ||
      tagName.length > maxNameLength ||
      currentAttr.name.length > maxNameLength
    );
  }
}

/** Text without its white space, which differs between builds. */
class Text {
  #letters = 0;
  /** A call for each word would take longer than its hash. */
  #pending = '';
  readonly #hash: Hash = createHash('sha256');
  add(chars: string): void {
    this.#letters += chars.length;
    this.#pending += chars;
    if (this.#pending.length >= usualPieceLength) this.#flush();
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
export function pageTextHash(html: string, pieceLength = usualPieceLength): string | undefined {
  const main = new Text();
  const body = new Text();
  const all = new Text();
  const depth = { main: 0, hidden: 0, around: 0, foreign: 0 };

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
    if (tagName === 'svg' || tagName === 'math') step('foreign');
    tokenizer.inForeignNode = depth.foreign > 0;
  };
  const start = ({ tagName, attrs, selfClosing }: Token.TagToken): void => {
    if (tagName === 'img') addText(attrs.find(({ name }) => name === 'alt')?.value ?? '');
    const isForeign = depth.foreign > 0 || tagName === 'svg' || tagName === 'math';
    if (isForeign && selfClosing) return;
    count(tagName, 1);
    const mode = depth.foreign === 0 || hidden.has(tagName) ? textModes[tagName] : undefined;
    if (mode !== undefined) tokenizer.state = mode;
  };
  const tokenizer = new BoundedTokenizer(
    {},
    {
      onStartTag: start,
      onEndTag: ({ tagName }) => count(tagName, -1),
      onCharacter: ({ chars }) => addText(chars),
      onWhitespaceCharacter: () => {},
      onNullCharacter: () => {},
      onComment: () => {},
      onDoctype: () => {},
      onEof: () => {},
    },
  );
  for (let at = 0; at < html.length; at += pieceLength) {
    tokenizer.write(html.slice(at, at + pieceLength), at + pieceLength >= html.length);
    if (tokenizer.isTagEndless()) return undefined;
  }
  // A menu without an end would hide the rest of its page.
  return depth.around > 0 ? all.digest() : (main.digest() ?? body.digest() ?? all.digest());
}
