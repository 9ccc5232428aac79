// A reference as written in a page, a style sheet or a script, before it is resolved. The readers of each format
// produce these and nothing else; they never throw and never resolve.

import type { Span } from './next-stream.ts';

/** How much the site depends on it. */
export type ReferenceUse =
  | 'page' // a visitor may open it: followed, and counted if it is a document
  | 'asset' // a page loads it: missing it is worth a report
  | 'hint'; // it looks like an address: fetched, and not reported if it is missing

export interface Reference {
  readonly text: string;
  readonly use: ReferenceUse;
}

/** A reference with its position, in a text of one character for each byte. */
export interface AddressPosition {
  readonly text: string;
  /** Where it begins in the source; blanks may come first. */
  readonly at: number;
  /** It only looks like an address. */
  readonly isGuess?: boolean;
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
