// How many requests a run needs in all: what it sent, and a plan of the windows that are left, in the steps that the run
// will take. Pure. Refuses to name a number that may be off by more than a tenth: then it is too early. It supposes that the
// time to come is like what was read; a burst without a precedent is not foreseen.

import { costOf, paceOf, type ReadPart, turnRateOf } from './turn-rate.ts';
import { nextStep, type TimeSpan } from './windows.ts';

export interface Estimate {
  /** Percent of the time to read. */
  readonly percent: number;
  /** Of the whole run. `undefined`: too early to tell. */
  readonly requests: number | undefined;
}

export interface ListingProgress {
  /** What the last window held. */
  readonly rows: number;
  /** Sent for the last window. */
  readonly requests: number;
  /** Sent in the whole run. */
  readonly sent: number;
  /** Length of the next window. */
  readonly stepMs: number;
}

export interface Estimator {
  /** Takes the windows in the order in which they are read. */
  windowRead(window: TimeSpan, progress: ListingProgress): Estimate;
}

/** More parts are joined in pairs, so that a long run costs no more for each window. */
const mostParts = 512;
/** Windows that are planned one by one. */
const mostPlanned = 1000;
const tolerance = 0.1;

/** @param limit rows that a page may have */
export function createEstimator(spans: readonly TimeSpan[], limit: number): Estimator {
  const wholeMs = spans.reduce((sum, { from, until }) => sum + until - from, 0);
  let parts: readonly ReadPart[] = [];
  let readMs = 0;
  return {
    windowRead: ({ from, until }, { rows, requests, sent, stepMs }) => {
      parts = bounded([...parts, { ms: until - from, rows, requests }]);
      readMs += until - from;
      const percent = Math.min(100, (100 * readMs) / wholeMs);
      if (readMs >= wholeMs) return { percent, requests: sent };
      const rate = turnRateOf(parts, wholeMs - readMs);
      if (rate === undefined) return { percent, requests: undefined };
      const { pageRows, factor, factorDoubt } = paceOf(parts, limit);
      const left = unread(spans, readMs);
      const inAll = (perMs: number, times: number): number =>
        sent + times * planned(left, { stepMs, perMs, pageRows, limit });
      const expected = inAll(rate.perMs, factor);
      // A tenth of a few requests is less than one.
      const allowed = Math.max(1, tolerance * expected);
      const most = inAll(rate.perMs + rate.doubt, factor + factorDoubt);
      const least = inAll(Math.max(0, rate.perMs - rate.doubt), Math.max(0, factor - factorDoubt));
      const isKnown = most - expected <= allowed && expected - least <= allowed;
      return { percent, requests: isKnown ? Math.max(sent + 1, Math.round(expected)) : undefined };
    },
  };
}

function bounded(parts: readonly ReadPart[]): readonly ReadPart[] {
  if (parts.length <= mostParts) return parts;
  return parts.flatMap((part, at) => {
    if (at % 2 === 1) return [];
    const { ms, rows, requests } = parts[at + 1] ?? { ms: 0, rows: 0, requests: 0 };
    return [{ ms: part.ms + ms, rows: part.rows + rows, requests: part.requests + requests }];
  });
}

/** Lengths of what is left of the spans. */
function unread(spans: readonly TimeSpan[], readMs: number): readonly number[] {
  let read = readMs;
  return spans.flatMap(({ from, until }) => {
    const done = Math.min(until - from, read);
    read -= done;
    return until - from > done ? [until - from - done] : [];
  });
}

interface Plan {
  readonly stepMs: number;
  readonly perMs: number;
  readonly pageRows: number;
  readonly limit: number;
}

function planned(lengths: readonly number[], { stepMs, perMs, pageRows, limit }: Plan): number {
  const allMs = lengths.reduce((sum, ms) => sum + ms, 0);
  let step = stepMs;
  let requests = 0;
  let windows = 0;
  let doneMs = 0;
  for (const length of lengths) {
    for (let at = 0; at < length; ) {
      const ms = Math.min(step, length - at);
      const rows = perMs * ms;
      const cost = costOf(rows, pageRows);
      requests += cost;
      at += ms;
      doneMs += ms;
      windows += 1;
      if (windows >= mostPlanned) return (requests * allMs) / doneMs;
      if (ms === step) step = nextStep(step, { requests: Math.floor(cost), isFull: rows > limit / 2 });
    }
  }
  return requests;
}
