// A reference as written in a page, a style sheet or a script, before it is resolved. The readers of each format
// produce these and nothing else; they never throw and never resolve.

import type { Span } from './next-stream.ts';

/** How much the site depends on it. */
export type ReferenceUse =
  | 'page' // a visitor may open it: followed, and counted if it is a document
  | 'asset' // a page loads it: missing it is worth a report
  | 'trial' // a page that may be missing: followed and counted, and not reported if it is missing
  | 'hint'; // it looks like an address: fetched, and not reported if it is missing

/** What a browser loads it as. */
export const loadUses = [
  ...(['script', 'style', 'font', 'picture', 'media', 'manifest', 'preload', 'prefetch'] as const),
  ...(['video', 'frame', 'connection', 'modules'] as const),
] as const;

/**
 * `media`: sound, and the subtitles of media. `manifest`: a description for browsers. `prefetch`: for the next page. `frame`: a
 * document or a picture in a frame. `connection`: opened ahead, and nothing is asked for. `modules`: a folder of them, or one
 * part of a site that gets its own; which of them a page loads is not known.
 */
export type LoadUse = (typeof loadUses)[number];

export interface Reference {
  readonly text: string;
  readonly use: ReferenceUse;
  /** Absent: a browser does not load it. */
  readonly load?: LoadUse;
  /** Only a script uses it: when a visitor comes near, or after a consent. */
  readonly isLate?: true;
}

/** A reference with its position, in a text of one character for each byte. */
export interface AddressPosition {
  readonly text: string;
  /** Where it begins in the source; blanks may come first. */
  readonly at: number;
  /** Where it ends in the source, if it is written as one piece. */
  readonly to?: number;
  /** It only looks like an address. */
  readonly isGuess?: boolean;
  /** In a style element: no character reference is one there. */
  readonly isRaw?: boolean;
  /** It names the site's host, and is an address of the site all the same. */
  readonly hasHost?: boolean;
}

/** Hashes of a file, in the element that has its address. */
export interface IntegrityPosition {
  /** As a browser reads it. */
  readonly address: string;
  /** Where the address begins in the source. */
  readonly addressAt: number;
  readonly hashes: Span;
}

export const asPage = (text: string): Reference => ({ text, use: 'page' });
export const asHint = (text: string): Reference => ({ text, use: 'hint' });

/** References that are taken of one body, at most. A page with more would be larger than any browser shows. */
export const maxReferences = 200_000;

/** Appends what there is room for. Never by spreading: arguments have a limit of their own, and throw beyond it. */
export function addReferences<T>(found: T[], more: Iterable<T>): void {
  for (const reference of more) {
    if (found.length >= maxReferences) return;
    found.push(reference);
  }
}
