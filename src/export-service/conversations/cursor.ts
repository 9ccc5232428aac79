// Positions in the listing: a ULID for each turn, its time first, then a hash of what identifies it. Made from the row
// alone, so a cursor stays valid across restarts and reloads, and never expires. A cursor is a position and grants
// nothing: a made-up one is answered like a date.

import { createHash } from 'node:crypto';
import { encodeTime, TIME_MAX, ulid } from 'ulid';
import type { ConversationDocument } from '#export-api/contract.ts';

export interface StoredConversation {
  readonly project: string;
  /** Epoch ms, not before 1970 (a ULID cannot say earlier). */
  readonly at: number;
  readonly document: ConversationDocument;
}

/**
 * 48 bits of time and 80 bits of SHA-256 over project, id, time and question. A category or an answer that comes later
 * changes no cursor, so a row with another one replaces the row before.
 */
export function cursorOf({ project, at, document: { id, query } }: StoredConversation): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([project, id, at, query]))
    .digest();
  let position = 0;
  const nextFraction = (): number => (hash[position++] ?? 0) / 256;
  // Two calls: ulid() takes the time 0 for "now".
  return encodeTime(at) + ulid(1, nextFraction).slice(10);
}

/** Sorts after every ULID. */
export const lastOfAll = '~';

/**
 * A cursor starts with its time, so a date bound is a bound of cursors: every row at or after `at` sorts after it, and
 * none is equal to it, because it is shorter.
 */
export function firstCursorAt(at: number): string {
  if (at > TIME_MAX) return lastOfAll;
  return at <= 0 ? '' : encodeTime(at);
}
