// Where a link of a page leads, as its Markdown has it: an absolute address, or one from the root of the host where the site's address is
// not known. Refuses addresses that hold a script or a document. Invariant: an address of another host stays what it is.

import { encodedSitePath } from '#bundle/repair/repair-site.ts';
import type { LocateAddress } from './content-html.ts';

export interface MarkdownSite {
  /** Scheme and host; `undefined` where they are not known. */
  readonly origin?: string | undefined;
  /** Path below which the site is served, such as `/docs`. */
  readonly basePath?: string | undefined;
}

const unknownOrigin = 'http://site.invalid';
/** Not followed by agents, and run or opened by readers. */
const refusedSchemes: ReadonlySet<string> = new Set([
  'about:',
  'blob:',
  'data:',
  'file:',
  'javascript:',
  'vbscript:',
]);

/**
 * @param path of a file in the bundle
 * @returns its absolute address, or that from the root of the host
 */
export function siteAddress(path: string, { origin = '', basePath = '' }: MarkdownSite): string {
  const prefix = basePath.replace(/\/+$/, '');
  // A parenthesis could end a link of Markdown.
  const encoded = encodedSitePath(`/${path}`).replaceAll('(', '%28').replaceAll(')', '%29');
  return `${origin}${prefix}${encoded}`;
}

/** @param base of `<base href>`, where the page has one */
export function locateFrom(path: string, site: MarkdownSite, base?: string): LocateAddress {
  const origin = site.origin ?? unknownOrigin;
  const page = new URL(siteAddress(path, { ...site, origin }));
  const from = (base === undefined ? undefined : URL.parse(base, page.href)) ?? page;
  return (address) => {
    const url = URL.parse(address, from.href);
    if (url === null || refusedSchemes.has(url.protocol)) return undefined;
    const isUnknown = url.origin === unknownOrigin;
    const text = isUnknown ? url.pathname + url.search + url.hash : url.href;
    // A bar parts the cells of a table.
    return text.replaceAll('|', '%7C');
  };
}
