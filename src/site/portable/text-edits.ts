// Edits of the addresses of texts that are not pages: style sheets, also within a page, and web app manifests. Works on text with one
// character for each byte, so that nothing that is not an address changes, whatever the encoding. Never throws; one pass.

import type { SourceEdit } from '#platform/html/source-edits.ts';
import { readCssPositions } from '../references/css-references.ts';
import { readMemberPositions } from '../references/member-positions.ts';
import type { Relocated, TextAddresses } from './relocation.ts';

export type OnAddress = (relocated: Relocated) => void;

/** Text of one character for each byte, as UTF-8. Addresses in another encoding are ASCII or lead nowhere. */
export const asUtf8 = (text: string): string => Buffer.from(text, 'latin1').toString('utf8');

/** @param from where the style begins in its text */
export function styleEdits(
  css: string,
  addresses: TextAddresses,
  onAddress: OnAddress,
  from = 0,
): readonly SourceEdit[] {
  const edits: SourceEdit[] = [];
  for (const { text, at } of readCssPositions(css)) {
    const relocated = addresses.relocate(asUtf8(text), 'load');
    onAddress(relocated);
    if (relocated.text === undefined) continue;
    edits.push({ at: from + at, drop: writtenLength(css, at), insert: relocated.text });
  }
  return edits;
}

/** Up to the quote that ends the address, or to the end of its `url()`. */
function writtenLength(css: string, at: number): number {
  const before = /["'](?=\s*$)/.exec(css.slice(Math.max(0, at - 16), at))?.[0];
  const end =
    before === undefined
      ? /(?:[^\\)\s]|\\[\s\S])*/y
      : before === '"'
        ? /(?:[^\\"]|\\[\s\S])*/y
        : /(?:[^\\']|\\[\s\S])*/y;
  end.lastIndex = at;
  return end.exec(css)?.[0].length ?? 0;
}

const manifestMembers = ['src', 'url', 'start_url', 'scope', 'action'];

export function manifestEdits(
  source: string,
  addresses: TextAddresses,
  onAddress: OnAddress,
): readonly SourceEdit[] {
  const edits: SourceEdit[] = [];
  for (const { text, at } of readMemberPositions(source, manifestMembers)) {
    const relocated = addresses.relocate(asUtf8(text), 'load');
    onAddress(relocated);
    if (relocated.text === undefined) continue;
    const drop = /^(?:[^"'\\]|\\\/)*/.exec(source.slice(at, at + 8192))?.[0].length ?? 0;
    edits.push({ at, drop, insert: relocated.text });
  }
  return edits;
}
