// Entity tags and the conditions built on them (RFC 9110 §8.8.3, §13.1): made from the content's hash, never
// from a time or a size, because every file of a reproducible archive has the same time.
// Refuses: throwing. A header that is not a list of tags is a condition that does not hold.

import type { ContentCoding } from './content-coding.ts';

/**
 * The strong tag of a file's bytes as they are. 128 bits of the hash are plenty to tell contents apart;
 * an encoded form of the same file has a suffix of its own (`"…-br"`).
 *
 * @param sha256 lower-case hex
 */
export function entityTagOf(sha256: string): string {
  return `"${sha256.slice(0, 32)}"`;
}

/** Tags of the coded forms of a file: other bytes, so other tags (RFC 9110 §8.8.3.3). */
export function codedTagsOf(tag: string): Readonly<Record<ContentCoding, string>> {
  const opaque = tag.slice(0, -1);
  return { br: `${opaque}-br"`, gzip: `${opaque}-gzip"` };
}

/** One element of a list: `W/"…"` or `"…"`; the opaque part is any printable but the quote (RFC 9110 §8.8.3). */
const element = /(?:^|,)[ \t]*(W\/)?("[\x21\x23-\x7e\x80-\xff]*")[ \t]*(?=,|$)/g;

/**
 * `If-None-Match` (§13.1.2): the first of these tags whose content the client has already. Weak comparison.
 *
 * @param header as received; several lines joined by a comma
 * @param tags of the forms of one file that may be sent, the selected one first
 */
export function findKnownTag(header: string, tags: readonly string[]): string | undefined {
  const text = header.trim();
  const [selected] = tags;
  // The usual case is one tag, exactly ours.
  if (text === '*' || text === selected) return selected;
  const named = new Set(Array.from(text.matchAll(element), (match) => match[2]));
  return tags.find((tag) => named.has(tag));
}

/** `If-Match` (§13.1.1): true when one of these tags is named. A weak tag never matches. */
export function matchesStrongly(header: string, tags: readonly string[]): boolean {
  const text = header.trim();
  if (text === '*') return true;
  for (const match of text.matchAll(element)) {
    if (match[1] === undefined && tags.some((tag) => tag === match[2])) return true;
  }
  return false;
}

/**
 * `If-Range` (§13.1.5): true when a part may be sent. Strong comparison of one tag; a date never holds,
 * because nothing here has a time that could be compared.
 */
export function allowsRange(ifRange: string | undefined, tag: string): boolean {
  return ifRange === undefined || ifRange.trim() === tag;
}
