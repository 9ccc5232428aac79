// The links of a document that leaves its checkout: addresses of the sources, or plain text where no address is given. Pure.
// Refuses to guess an address. Invariant: no relative link stays, and links within the document and to hosts are kept.

import { posix } from 'node:path';

const link = /\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)/g;
/** An address of its own, or a heading of the same document. */
const isKept = /^(?:[a-z][a-z0-9+.-]*:|#|\/\/)/i;

/** Where the sources of a release are read; `undefined` leaves plain text. */
export const sourceFilesUrl = (sourceUrl: string | undefined, version: string): string | undefined =>
  sourceUrl === undefined ? undefined : `${sourceUrl.replace(/\/$/, '')}/blob/v${version}`;

/**
 * @param file of the document, from the root of the sources
 * @param filesUrl of {@link sourceFilesUrl}
 */
export function withSourceLinks(text: string, file: string, filesUrl: string | undefined): string {
  return text.replace(link, (all: string, label: string, target: string) => {
    if (isKept.test(target)) return all;
    if (filesUrl === undefined) return label;
    return `[${label}](${filesUrl}/${posix.join(posix.dirname(file), target)})`;
  });
}
