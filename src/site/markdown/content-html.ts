// The content of a page as HTML in its plainest form, which a writer of Markdown cannot misread: balanced, without wrappers, permalinks
// and spans, with addresses of the site and the language of each block of code. One pass over tokens; never throws and never
// recurses. Invariant: its length is at most a constant times that of the page.

import { readHtmlTokens } from '#platform/html/html-tokens.ts';
import { attributeOf } from '../pages/content-scope.ts';
import { blockKindOf, inlineFormatOf, isLeftOut, isTablePart } from './block-elements.ts';
import { createBlockWriter } from './block-writer.ts';
import { type CodeBlock, createCodeBlock } from './code-block.ts';
import { readTableShapes } from './table-shapes.ts';

export interface ContentBounds {
  /** Characters of the result. */
  readonly maxLength: number;
  /** Lists and quotes within each other. */
  readonly maxNesting: number;
  /** Lines of all blocks of code: each is indented as its list is. */
  readonly maxCodeLines: number;
}

export const usualContentBounds: ContentBounds = {
  maxLength: 6 * 1024 * 1024,
  maxNesting: 8,
  maxCodeLines: 200_000,
};

export interface ContentHtml {
  readonly html: string;
  /** Whether bounds cut the content off. */
  readonly isCut: boolean;
}

/** @returns the address as the Markdown has it; `undefined` for one that leads nowhere, such as that of a script */
export type LocateAddress = (address: string) => string | undefined;

const maxAlternative = 1000;

/** @param source of the content alone, without what is hidden */
export function plainContent(
  source: string,
  locate: LocateAddress,
  bounds: ContentBounds = usualContentBounds,
): ContentHtml {
  const read = readContent(source, locate, bounds, false);
  // An element that is left out was never closed: what follows it may be content.
  return read.isLeavingOut ? readContent(source, locate, bounds, true) : read;
}

interface ReadContent extends ContentHtml {
  readonly isLeavingOut: boolean;
}

function readContent(
  source: string,
  locate: LocateAddress,
  bounds: ContentBounds,
  keepsAll: boolean,
): ReadContent {
  const pieces: string[] = [];
  let length = 0;
  let codeLines = 0;
  let isCut = false;
  let code: { readonly block: CodeBlock; depth: number } | undefined;
  let left: { readonly tagName: string; depth: number } | undefined;
  const blocks = createBlockWriter(readTableShapes(source), bounds.maxNesting, (html) => {
    pieces.push(html);
    length += html.length;
  });
  const { inline } = blocks;
  const endCode = (): void => {
    if (code === undefined) return;
    const { text, language, lines } = code.block.result();
    code = undefined;
    codeLines += lines;
    if (codeLines > bounds.maxCodeLines) isCut = true;
    else if (text !== '') blocks.code(text, language);
  };
  const isWhole = readHtmlTokens(source, {
    isDone: () => isCut || length > bounds.maxLength,
    start: (tag, isOpen) => {
      const { tagName, attrs } = tag;
      if (left !== undefined) {
        if (isOpen && left.tagName === tagName) left.depth += 1;
      } else if (isLeftOut(tag, code !== undefined || blocks.isInLayout, keepsAll)) {
        if (isOpen && tagName !== 'input') left = { tagName, depth: 1 };
      } else if (code !== undefined) {
        if (tagName === 'pre') code.depth += 1;
        else if (tagName === 'br') code.block.lineBreak();
        else code.block.start(tag);
      } else if (tagName === 'a') {
        const href = attributeOf(attrs, 'href');
        inline.openLink(href === undefined ? undefined : locate(href), href?.startsWith('#') === true);
      } else if (tagName === 'pre') {
        code = { block: createCodeBlock(tag), depth: 1 };
      } else if (tagName === 'br') {
        inline.lineBreak();
      } else if (tagName === 'hr') {
        blocks.rule();
      } else if (tagName === 'img') {
        const address = locate(attributeOf(attrs, 'src') ?? '');
        const alternative = (attributeOf(attrs, 'alt') ?? '').slice(0, maxAlternative);
        const words = alternative.replace(/\s+/g, ' ').trim();
        if (address !== undefined && words !== '') inline.image(address, words);
      } else if (tagName === 'table') {
        blocks.startTable(tag);
      } else if (isTablePart(tagName)) {
        blocks.startTablePart(tag);
      } else {
        const kind = blockKindOf(tag);
        const format = inlineFormatOf(tagName);
        if (kind !== undefined) blocks.start(tag, kind);
        else if (format !== undefined) inline.open(format);
      }
    },
    end: (tag) => {
      const { tagName } = tag;
      const format = inlineFormatOf(tagName);
      if (left !== undefined) {
        if (left.tagName === tagName) left.depth -= 1;
        if (left.depth === 0) left = undefined;
      } else if (code !== undefined) {
        if (tagName !== 'pre') code.block.end(tag);
        else if (code.depth > 1) code.depth -= 1;
        else endCode();
      } else if (format !== undefined) {
        inline.close(format);
      } else if (tagName === 'a') {
        inline.closeLink();
      } else if (tagName === 'table' || isTablePart(tagName) || blockKindOf(tag) !== undefined) {
        blocks.end(tagName);
      }
    },
    text: (chars) => {
      if (left !== undefined) return;
      if (code === undefined) inline.text(chars);
      else code.block.text(chars);
    },
    space: (chars) => {
      if (left !== undefined) return;
      if (code === undefined) inline.space();
      else code.block.text(chars);
    },
  });
  endCode();
  blocks.finish();
  return { html: pieces.join(''), isCut: isCut || !isWhole, isLeavingOut: left !== undefined };
}
