// Replaces `src/operator/reconcile/status/foreign-fields.ts`: whether a stored status has unknown fields is computed once. A
// status without unknown fields adds none to its successor.

import { keepForeign as keepAnew } from '#operator/reconcile/status/foreign-fields.ts';
import { isSameStatus } from '#operator/reconcile/status/status.ts';
import { byIdentity } from './memory.ts';
import { parseStatus } from './parse.ts';

type Next = Parameters<typeof keepAnew>[1];

/** Parsing drops unknown fields. */
const isKnownWhole = byIdentity((stored: object) => isSameStatus(stored, parseStatus(stored)));

export function keepForeign(stored: unknown, next: Next): Next {
  const isWhole =
    typeof stored === 'object' && stored !== null && Object.isFrozen(stored) && isKnownWhole(stored);
  // An empty group of operations counts as absent if there was one before.
  const isPlain = isWhole && (next['failures'] === undefined || !('failures' in stored));
  return isPlain ? next : keepAnew(stored, next);
}
