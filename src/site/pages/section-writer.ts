// The text of a page as sections: a heading, how it is addressed, and the text below it. Fed with tags and words in their order. Refuses
// what goes beyond its bounds, and says so. Invariant: a text has single blanks between words, and none at its ends.

import type { TagToken } from '#platform/html/html-tokens.ts';
import { attributeOf, type ContentScope } from './content-scope.ts';
import { isPermalinkSign } from './permalink-sign.ts';

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
  link: OpenLink | undefined;
}

interface OpenLink {
  /** Where in the heading it begins, with the blank in front of it. */
  readonly at: number;
  readonly isAfterSpace: boolean;
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
  let isInOwnLink = false;
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
        open = { level: Number(tagName[1]), id: id || undefined, text: '', link: undefined };
        scopeOfHeading = scope;
        return;
      }
      const href = tagName === 'a' ? (attributeOf(attrs, 'href') ?? '') : undefined;
      if (href !== undefined) isInOwnLink = /^#./.test(href);
      if (open === undefined) {
        pendingId = id || pendingId;
        return;
      }
      open.id ??= id || undefined;
      if (href === undefined) return;
      open.link = { at: open.text.length, isAfterSpace: needsSpace };
      if (isInOwnLink) open.id ??= decodedFragment(href.slice(1));
    },
    end: ({ tagName }) => {
      if (partsWords(tagName)) needsSpace = true;
      if (headings.has(tagName)) finishHeading(scopeOfHeading);
      if (tagName !== 'a') return;
      isInOwnLink = false;
      if (open?.link === undefined) return;
      const { at, isAfterSpace } = open.link;
      open.link = undefined;
      if (!isPermalinkSign(open.text.slice(at))) return;
      open.text = open.text.slice(0, at);
      needsSpace ||= isAfterSpace;
    },
    text: (chars, scope) => {
      // Of a term of a list, which Sphinx and MkDocs link like a heading, or of a note.
      if (open === undefined && isInOwnLink && isPermalinkSign(chars)) return;
      if (open !== undefined) addToHeading(open, chars, scope);
      else {
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
