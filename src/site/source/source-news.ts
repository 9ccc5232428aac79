// What the log is told of the source: each change of its state, once. Loud where waiting may not be enough, so that a
// log at `warn` says all that a person must know, and nothing twice.
// Refuses: saying the same at every look, or because the same try comes again.

import { formatInstant } from '../../bundle/published-bundle.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { SourceKind } from './published-content.ts';
import { nameOf, reasonOf, type SourceProgress, type SourceState } from './source-progress.ts';

/** @param isTryAgain true when what is done now was tried before, with the same link */
export type TellNews = (before: SourceProgress, after: SourceProgress, isTryAgain: boolean) => void;

/** Remembers what was told last. */
export function newsTeller(logger: Logger, kind: SourceKind): TellNews {
  let told = '';
  return (before, after, isTryAgain) => {
    const { state, published, lastError, retryAt } = after;
    const error = state === 'unreadable-document' ? lastError : undefined;
    const news = JSON.stringify([state, nameOf(published), error?.message]);
    if (state === 'starting' || news === told) return;
    const { version, digest, jobId } = published ?? {};
    const reason = reasonOf(state, kind);
    const nextTry = retryAt === undefined ? undefined : formatInstant(retryAt);
    const fields = { state, version, digest, jobId, code: error?.code, retryAt: nextTry };
    const words = error === undefined ? reason : `${reason}: ${error.message}`;
    // The failure itself is told by whoever met it; in between there is nothing new.
    if (isTryAgain) {
      logger.debug(fields, words);
      return;
    }
    told = news;
    logger[loudnessOf(before, after)](fields, words);
  };
}

const warnings: ReadonlySet<SourceState> = new Set(['waiting-for-link', 'unreadable-document', 'refused']);

/** A document that was there and is gone is a warning too. */
function loudnessOf(before: SourceProgress, after: SourceProgress): 'info' | 'warn' {
  const isGone = after.state === 'waiting-for-document' && before.published !== undefined;
  return isGone || warnings.has(after.state) ? 'warn' : 'info';
}
