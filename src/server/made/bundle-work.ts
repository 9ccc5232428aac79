// Work of a thread for the active bundle: one bundle at a time, given up when another becomes active. Owns the state, and the wait until
// the thread can read the bundle. Invariant: a bundle that is no longer active changes no state.

import { bundleFolder } from '#bundle/store/store-layout.ts';
import { unlessAborted } from '#platform/runtime/time-limit.ts';
import type { LiveBundle } from '../content/live-bundle.ts';
import type { BundleServerFlags } from '../server-flags.ts';

export interface BundleWork<State> {
  readonly state: () => State;
  /** Ends what is under way: another bundle is active. */
  giveUp(): void;
  /** What is there already. */
  settle(state: State): void;
  /**
   * Begins when the work before has ended.
   *
   * @param work must not reject
   */
  begin(during: State, work: (signal: AbortSignal) => Promise<State>): Promise<void>;
  /** Resolves when the thread is gone. */
  stop(): Promise<void>;
}

export function createBundleWork<State>(first: State): BundleWork<State> {
  let state = first;
  let giveUp = new AbortController();
  let work: Promise<void> = Promise.resolve();
  return {
    state: () => state,
    giveUp: () => giveUp.abort(),
    settle: (settled) => {
      state = settled;
    },
    begin: (during, next) => {
      const own = new AbortController();
      giveUp = own;
      state = during;
      work = work
        .then(() => next(own.signal))
        .then((outcome) => {
          if (!own.signal.aborted) state = outcome;
        });
      return work;
    },
    stop: () => {
      giveUp.abort();
      return work;
    },
  };
}

/** Where the thread finds the bundle, and what it may take. */
export function describeWork(
  { digest, stored }: Pick<LiveBundle, 'digest' | 'stored'>,
  { store, encodingCpu, maxBundleSize }: Pick<BundleServerFlags, 'store' | 'encodingCpu' | 'maxBundleSize'>,
) {
  const maxBytes = Math.max(0, maxBundleSize - stored.index.sizeBytes);
  return { folder: bundleFolder(store, digest), digest, cpuPercent: encodingCpu, maxBytes };
}

/**
 * The thread reads the files where they are stored. Their check comes first: it proves what large files wait for.
 *
 * @throws what kept the bundle out of the store; the signal's reason
 */
export async function untilProven({ committed, stored }: LiveBundle, signal: AbortSignal): Promise<void> {
  await committed;
  signal.throwIfAborted();
  await unlessAborted(stored.proven(), signal);
}
