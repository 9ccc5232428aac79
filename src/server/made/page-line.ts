// The line that a page gets: the script that loads the search of its site, and the link to its Markdown. Owns the line's text, and the byte
// of the page before which it stands. Decides by the page's own bytes. Refuses XHTML, encodings in which ASCII is something else,
// fragments, and the script in pages whose policy refuses scripts of the site.

import type { BundleFile } from '#bundle/bundle-index.ts';
import { contentTypeOfFile, isDocument } from '#bundle/content-type.ts';
import { declarationBytes, isAsciiCompatible } from '#bundle/declared-charset.ts';
import { findHeadEnd } from '#platform/html/head-end.ts';
import { ownSearchFolder } from './made-task.ts';

/** Of a larger page the text would take the thread's memory. */
const largestPage = 16 * 1024 * 1024;

/** What a page gets. ASCII; `''` for nothing. */
export interface LineParts {
  readonly link: string;
  readonly script: string;
}

export interface PlacedLine {
  readonly text: string;
  readonly at: number;
  readonly hasScript: boolean;
}

/** @param basePath decoded, without trailing slash */
export function searchLine(basePath: string): string {
  const address = encodeURI(`${basePath}/${ownSearchFolder}search.js`).replaceAll('&', '&amp;');
  return `<script defer src="${address}"></script>`;
}

/** @param address of the Markdown of a page, as `addressOfTwin` writes it */
export function markdownLine(address: string): string {
  return `<link rel="alternate" type="text/markdown" href="${address}">`;
}

/** Whether a file may be a page that takes a line, by what is known without its bytes. */
export function mayTakeLine(file: BundleFile): boolean {
  return isDocument(file.path) && contentTypeOfFile(file).startsWith('text/html') && file.size <= largestPage;
}

/** @returns `undefined` for a page that can take nothing of it */
export function placeLine(
  file: BundleFile,
  body: Buffer,
  { link, script }: LineParts,
): PlacedLine | undefined {
  if (!isAsciiCompatible(contentTypeOfFile(file), body.subarray(0, declarationBytes))) return undefined;
  const html = body.toString('latin1');
  if (script !== '') {
    const at = findHeadEnd(html);
    if (at !== undefined) return { text: link + script, at, hasScript: true };
  }
  const at = link === '' ? undefined : findHeadEnd(html, false);
  return at === undefined ? undefined : { text: link, at, hasScript: false };
}
