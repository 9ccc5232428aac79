// What the bundle server counts while it serves. A request only adds to a number; site-metrics.ts shows the numbers at a
// scrape. Refuses to load the library of metrics: the site listens and serves before that is there.
// Invariant: nothing that was counted before is missing from a later scrape.

import type { BundleErrorKind } from '#bundle/bundle-error.ts';

export type DownloadOutcome = 'ok' | BundleErrorKind;

export interface SiteCounts {
  countReply(status: number, bodyBytes: number, tookMs: number): void;
  /** An answer to what could not be read as a request. */
  countRefusal(status: number): void;
  countDownload(outcome: DownloadOutcome): void;
  countPeerCopy(outcome: DownloadOutcome): void;
  countDamagedCopy(): void;
  countCutReaders(connections: number): void;
  readonly numbers: () => SiteNumbers;
  /** `observe` receives the seconds that each reply took, from the first reply on. */
  onDuration(observe: (seconds: number) => void): void;
}

/** As they are at that moment. */
export interface SiteNumbers {
  readonly repliesByStatus: ReadonlyMap<number, number>;
  readonly bodyBytes: number;
  readonly downloads: ReadonlyMap<DownloadOutcome, number>;
  readonly peerCopies: ReadonlyMap<DownloadOutcome, number>;
  readonly damagedCopies: number;
  readonly cutReaders: number;
}

export function createSiteCounts(): SiteCounts {
  const repliesByStatus = new Map([200, 304, 404, 500].map((status) => [status, 0]));
  const downloads = new Map<DownloadOutcome, number>([
    ['ok', 0],
    ['expired-link', 0],
    ['early-link', 0],
    ['refused-link', 0],
    ['transient', 0],
    ['rejected', 0],
  ]);
  const peerCopies = new Map<DownloadOutcome, number>([
    ['ok', 0],
    ['transient', 0],
    ['rejected', 0],
  ]);
  let bodyBytes = 0;
  let damagedCopies = 0;
  let cutReaders = 0;
  /** Of replies before there is an observer: those of the start's first tenths of a second. */
  const early: number[] = [];
  let observe = (seconds: number): void => {
    early.push(seconds);
  };
  const countStatus = (status: number): void => addOne(repliesByStatus, status);
  return {
    countRefusal: countStatus,
    countReply: (status, bytes, tookMs) => {
      countStatus(status);
      bodyBytes += bytes;
      observe(tookMs / 1000);
    },
    countDownload: (outcome) => addOne(downloads, outcome),
    countPeerCopy: (outcome) => addOne(peerCopies, outcome),
    countDamagedCopy: () => {
      damagedCopies += 1;
    },
    countCutReaders: (connections) => {
      cutReaders += connections;
    },
    numbers: () => ({ repliesByStatus, bodyBytes, downloads, peerCopies, damagedCopies, cutReaders }),
    onDuration: (next) => {
      observe = next;
      for (const seconds of early.splice(0)) next(seconds);
    },
  };
}

function addOne<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
