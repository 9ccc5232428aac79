// Sitemaps as they are found in the wild: index, page list, gzip, plain text; and llms.txt, a site's contents
// in Markdown. Both are hints at pages that no link leads to. Owns: reading them; never throws on any bytes.

import { gunzipSync } from 'node:zlib';

export interface Sitemap {
  /** Addresses as written, in order. */
  readonly pages: readonly string[];
  /** Further sitemaps. */
  readonly sitemaps: readonly string[];
}

/** Far above what any browser takes. */
const maxUrlLength = 8192;
const empty: Sitemap = { pages: [], sitemaps: [] };
/** sitemaps.org: a sitemap is at most 50 MB, uncompressed. */
const maxBytes = 50 * 1024 * 1024;

/** Reads what `/sitemap.xml` or a `Sitemap:` line led to; gzip by its magic bytes, never by its name. */
export function readSitemap(bytes: Uint8Array): Sitemap {
  const plain = unzip(bytes);
  if (plain === undefined) return empty;
  const text = withoutComments(new TextDecoder().decode(plain));
  if (!text.includes('<')) return { pages: text.split(/\s+/).filter(isAbsolute), sitemaps: [] };
  const locations = text
    .split(/<(?:\w+:)?loc\s*>/i)
    .slice(1)
    .map((part) => decodeXml(part.slice(0, Math.max(0, part.indexOf('</')))));
  if (/<(?:\w+:)?sitemapindex[\s>]/i.test(text)) return { pages: [], sitemaps: present(locations) };
  // Translations of a page stand beside it: <xhtml:link rel="alternate" href="…"/>.
  const alternates = text
    .split(/<xhtml:link\s/i)
    .slice(1)
    .map((part) => /^[^>]{0,4096}?\bhref\s*=\s*(?:"([^"]*)"|'([^']*)')/i.exec(part))
    .map((match) => decodeXml(match?.[1] ?? match?.[2] ?? ''));
  return { pages: present([...locations, ...alternates]), sitemaps: [] };
}

/** Addresses of the Markdown links of an llms.txt. */
export function readLlmsText(text: string): readonly string[] {
  return [...text.matchAll(/\]\(\s*<?([^\s)>]{1,2000})/g)].map((match) => match[1] ?? '');
}

function unzip(bytes: Uint8Array): Uint8Array | undefined {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  try {
    return gunzipSync(bytes, { maxOutputLength: maxBytes });
  } catch {
    return undefined;
  }
}

/** Splits, where a lazy regular expression would read to the end again for each comment that never ends. */
function withoutComments(text: string): string {
  const [head = '', ...rest] = text.split('<!--');
  return [
    head,
    ...rest.map((part) => (part.includes('-->') ? part.slice(part.indexOf('-->') + 3) : '')),
  ].join('');
}

function present(texts: readonly string[]): readonly string[] {
  return texts.filter((text) => text !== '');
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

function isAbsolute(line: string): boolean {
  return /^https?:\/\//i.test(line);
}
