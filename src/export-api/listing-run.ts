// The thread's side of a large page of conversations. Owns what may be parsed: sixty megabytes of `[],` would take four
// gigabytes. Invariant: the starter gets rows in pieces that cost its thread a few milliseconds each.

import type { SendReport } from '#platform/runtime/task.ts';
import { readJson } from '#platform/wire/json-text.ts';
import { pageLimits } from './contract.ts';
import { type ConversationRow, type Following, readConversationPage } from './conversation-answers.ts';
import { bodyText } from './refusals.ts';

export type ListingEnd = Following | 'tooManyValues' | 'notAPage';

/** A conversation has eight fields, and three more values for each source. */
export const mostValues = 500 * pageLimits.maximum;
/** Characters of the rows that are sent at once. */
const pieceLength = 1024 * 1024;

export async function readListing(
  body: Uint8Array,
  report: SendReport<readonly ConversationRow[]>,
): Promise<ListingEnd> {
  if (countValues(body) > mostValues) return 'tooManyValues';
  const page = readConversationPage(readJson(bodyText(body)));
  if (page === undefined) return 'notAPage';
  let piece: ConversationRow[] = [];
  let length = 0;
  for (const row of page.rows) {
    piece.push(row);
    length += lengthOf(row);
    if (length < pieceLength) continue;
    await report(piece);
    piece = [];
    length = 0;
  }
  await report(piece);
  return page.following;
}

const lengthOf = ({ query, response, sources }: ConversationRow): number =>
  100 + (query ?? '').length + (response ?? '').length + sources.length * 100;

const [quote, backslash, comma, bracket, brace] = [0x22, 0x5c, 0x2c, 0x5b, 0x7b];

/** At least as many as JSON text holds; at most twice as many, and two. Text that is not JSON has any number. */
export function countValues(json: Uint8Array): number {
  let values = 1;
  let isText = false;
  for (let at = 0; at < json.byteLength; at += 1) {
    const byte = json[at];
    if (byte === quote) isText = !isText;
    else if (isText) at += byte === backslash ? 1 : 0;
    else if (byte === comma) values += 1;
    else if (byte === bracket || byte === brace) values += 2;
  }
  return values;
}
