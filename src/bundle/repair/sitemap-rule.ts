// Sitemaps whose addresses the bundle server does not answer: each gets the address of its page, and an entry without a page goes.
// The host stays as it was. Works on text with one character for each byte, in one pass. Refuses an index of sitemaps, and a sitemap
// most of whose addresses are of another site or base path. Never throws.

import type { SourceEdit } from '#platform/html/source-edits.ts';
import { encodedSitePath, type RepairSite } from './repair-site.ts';

export function isSitemap(path: string): boolean {
  return /(?:^|\/)sitemap[^/]{0,200}\.xml$/i.test(path);
}

interface SitemapEntry {
  readonly from: number;
  readonly to: number;
  /** Of its address. */
  readonly at: number;
  readonly written: string;
}

/** sitemaps.org allows 2048 characters. */
const maxAddressLength = 8192;
// Not `\s`: among characters that are bytes it takes a part of a letter as a blank.
const openingTags =
  /<(?:(!--)|(!\[CDATA\[)|(sitemapindex)[ \t\r\n>]|(url)[ \t\r\n]{0,99}>|(\/url)[ \t\r\n]{0,99}>|loc[ \t\r\n]{0,99}>)/gi;
const entryAddress = /[ \t\r\n]{0,999}(?:<!\[CDATA\[[ \t\r\n]{0,999})?([^ \t\r\n<>\]]{1,8192})/y;

export function sitemapEdits(source: string, site: RepairSite): readonly SourceEdit[] {
  const entries = readEntries(source);
  const seen = new Set<string>();
  const edits: SourceEdit[] = [];
  let lost = 0;
  for (const { from, to, at, written } of entries ?? []) {
    const served = servedForm(written, site);
    if (served === undefined) lost += 1;
    if (served === undefined || seen.has(served)) edits.push({ at: from, drop: to - from, insert: '' });
    else if (served !== written) edits.push({ at, drop: written.length, insert: served });
    if (served !== undefined) seen.add(served);
  }
  return entries === undefined || lost * 2 > entries.length ? [] : edits;
}

/** @returns `undefined` for an index of sitemaps, and for what is not the XML of a sitemap */
function readEntries(source: string): readonly SitemapEntry[] | undefined {
  const openings = new RegExp(openingTags);
  const address = new RegExp(entryAddress);
  const entries: SitemapEntry[] = [];
  let from: number | undefined;
  let found: { readonly at: number; readonly written: string } | undefined;
  for (let match = openings.exec(source); match !== null; match = openings.exec(source)) {
    const [whole, comment, data, index, entry, entryEnd] = match;
    if (index !== undefined) return undefined;
    if (comment !== undefined || data !== undefined) {
      const close = comment === undefined ? ']]>' : '-->';
      const end = source.indexOf(close, openings.lastIndex);
      if (end < 0) return undefined;
      openings.lastIndex = end + close.length;
    } else if (entry !== undefined) {
      const start = endBefore(source, match.index);
      // Behind other text, what is left could join to another tag.
      if (from !== undefined || (start > 0 && source[start - 1] !== '>')) return undefined;
      from = start;
      found = undefined;
    } else if (entryEnd !== undefined) {
      if (from === undefined) return undefined;
      const to = match.index + whole.length;
      if (found !== undefined) entries.push({ from, to, ...found });
      from = undefined;
    } else if (from !== undefined && found === undefined) {
      address.lastIndex = openings.lastIndex;
      const written = address.exec(source)?.[1];
      if (written !== undefined && written.length < maxAddressLength) {
        found = { at: address.lastIndex - written.length, written };
      }
    }
  }
  return from === undefined ? entries : undefined;
}

/** @returns `undefined` where no page of the site is meant */
function servedForm(written: string, { servedAddress }: RepairSite): string | undefined {
  const [, origin = '', path = '', rest = ''] = /^(https?:\/\/[^/?#]+)([^?#]*)(.*)$/i.exec(written) ?? [];
  if (origin === '') return undefined;
  const decoded = decodedPath(path === '' ? '/' : path);
  const served = decoded === undefined ? undefined : servedAddress(decoded);
  if (served === undefined) return undefined;
  return served === decoded ? written : `${origin}${encodedSitePath(served)}${rest}`;
}

/** Where the blanks in front of a position begin. */
function endBefore(source: string, at: number): number {
  let end = at;
  while (end > 0 && ' \t\r\n'.includes(source.charAt(end - 1))) end -= 1;
  return end;
}

function decodedPath(path: string): string | undefined {
  const text = Buffer.from(path, 'latin1')
    .toString('utf8')
    .replaceAll('&amp;', '&')
    .replaceAll('&apos;', "'");
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
