// The progress of the source for the person on call: state, reason, last error, and the time of the next attempt. Kept
// by the watch, shown by `/status`, each change logged once. Holds no link. Invariant: it describes what is published
// now. A former publication and a resolved error are in the log only.

import type { ServedBundle } from '#bundle/published-bundle.ts';
import type { Logger } from '#platform/runtime/logger.ts';
import { formatInstant } from '#platform/wire/instant.ts';
import type { SourceKind } from './published-content.ts';
import { identityOf, type SourceDecision, type SourceReading } from './source-decision.ts';

export const sourceStates = [
  'starting',
  'in-sync',
  'waiting-for-bundle-json',
  'invalid-bundle-json',
  'preparing',
  'waiting-for-link',
  'link-not-yet-valid',
  'link-refused',
  'store-full',
  'backing-off',
  'rejected',
] as const;
export type SourceState = (typeof sourceStates)[number];

export interface SourceError {
  readonly code: string;
  readonly message: string;
  /** Epoch ms. */
  readonly at: number;
}

/** What is published, without the link. */
export type PublishedSummary = Omit<ServedBundle, 'link'>;

export interface SourceProgress {
  readonly state: SourceState;
  /** `undefined` without a valid bundle.json. */
  readonly published: PublishedSummary | undefined;
  /** Of the last attempt for what is published now, or of bundle.json; `undefined` once resolved. */
  readonly lastError: SourceError | undefined;
  /** Epoch ms. */
  readonly lastCheckedAt: number | undefined;
  /** Epoch ms, by the wall clock at the last check; for display only. */
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

/** The progress after a check. @param now epoch ms */
export function progressAfter(
  before: SourceProgress,
  reading: SourceReading,
  decision: SourceDecision,
  now: number,
): SourceProgress {
  const state = stateOf(decision) ?? before.state;
  const published = summarize(reading);
  return {
    ...before,
    state,
    published,
    lastError: standingError(before, reading, published, state, now),
    lastCheckedAt: now,
    retryAt: decision.action === 'wait' ? now + decision.waitMs : undefined,
  };
}

/** The reading without its link. */
function summarize(reading: SourceReading): PublishedSummary | undefined {
  if (reading.kind !== 'published') return undefined;
  const { link: _secret, ...summary } = reading.published;
  return summary;
}

function standingError(
  { lastError, published: before }: SourceProgress,
  reading: SourceReading,
  published: PublishedSummary | undefined,
  state: SourceState,
  now: number,
): SourceError | undefined {
  if (reading.kind === 'unreadable') {
    const { code, message } = reading;
    const isKnown = before === undefined && lastError?.code === code && lastError.message === message;
    return isKnown ? lastError : { code, message, at: now };
  }
  const isOther = identityOf(published) !== identityOf(before);
  const isOver = published === undefined || state === 'in-sync' || isOther;
  return isOver ? undefined : lastError;
}

/**
 * The state of the source after a decision. `undefined` for serving the last good bundle, which does not change it.
 */
export function stateOf(decision: SourceDecision): SourceState | undefined {
  switch (decision.action) {
    case 'rest':
    case 'wait':
      return decision.because;
    case 'relabel':
      return 'in-sync';
    case 'obtain':
      return 'preparing';
    case 'serve-last-good':
      return undefined;
    default:
      return decision satisfies never;
  }
}

const reasons: Readonly<Record<SourceState, string>> = {
  starting: 'checking the store and the source for a bundle',
  'in-sync': 'the published bundle is served',
  'waiting-for-bundle-json':
    'no bundle.json found; write it to the path of --bundle-file (checked at every --poll-interval)',
  'invalid-bundle-json':
    'bundle.json cannot be used; do what the last error says (read at every --poll-interval)',
  preparing: 'obtaining and verifying the published bundle, from the store, a peer, a mirror or its link',
  'waiting-for-link': 'link expired; waiting for a new one',
  'link-not-yet-valid':
    "the storage says that the link is not valid yet; waiting until it is. Check the clocks of the storage and of the link's signer",
  'link-refused':
    'the storage refuses a link that is not known to have expired; do what the last error says (retried after seconds, and later every minute)',
  'store-full':
    'the store has no room for the published bundle; free space or enlarge its volume (retried once there is room, at the latest at retryAt)',
  'backing-off':
    'could not obtain the published bundle; do what the last error says (the next attempt is at retryAt)',
  rejected:
    'the published archive was rejected; do what the last error says, or publish another one (this one is retried at intervals)',
};

/** Flags change with a restart only, so there is no other link or copy to wait for. */
const reasonsOfFlags: Readonly<Record<SourceKind, Readonly<Partial<Record<SourceState, string>>>>> = {
  'bundle-file': {},
  'bundle-url': {
    'waiting-for-link':
      'the link of --bundle-url expired; restart the server with a new one (this one is retried at intervals)',
    rejected:
      'the archive of --bundle-url was rejected; do what the last error says, or restart the server with another link (this one is retried at intervals)',
  },
  'bundle-ref': {
    rejected:
      'the copy at --bundle-ref was rejected; restart the server with another --bundle-ref and --digest (this one is retried at intervals)',
  },
};

/** The state as a sentence, for readiness, status and log. */
export function reasonOf(state: SourceState, kind: SourceKind): string {
  return reasonsOfFlags[kind][state] ?? reasons[state];
}

export type LogProgress = (before: SourceProgress, after: SourceProgress) => void;

/**
 * Logs each change of state once. A retry that ends as the attempt before it is not logged again, so that a log at
 * `warn` holds everything that needs a person, and nothing twice.
 */
export function progressLogger(logger: Logger, kind: SourceKind): LogProgress {
  let logged = '';
  return (before, after) => {
    const { state, published, lastError, retryAt } = after;
    const error = state === 'invalid-bundle-json' ? lastError : undefined;
    const change = JSON.stringify([state, identityOf(published), error?.message]);
    const isRetry = state === 'preparing' && identityOf(published) === identityOf(before.published);
    if (state === 'starting' || change === logged || isRetry) return;
    logged = change;
    const { version, digest, jobId } = published ?? {};
    const nextAttempt = retryAt === undefined ? undefined : formatInstant(retryAt);
    const fields = { state, version, digest, jobId, code: error?.code, retryAt: nextAttempt };
    const reason = reasonOf(state, kind);
    const isGone = state === 'waiting-for-bundle-json' && before.published !== undefined;
    const level = isGone || warnings.has(state) ? 'warn' : 'info';
    logger[level](fields, error === undefined ? reason : `${reason}: ${error.message}`);
  };
}

const warnings: ReadonlySet<SourceState> = new Set([
  'waiting-for-link',
  'link-not-yet-valid',
  'link-refused',
  'store-full',
  'invalid-bundle-json',
  'rejected',
]);
