// The line that loads the search of a site into a page, and the byte of a page before which it stands. Decides by the page's own
// bytes. Refuses XHTML, encodings in which ASCII is something else, fragments, and pages whose policy refuses scripts of the site.

import type { BundleFile } from '#bundle/bundle-index.ts';
import { contentTypeOfFile, isDocument } from '#bundle/content-type.ts';
import { declarationBytes, isAsciiCompatible } from '#bundle/declared-charset.ts';
import { findHeadEnd } from '#platform/html/head-end.ts';
import { ownSearchFolder } from './made-task.ts';

/** Of a larger page the text would take the thread's memory. */
const largestPage = 16 * 1024 * 1024;

/** @param basePath decoded, without trailing slash */
export function searchLine(basePath: string): string {
  const address = encodeURI(`${basePath}/${ownSearchFolder}search.js`).replaceAll('&', '&amp;');
  return `<script defer src="${address}"></script>`;
}

/** Whether a file may be a page that takes a line, by what is known without its bytes. */
export function mayTakeLine(file: BundleFile): boolean {
  return isDocument(file.path) && contentTypeOfFile(file).startsWith('text/html') && file.size <= largestPage;
}

/** @returns `undefined` for a page that cannot take one */
export function findLinePosition(file: BundleFile, body: Buffer): number | undefined {
  if (!isAsciiCompatible(contentTypeOfFile(file), body.subarray(0, declarationBytes))) return undefined;
  return findHeadEnd(body.toString('latin1'));
}
