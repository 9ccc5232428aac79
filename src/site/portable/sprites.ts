// Symbols of pictures that a page uses from another file, as `<use href="icons.svg#x">`: a browser refuses those from a disk, so the page
// gets a copy of each. Pure. Refuses parts that run, or that name other files. Never throws; one pass over a sprite.

import { hash } from 'node:crypto';
import { readHtmlTokens, type TagToken } from '#platform/html/html-tokens.ts';

export interface SpriteSymbol {
  /** Its name in each page that gets it. */
  readonly id: string;
  readonly markup: string;
}

/** By the address within the site: `icons.svg#x`. */
export type Sprites = ReadonlyMap<string, SpriteSymbol>;

/** Larger pictures are no collections of symbols, and a page would get all of them. */
export const maxSpriteBytes: number = 512 * 1024;
const maxSymbols = 5000;
const plainId = /^[\w.:-]{1,100}$/;
/** Code, and references to what is not in the part. */
const needsMore = /<script|<style|\son\w{1,30}\s{0,9}=|href\s{0,9}=|url\(/i;

/**
 * @param path of the sprite
 * @param source one character for each byte
 */
export function readSprite(path: string, source: string): Sprites {
  const prefix = `sx-${hash('sha256', path, 'hex').slice(0, 8)}`;
  const symbols = new Map<string, SpriteSymbol>();
  let open: { readonly tag: TagToken; depth: number } | undefined;
  const close = (tag: TagToken, to: number): void => {
    const name = tag.attrs.find((attr) => attr.name === 'id')?.value ?? '';
    const { startOffset: from = to, attrs } = tag.location ?? {};
    const at = attrs?.['id'];
    const markup = source.slice(from, to);
    if (at === undefined || !plainId.test(name) || needsMore.test(markup) || symbols.size >= maxSymbols)
      return;
    const id = `${prefix}-${name}`;
    const renamed = `${source.slice(from, at.startOffset)}id="${id}"${source.slice(at.endOffset, to)}`;
    symbols.set(`${path}#${name}`, { id, markup: renamed });
  };
  const start = (tag: TagToken, isOpen: boolean): void => {
    if (open !== undefined) {
      if (isOpen && tag.tagName === open.tag.tagName) open.depth += 1;
      return;
    }
    // The whole picture has an id too, and is not a part of itself.
    if (tag.tagName === 'svg' || !tag.attrs.some(({ name }) => name === 'id')) return;
    if (isOpen) open = { tag, depth: 1 };
    else close(tag, tag.location?.endOffset ?? 0);
  };
  const end = (tag: TagToken): void => {
    if (open === undefined || tag.tagName !== open.tag.tagName) return;
    open.depth -= 1;
    if (open.depth > 0) return;
    close(open.tag, tag.location?.endOffset ?? 0);
    open = undefined;
  };
  readHtmlTokens(source, { start, end, text: () => {} }, undefined, true);
  return symbols;
}

/** What a page gets for the symbols that it uses. */
export function spriteMarkup(symbols: Iterable<SpriteSymbol>): string {
  const parts = [...symbols].map(({ markup }) => markup);
  return parts.length === 0 ? '' : `<svg style="display:none" aria-hidden="true">${parts.join('')}</svg>`;
}
