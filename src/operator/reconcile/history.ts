// The versions that can be pinned: newest publication first, bounded by the spec's limit.
// Invariant: the active and the pinned version are never evicted.

import type { HistoryEntry } from '#operator/staticexport/status-schema.ts';
import type { Pin } from '#operator/staticexport/wanted.ts';

/** True when the entry is what the pin names. */
export function isPinned(
  entry: { readonly version: string; readonly jobId: string },
  pin: Pin | undefined,
): boolean {
  return pin !== undefined && (entry.version === pin.version || entry.jobId === pin.jobId);
}

/**
 * @param history newest first
 * @param active becomes the first entry if it is new; otherwise it replaces the entry of the same version
 */
export function recordVersion(
  history: readonly HistoryEntry[],
  active: HistoryEntry,
  limit: number,
  pin: Pin | undefined,
): readonly HistoryEntry[] {
  const isKnown = history.some(({ version }) => version === active.version);
  const all = isKnown
    ? history.map((entry) => (entry.version === active.version ? active : entry))
    : [active, ...history];
  const isKept = (entry: HistoryEntry): boolean => entry.version === active.version || isPinned(entry, pin);
  let free = Math.max(0, limit - all.filter(isKept).length);
  return all.filter((entry) => {
    if (isKept(entry)) return true;
    free -= 1;
    return free >= 0;
  });
}
