// Reads HTML as tokens, for readers of pages that others wrote. Owns which elements hold text alone, and how large a tag may
// grow. Builds no tree: the tree of a page of megabytes takes hundreds of them. Never throws and never recurses.

import { type Token, Tokenizer, TokenizerMode } from 'parse5';

export type TagToken = Token.TagToken;

export interface TokenReader {
  /** @param isOpen false where nothing can be inside, and no end tag follows */
  start(tag: TagToken, isOpen: boolean): void;
  end(tag: TagToken): void;
  /** White space is not text. */
  text(chars: string): void;
  space?(chars: string): void;
  /** Asked between two pieces: whether nothing that follows matters. */
  isDone?(): boolean;
}

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

/** A tag is larger than this only to exhaust its reader: each attribute, each letter of a name takes memory. */
const maxAttributes = 1000;
const maxNameLength = 4096;
/** The bounds of the open tag are checked between two pieces. */
const usualPieceLength = 64 * 1024;

class BoundedTokenizer extends Tokenizer {
  /** Whether the tag that is open has grown beyond its bounds. */
  isTagEndless(): boolean {
    const { currentToken: token, currentAttr } = this;
    if (token === null || !('attrs' in token)) return false;
    return (
      token.attrs.length > maxAttributes ||
      token.tagName.length > maxNameLength ||
      currentAttr.name.length > maxNameLength
    );
  }
}

/**
 * @param pieceLength how much is read at a time; it changes nothing of what is found
 * @param hasLocations whether tags have the offsets of themselves and of their attributes
 * @returns whether it was read to its end; `false`: the reader is done, or it has a tag that no browser would take
 */
export function readHtmlTokens(
  html: string,
  reader: TokenReader,
  pieceLength = usualPieceLength,
  hasLocations = false,
): boolean {
  /** Open SVG and MathML elements. Within them `<style/>` is complete, and CDATA is text. */
  let foreignDepth = 0;
  const start = (tag: TagToken): void => {
    const { tagName, selfClosing } = tag;
    const isRoot = isForeignRoot(tagName);
    const isOpen = !(selfClosing && (isRoot || foreignDepth > 0));
    reader.start(tag, isOpen);
    if (!isOpen) return;
    if (isRoot) foreignDepth += 1;
    const isCode = tagName === 'style' || tagName === 'script';
    const mode = isCode || foreignDepth === 0 ? textModes[tagName] : undefined;
    if (mode !== undefined) tokenizer.state = mode;
    tokenizer.inForeignNode = foreignDepth > 0;
  };
  const end = (tag: TagToken): void => {
    reader.end(tag);
    if (isForeignRoot(tag.tagName)) foreignDepth = Math.max(0, foreignDepth - 1);
    tokenizer.inForeignNode = foreignDepth > 0;
  };
  const tokenizer = new BoundedTokenizer(
    { sourceCodeLocationInfo: hasLocations },
    {
      onStartTag: start,
      onEndTag: end,
      onCharacter: ({ chars }) => reader.text(chars),
      onWhitespaceCharacter: ({ chars }) => reader.space?.(chars),
      onNullCharacter: () => {},
      onComment: () => {},
      onDoctype: () => {},
      onEof: () => {},
    },
  );
  let at = 0;
  do {
    tokenizer.write(html.slice(at, at + pieceLength), at + pieceLength >= html.length);
    at += pieceLength;
  } while (at < html.length && !tokenizer.isTagEndless() && reader.isDone?.() !== true);
  return at >= html.length;
}

const isForeignRoot = (tagName: string): boolean => tagName === 'svg' || tagName === 'math';
