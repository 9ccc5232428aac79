// Reads sitemaps in all common forms (index, page list, gzip, plain text) and llms.txt, a site's contents in Markdown.
// Both are hints at pages that no link leads to. Never throws on any bytes.

import { gunzipSync } from 'node:zlib';
import { type AddressPosition, maxReferences } from './references/reference.ts';

export interface Sitemap {
  /** Addresses as written, in order. */
  readonly pages: readonly string[];
  /** Further sitemaps. */
  readonly sitemaps: readonly string[];
}

/** Far above what any browser takes. */
const maxUrlLength = 8192;
const maxTagLength = 4096 + maxUrlLength;
const empty: Sitemap = { pages: [], sitemaps: [] };
/** sitemaps.org: a sitemap is at most 50 MB, uncompressed. */
export const maxSitemapBytes = 50 * 1024 * 1024;

/** Reads what `/sitemap.xml` or a `Sitemap:` line led to; gzip by its magic bytes, never by its name. */
export function readSitemap(bytes: Uint8Array): Sitemap {
  const plain = unzip(bytes);
  if (plain === undefined) return empty;
  const text = new TextDecoder().decode(plain);
  if (!text.includes('<')) return { pages: readLines(text), sitemaps: [] };
  const locations: string[] = [];
  // A page's entry also lists its translations: <xhtml:link rel="alternate" href="…"/>.
  const alternates: string[] = [];
  let isIndex = false;
  for (const { kind, content } of readTags(text)) {
    if (kind === 'sitemapindex') isIndex = true;
    else if (content !== '' && locations.length + alternates.length < maxReferences) {
      (kind === 'loc' ? locations : alternates).push(content);
    }
  }
  if (isIndex) return { pages: [], sitemaps: locations };
  return { pages: [...locations, ...alternates], sitemaps: [] };
}

/** The start of a comment, or of one of the three tags that are read. */
const openings = /<(?:(!--)|(?:\w+:)?(loc)\s*>|(xhtml:link)\s|(?:\w+:)?(sitemapindex)[\s>])/gi;

interface Tag {
  readonly kind: 'loc' | 'link' | 'sitemapindex';
  readonly content: string;
}

/** In one pass, from start to start. A missing end is searched for once. */
function* readTags(text: string): Generator<Tag> {
  const tags = new RegExp(openings);
  // Neither reads past the next start of a tag, so the whole text is read once.
  const inLocation = /([^<]*(?:<!\[CDATA\[[^<]*)?)<\//y;
  const inTag = /[^<>]*/y;
  for (let match = tags.exec(text); match !== null; match = tags.exec(text)) {
    const [, comment, location, link] = match;
    if (comment !== undefined) {
      const end = text.indexOf('-->', tags.lastIndex);
      if (end < 0) return;
      tags.lastIndex = end + 3;
    } else if (location !== undefined) {
      inLocation.lastIndex = tags.lastIndex;
      yield { kind: 'loc', content: decodeXml(inLocation.exec(text)?.[1] ?? '') };
    } else if (link !== undefined) {
      inTag.lastIndex = tags.lastIndex;
      yield { kind: 'link', content: readAlternate(inTag.exec(text)?.[0] ?? '') };
    } else {
      yield { kind: 'sitemapindex', content: '' };
    }
  }
}

function readAlternate(content: string): string {
  const match = /\bhref\s*=\s*(?:"([^"]*)"|'([^']*)')/i.exec(content.slice(0, maxTagLength));
  return decodeXml(match?.[1] ?? match?.[2] ?? '');
}

/** The plain form: an address a line. */
function readLines(text: string): readonly string[] {
  const addresses = text.matchAll(/\S+/g).map(([line]) => line);
  const absolute = addresses.filter((address) => /^https?:\/\//i.test(address));
  return absolute.take(maxReferences).toArray();
}

/** Addresses of the Markdown links of an llms.txt. */
export function readLlmsText(text: string): readonly string[] {
  const links = text.matchAll(/\]\(\s*<?([^\s)>]{1,2000})/g).map(([, address = '']) => address);
  return links.take(maxReferences).toArray();
}

/** Where those addresses stand. */
export function readLlmsPositions(text: string): readonly AddressPosition[] {
  const links = text.matchAll(/(\]\(\s*<?)([^\s)>]{1,2000})/g);
  return links
    .map(({ 1: opening = '', 2: address = '', index }) => ({ text: address, at: index + opening.length }))
    .take(maxReferences)
    .toArray();
}

/** Where the addresses of a sitemap that is not compressed stand: a sitemap has whole addresses, of the site too. */
export function readSitemapPositions(text: string): readonly AddressPosition[] {
  const openings = text.includes('<')
    ? /<(?:\w+:)?loc\s*>\s*(?:<!\[CDATA\[\s*)?|\bhref\s*=\s*["']/gi
    : /(?:^|\s)(?=https?:)/gi;
  return text
    .matchAll(openings)
    .map((opening) => {
      const at = opening.index + opening[0].length;
      return { text: /^[^\s<>"'\]]*/.exec(text.slice(at, at + maxUrlLength))?.[0] ?? '', at, hasHost: true };
    })
    .take(maxReferences)
    .toArray();
}

function unzip(bytes: Uint8Array): Uint8Array | undefined {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  try {
    return gunzipSync(bytes, { maxOutputLength: maxSitemapBytes });
  } catch {
    return undefined;
  }
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function decodeXml(raw: string): string {
  const text = raw.slice(0, maxUrlLength).trim();
  if (text.startsWith('<![CDATA['))
    return text
      .slice(9)
      .replace(/\]\]>$/, '')
      .trim();
  return text
    .replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w+));/gi, (whole, hex, decimal, name) => {
      const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
      if (name !== undefined) return entities[String(name).toLowerCase()] ?? whole;
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    })
    .trim();
}
