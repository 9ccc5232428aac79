// A check of a stored bundle that goes on while the bundle is served: how far it is, and how it ended. Refuses to call
// anything proven by its size or its time. Invariant: a byte counts as proven only when every file that begins before it
// was hashed in this run and is what the index says.

import { BundleError } from '../bundle-error.ts';

/** For those who read the bundle meanwhile. */
export interface PendingCheck {
  /** Whether the file that holds this byte of the pack is proven. */
  isProven(offset: number): boolean;
  /** Resolves when it is. Rejects as {@link end} does, if the check ends before it. */
  untilProven(offset: number): Promise<void>;
  /** Resolves when every file is proven. Rejects with {@link bundleDamaged}, or with why it could not be found out. */
  readonly end: Promise<void>;
}

/** For the check itself. */
export interface RunningCheck extends PendingCheck {
  /** Every file that begins before this byte is proven. */
  advance(position: number): void;
  finish(): void;
  fail(error: unknown): void;
}

export function createRunningCheck(): RunningCheck {
  const { promise: end, resolve, reject } = Promise.withResolvers<void>();
  end.catch(() => {}); // the one who opens the bundle gets it
  const waiting = new Set<{ readonly offset: number; readonly resolve: () => void }>();
  let position = 0;
  const isProven = (offset: number): boolean => offset < position;
  const wait = (offset: number): Promise<void> =>
    new Promise((resolve) => void waiting.add({ offset, resolve }));
  const advance = (next: number): void => {
    position = Math.max(position, next);
    for (const one of waiting) {
      if (!isProven(one.offset)) continue;
      waiting.delete(one);
      one.resolve();
    }
  };
  return {
    isProven,
    untilProven: async (offset) => {
      if (!isProven(offset)) await Promise.race([end, wait(offset)]);
    },
    end,
    advance,
    finish: () => {
      advance(Number.POSITIVE_INFINITY);
      resolve();
    },
    fail: reject,
  };
}

export const bundleDamagedCode = 'BundleDamaged';

export function bundleDamaged(): BundleError {
  const message = 'the stored bundle is not what its index says; check the volume of the store';
  return new BundleError('transient', bundleDamagedCode, message);
}
