// Entity tags and the conditions built on them (RFC 9110 §8.8.3, §13.1): made from the content's hash, never
// from a time or a size, because every file of a reproducible archive has the same time.
// Refuses: throwing. A header that is not a list of tags is a condition that does not hold.

import { hash } from 'node:crypto';
import type { BundleFile } from '#bundle/bundle-index.ts';
import type { ContentEncoding, FileForm } from './content-encoding.ts';

/**
 * The strong tag of a file's bytes as they are. 128 bits of the hash distinguish all contents;
 * an enprecompressed variant of the same file has a suffix of its own (`"…-br"`). A type that the export kept counts too: else a
 * browser would be told that nothing changed, and go on showing the bytes in the encoding that it had before.
 */
export function entityTagOf({ sha256, type }: Pick<BundleFile, 'sha256' | 'type'>): string {
  const named = type === undefined ? sha256 : hash('sha256', `${sha256} ${type}`, 'hex');
  return `"${named.slice(0, 32)}"`;
}

/**
 * The tag of a precompressed variant: other bytes, so another tag (RFC 9110 §8.8.3.3). It names the precompressed bytes
 * themselves, because two builds of one compressor make two bodies of the same file.
 *
 * @param tag of the file as it is
 * @param fingerprint of the precompressed body
 */
export function variantTagOf(tag: string, encoding: ContentEncoding, fingerprint: number): string {
  return `${tag.slice(0, -1)}-${encoding}-${fingerprint.toString(16).padStart(fingerprintDigits, '0')}"`;
}

/** As many hex digits as a number holds exactly; enough for the few bodies that one file may have. */
const fingerprintDigits = 13;

/** @param sha256 of a precompressed body, lower-case hex */
export function bodyFingerprint(sha256: string): number {
  return Number.parseInt(sha256.slice(0, fingerprintDigits), 16);
}

/** What may be sent to a client, as far as its conditions are about it. */
export interface SendableForms {
  /** Of the existing forms, the selected one first. */
  readonly tags: readonly [string, ...string[]];
  /** Of the file as it is. */
  readonly entityTag: string;
  /** Encodings that the client accepts, whether there is such a variant or not. */
  readonly encodings: readonly FileForm[];
}

/** One element of a list: `W/"…"` or `"…"`; the opaque part is any printable but the quote (RFC 9110 §8.8.3). */
const element = /(?:^|,)[ \t]*(W\/)?("[\x21\x23-\x7e\x80-\xff]*")[ \t]*(?=,|$)/g;

/**
 * `If-None-Match` (§13.1.2): the tag of what the client has already of this content. Weak comparison, under which a
 * precompressed variant that another server made, or this one before it was renewed, is as good as the one that is here.
 *
 * @param header as received; several lines joined by a comma
 */
export function findKnownTag(
  header: string,
  { tags, entityTag, encodings }: SendableForms,
): string | undefined {
  const text = header.trim();
  const [selected] = tags;
  // The usual case: one tag, exactly this one.
  if (text === '*' || text === selected) return selected;
  const named = new Set(Array.from(text.matchAll(element), (match) => match[2]));
  const exact = tags.find((tag) => named.has(tag));
  if (exact !== undefined || encodings.length === 0) return exact;
  const starts = encodings.map((encoding) => `${entityTag.slice(0, -1)}-${encoding}-`);
  for (const tag of named) if (tag !== undefined && isVariantTag(tag, starts)) return tag;
  return undefined;
}

const fingerprintText = /^[0-9a-f]{13}"$/;

function isVariantTag(tag: string, starts: readonly string[]): boolean {
  return starts.some((start) => tag.startsWith(start) && fingerprintText.test(tag.slice(start.length)));
}

/** `If-Match` (§13.1.1): true when one of these tags is named. A weak tag never matches. */
export function matchesStrongly(header: string, { tags }: Pick<SendableForms, 'tags'>): boolean {
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
