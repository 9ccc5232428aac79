// Stands in for `src/reconcile/status/foreign-fields.ts`: whether a stored status holds anything that this version has no name
// for is found out once. One that holds nothing of the kind gives nothing to what comes after it.

import { keepForeign as keepAnew } from '../../../src/reconcile/status/foreign-fields.ts';
import { isSameStatus } from '../../../src/reconcile/status/status.ts';
import { byIdentity } from './memory.ts';
import { parseStatus } from './parse.ts';

type Next = Parameters<typeof keepAnew>[1];

/** Reading leaves out what has no name. */
const isKnownWhole = byIdentity((stored: object) => isSameStatus(stored, parseStatus(stored)));

export function keepForeign(stored: unknown, next: Next): Next {
  const isWhole =
    typeof stored === 'object' && stored !== null && Object.isFrozen(stored) && isKnownWhole(stored);
  // Of the operations an empty group is none, if there were any before.
  const isPlain = isWhole && (next['failures'] === undefined || !('failures' in stored));
  return isPlain ? next : keepAnew(stored, next);
}
