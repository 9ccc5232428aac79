// How many requests a run needs, from those that it sent and the time that they covered. Pure. Refuses to guess before the
// first window.

import type { Span } from './windows.ts';

export interface Estimate {
  /** Percent of the time to read. */
  readonly percent: number;
  /** Of the whole run. `undefined` before anything was read. */
  readonly requests: number | undefined;
}

/** @param readMs time that was read. @param requests sent for it */
export function estimateOf(spans: readonly Span[], readMs: number, requests: number): Estimate {
  const wholeMs = spans.reduce((sum, { from, until }) => sum + until - from, 0);
  if (wholeMs === 0) return { percent: 100, requests };
  if (readMs === 0) return { percent: 0, requests: undefined };
  const requestsInAll = Math.max(requests, Math.round((requests * wholeMs) / readMs));
  return { percent: Math.min(100, (100 * readMs) / wholeMs), requests: requestsInAll };
}
