// What the person on call wants to know of the source: the state in a word, the reason in a sentence, the
// last error, and when the next try comes. Kept by the watch, shown by `/status`. Holds no link.

import type { SourceDecision, SourceReading } from './source-decision.ts';

export type SourceState =
  | 'starting'
  | 'in-sync'
  | 'waiting-for-document'
  | 'unreadable-document'
  | 'preparing'
  | 'waiting-for-link'
  | 'backing-off'
  | 'refused';

export interface SourceError {
  readonly code: string;
  readonly message: string;
  /** Epoch ms. */
  readonly at: number;
}

/** What is published, as far as it may be shown. */
export interface PublishedFacts {
  readonly version: string | undefined;
  readonly digest: string | undefined;
  readonly jobId: string | undefined;
  /** Epoch ms. */
  readonly expiresAt: number | undefined;
}

export interface SourceProgress {
  readonly state: SourceState;
  /** As last read; kept while the document is away. */
  readonly published: PublishedFacts | undefined;
  readonly lastError: SourceError | undefined;
  /** Epoch ms. */
  readonly lastCheckedAt: number | undefined;
  /** Epoch ms, by the wall clock as it was at the last look; for display only. */
  readonly retryAt: number | undefined;
  readonly download: { readonly receivedBytes: number; readonly files: number } | undefined;
}

export const startingProgress: SourceProgress = {
  state: 'starting',
  published: undefined,
  lastError: undefined,
  lastCheckedAt: undefined,
  retryAt: undefined,
  download: undefined,
};

/** The reading without its link. */
export function publishedFacts(reading: SourceReading): PublishedFacts | undefined {
  if (reading.kind !== 'published') return undefined;
  const { version, digest, jobId, expiresAt } = reading.published;
  return { version, digest, jobId, expiresAt };
}

const restStates = {
  'in-sync': 'in-sync',
  'no-document': 'waiting-for-document',
  'unreadable-document': 'unreadable-document',
} as const;

const waitStates = {
  'dead-link': 'waiting-for-link',
  'back-off': 'backing-off',
  refused: 'refused',
} as const;

/** The state that a decision puts the source into; the two that act at once show where they lead. */
export function stateOf(decision: SourceDecision): SourceState {
  switch (decision.action) {
    case 'rest':
      return restStates[decision.because];
    case 'wait':
      return waitStates[decision.because];
    case 'relabel':
      return 'in-sync';
    case 'obtain':
    case 'serve-last-good':
      return 'preparing';
    default:
      return decision satisfies never;
  }
}

/** Words for readiness and status, by state. */
export const stateWords: Readonly<Record<SourceState, string>> = {
  starting: 'looking for a bundle on disk and in the source',
  'in-sync': 'what is published is what is served',
  'waiting-for-document': 'there is no bundle document yet',
  'unreadable-document': 'the bundle document cannot be used',
  preparing: 'the published bundle is being fetched and checked',
  'waiting-for-link': 'the published link is dead; a fresh one is waited for',
  'backing-off': 'the published bundle could not be fetched; it will be tried again',
  refused:
    'the published archive was refused; another one is waited for, and this one tried again now and then',
};
