// The text of a page as sections: a heading, how it is addressed, and the text below it. Fed with tags and words in their order. Refuses
// what goes beyond its bounds, and says so. Invariant: a text has single blanks between words, and none at its ends.

import type { TagToken } from '#platform/html/html-tokens.ts';
import { attributeOf, type ContentScope } from './content-scope.ts';

export interface PageSection {
  /** Fragment of its address, without `#`. */
  readonly id?: string | undefined;
  /** Empty for the text in front of the first heading. */
  readonly heading: string;
  /** 1 to 6; 0 in front of the first heading. */
  readonly level: number;
  readonly text: string;
}

export interface SectionBounds {
  /** Characters of all texts of a page. */
  readonly maxText: number;
  readonly maxSections: number;
  /** Characters of a heading. */
  readonly maxHeading: number;
}

export interface SectionWriter {
  start(tag: TagToken, isOpen: boolean, scope: ContentScope): void;
  end(tag: TagToken): void;
  text(chars: string, scope: ContentScope): void;
  space(): void;
  /** Ends the last section. @returns the sections of the scopes, in their order */
  sections(scopes: ReadonlySet<ContentScope>): readonly PageSection[];
  /** Characters of the texts of a scope. */
  lengthOf(scope: ContentScope): number;
  readonly isCut: boolean;
}

/** All other elements part words. */
const inlineElements: ReadonlySet<string> = new Set(
  'a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark nobr q rb ruby s samp small span strike strong sub sup time tt u var wbr'
    // Between two parts of a word they show nothing, or a picture.
    .concat(' svg script style template rp rt')
    .split(' '),
);

export const partsWords = (tagName: string): boolean => !inlineElements.has(tagName);
const headings: ReadonlySet<string> = new Set(['h1', 'h2', 'h3', 'h4', 'h5', 'h6']);
/** What generators put into a heading as a link to itself. */
const permalink = /^[\s#¶§↩\u{200b}\u{1f517}]*$/u;

interface Piece {
  readonly scope: ContentScope;
  readonly id: string | undefined;
  readonly heading: string;
  /** Undefined: goes on with the section before it, in another scope. */
  readonly level: number | undefined;
  text: string;
}

interface OpenHeading {
  readonly level: number;
  id: string | undefined;
  text: string;
  /** Where a link within it begins. */
  linkAt: number | undefined;
}

/** A text of one word a token takes forty bytes for each until its pieces are joined. */
const maxWords = 1024;

export function createSectionWriter(bounds: SectionBounds): SectionWriter {
  const pieces: Piece[] = [];
  const words: string[] = [];
  const lengths: Record<ContentScope, number> = { body: 0, article: 0, main: 0, mainArticle: 0 };
  /** Takes the text; `undefined` where there is no room for its section. */
  let last: Piece | undefined;
  let open: OpenHeading | undefined;
  /** The last `id` in front of which no text stands. */
  let pendingId: string | undefined;
  let needsSpace = false;
  let total = 0;
  let isCut = false;

  const join = (): void => {
    if (last !== undefined && words.length > 0) last.text += words.join('');
    words.length = 0;
  };
  const begin = (piece: Omit<Piece, 'text'>): void => {
    join();
    needsSpace = false;
    last = pieces.length < bounds.maxSections ? { ...piece, text: '' } : undefined;
    if (last === undefined) isCut = true;
    else pieces.push(last);
  };
  const finishHeading = (scope: ContentScope): void => {
    if (open === undefined) return;
    const { level, id, text } = open;
    open = undefined;
    needsSpace = true;
    const heading = text.trim();
    if (heading !== '') begin({ scope, id: id ?? pendingId, heading, level });
    pendingId = undefined;
  };
  const addToHeading = (heading: OpenHeading, chars: string, scope: ContentScope): void => {
    const blank = needsSpace && heading.text !== '' ? ' ' : '';
    heading.text += blank + chars.slice(0, bounds.maxHeading);
    // It was not closed.
    if (heading.text.length <= bounds.maxHeading) return;
    heading.text = heading.text.slice(0, bounds.maxHeading);
    finishHeading(scope);
  };
  const addToText = (chars: string, scope: ContentScope): void => {
    if (last?.scope !== scope) begin({ scope, id: undefined, heading: '', level: undefined });
    total += chars.length;
    if (last === undefined || total > bounds.maxText) {
      isCut = true;
      return;
    }
    lengths[scope] += chars.length;
    if (needsSpace) words.push(' ');
    if (words.push(chars) >= maxWords) join();
  };
  let scopeOfHeading: ContentScope = 'body';
  return {
    start: (tag, isOpen, scope) => {
      const { tagName, attrs } = tag;
      if (partsWords(tagName)) needsSpace = true;
      const id = attributeOf(attrs, 'id') ?? (tagName === 'a' ? attributeOf(attrs, 'name') : undefined);
      if (headings.has(tagName) && isOpen) {
        finishHeading(scopeOfHeading);
        open = { level: Number(tagName[1]), id: id || undefined, text: '', linkAt: undefined };
        scopeOfHeading = scope;
        return;
      }
      if (open === undefined) {
        pendingId = id || pendingId;
        return;
      }
      open.id ??= id || undefined;
      if (tagName !== 'a') return;
      open.linkAt = open.text.length;
      const href = attributeOf(attrs, 'href') ?? '';
      if (/^#./.test(href)) open.id ??= decodedFragment(href.slice(1));
    },
    end: ({ tagName }) => {
      if (partsWords(tagName)) needsSpace = true;
      if (headings.has(tagName)) finishHeading(scopeOfHeading);
      if (tagName !== 'a' || open?.linkAt === undefined) return;
      if (permalink.test(open.text.slice(open.linkAt))) open.text = open.text.slice(0, open.linkAt);
      open.linkAt = undefined;
    },
    text: (chars, scope) => {
      if (open !== undefined) addToHeading(open, chars, scope);
      // Of a term of a list, which Sphinx and MkDocs link like a heading.
      else if (chars !== '¶') {
        addToText(chars, scope);
        pendingId = undefined;
      }
      needsSpace = false;
    },
    space: () => {
      needsSpace = true;
    },
    sections: (scopes) => {
      finishHeading(scopeOfHeading);
      join();
      return mergedPieces(pieces.filter(({ scope }) => scopes.has(scope)));
    },
    lengthOf: (scope) => lengths[scope],
    get isCut() {
      return isCut;
    },
  };
}

function mergedPieces(pieces: readonly Piece[]): readonly PageSection[] {
  const merged: { section: Omit<PageSection, 'text'>; texts: string[] }[] = [];
  for (const { level, id, heading, text } of pieces) {
    const last = merged.at(-1);
    if (level === undefined && last !== undefined) last.texts.push(text.trim());
    else merged.push({ section: { id, heading, level: level ?? 0 }, texts: [text.trim()] });
  }
  return merged
    .map(({ section, texts }) => ({ ...section, text: texts.filter((text) => text !== '').join(' ') }))
    .filter(({ heading, text }) => heading !== '' || text !== '');
}

/** An `id` that a link within its own element names. */
function decodedFragment(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}
