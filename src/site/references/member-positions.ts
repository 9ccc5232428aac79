// Where addresses stand in data: members such as `"href":"/x"` of JSON, also within a JavaScript string (`\"href\":\"/x\"`), and
// attributes of HTML that is text there (`href=\"/x\"`). Owns the names that count. Never throws; a position is
// found in one pass.

import { readSrcsetPositions } from '#platform/html/srcset.ts';
import { type AddressPosition, maxReferences } from './reference.ts';

const addressMembers = ['href', 'src', 'srcSet', 'srcset', 'imageSrcSet', 'action', 'formAction', 'poster'];
/** No address is longer; see `maxReferenceLength` of site-scope.ts. */
const maxLength = 8192;

/** @param names of members whose values are addresses */
export function readMemberPositions(
  source: string,
  names: readonly string[] = addressMembers,
): readonly AddressPosition[] {
  const name = `(${names.join('|')})`;
  const opening = new RegExp(String.raw`(?:"${name}\\{0,4}"\s{0,8}:\s{0,8}|[\s"']${name}=)\\{0,4}["']`, 'g');
  const positions: AddressPosition[] = [];
  for (const match of source.matchAll(opening)) {
    if (positions.length >= maxReferences) break;
    const at = match.index + match[0].length;
    // A slash may be escaped: `"\/x"`.
    const value = /^(?:[^"'\\]|\\\/)*/.exec(source.slice(at, at + maxLength))?.[0] ?? '';
    const found = match[1] ?? match[2] ?? '';
    if (/srcset$/i.test(found)) {
      for (const { text, at: from } of readSrcsetPositions(value)) positions.push({ text, at: from + at });
    } else positions.push({ text: value.replaceAll('\\/', '/'), at });
  }
  return positions;
}
