// What a visitor reads on a page, as a hash: a build that only renames scripts and styles changes no page. The text is that of the
// reader of pages. Never throws. Invariant: another reader has another number, because its hashes are not comparable.

import { createHash } from 'node:crypto';
import { type PageBounds, readPageText } from '#site/pages/page-text.ts';

/** Raised whenever the text of the same page becomes another one. Reports without a number are from a first reader, 1. */
export const pageReader = 2;

/** A page with fewer letters is drawn by its scripts. */
const leastLetters = 20;
/** The longest page that is read has no more text than that. */
const bounds: PageBounds = {
  maxText: 8 * 1024 * 1024,
  maxSections: 50_000,
  maxHeading: 300,
  maxLinks: 0,
  maxRanges: 0,
};
/** A date may change with each build; what a picture says does not. */
const content = { pictures: true, times: false };

/**
 * Of the content of a page: without menus, footers and dates.
 *
 * @returns SHA-256 in hexadecimal; `undefined` where the page has too little text or too much, or a tag that no browser would take
 */
export function pageTextHash(html: string): string | undefined {
  const { sections, isCut } = readPageText(html, bounds, content);
  if (isCut) return undefined;
  const hash = createHash('sha256');
  let letters = 0;
  for (const { heading, text } of sections) {
    // White space differs between builds.
    for (const part of [heading, text]) {
      const chars = part.replaceAll(/\s+/g, '');
      letters += chars.length;
      hash.update(chars);
    }
  }
  return letters < leastLetters ? undefined : hash.digest('hex');
}
