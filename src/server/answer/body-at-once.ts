// The body of an answer without a wait: from memory, or from the pack where that is quick. Refuses large files, a slow disk,
// and what would exceed the memory that slow readers may hold.

import type { UnreadBytes } from '#platform/runtime/http/unread-bytes.ts';
import type { BodyCache, BodyPart } from '../content/body-cache.ts';
import { bundleOf, type SiteView } from '../content/live-site.ts';
import type { ReadPace } from '../content/read-pace.ts';
import type { ReplyBody } from './reply.ts';

/** What is read from a pack. */
export type FileBody = Extract<ReplyBody, { kind: 'file' }>;

interface BodyServing {
  readonly cache: BodyCache;
  readonly pace: ReadPace;
  readonly unread?: UnreadBytes | undefined;
}

/** What is read while others wait: tens of microseconds from the page cache. */
const largestAtOnce = 128 * 1024;

/**
 * The body without a wait: from memory, or from the pack where that is quick.
 *
 * @returns `undefined` for what has to be waited for
 * @throws as the disk does
 */
export function bodyAtOnce(
  { cache, pace, unread }: BodyServing,
  view: SiteView | undefined,
  body: FileBody,
): BodyPart | undefined {
  const isRoom = (): boolean => unread?.tryTake(body.endExclusive - body.start) !== false;
  const cached = cache.get(body.contentKey);
  if (cached !== undefined) return isRoom() ? cached.toSend(body.start, body.endExclusive) : undefined;
  const packed = body.variant ?? body.route.file;
  const isSmall = packed.size <= Math.min(cache.maxEntryBytes, largestAtOnce);
  if (!isSmall || !pace.isQuick() || !isRoom()) return undefined;
  const pack = bundleOf(view, body.route).packOf(body.variant);
  const read = (into: Buffer): void => pace.measure(() => pack.readIntoSync(packed, into));
  return cache.loadAtOnce(body.contentKey, packed.size, read).toSend(body.start, body.endExclusive);
}
