// Takes session ids out of the links of a page: the address without the id is the one that is crawled, and no file would have
// the other name. Pure over one page's source. Refuses text that is not a link. Invariant: a page without such a link is not
// changed, and the same page with another visitor's ids becomes the same bytes.

import { applyEdits, inOrder, type SourceEdit } from '#platform/html/source-edits.ts';
import { baseUrl } from '#site/references/body-links.ts';
import { readHtmlPositions } from '#site/references/html-positions.ts';
import { type Address, locate, originUrl, type SiteScope, sessionIds } from '#site/site-scope.ts';

/** What an id stands behind. To find none of them in bytes takes a tenth of the time of the whole pattern. */
const marks = [';j', ';J', '/('];

/** @param page its bytes @returns it without them, one character for each byte; `undefined` where it has none */
export function dropSessionIds(scope: SiteScope, address: Address, page: Uint8Array): string | undefined {
  const bytes = Buffer.from(page.buffer, page.byteOffset, page.byteLength);
  if (!marks.some((mark) => bytes.includes(mark, 0, 'latin1'))) return undefined;
  const source = bytes.toString('latin1');
  if (source.search(sessionIds) < 0) return undefined;
  const { positions, base } = readHtmlPositions(source);
  const against = baseUrl(base, originUrl(scope, address));
  // A position may be found twice.
  const edits = new Map<number, SourceEdit>();
  for (const position of positions) {
    const { where } = locate(scope, position.text, against);
    if (where !== 'inside' && where !== 'unsafe') continue;
    // References make a value longer as written, by at most this.
    const end = position.at + 6 * position.text.length + 64;
    const written = /^\s*[^"'<>\s?#]*/.exec(source.slice(position.at, end))?.[0] ?? '';
    for (const { 0: id, index } of written.matchAll(sessionIds)) {
      const at = position.at + index;
      edits.set(at, { at, drop: id.length, insert: '' });
    }
  }
  return edits.size === 0 ? undefined : applyEdits(source, [...edits.values()].sort(inOrder));
}
