// A check of a stored bundle that goes on while the bundle is served: how far it is, and how it ended. Refuses to call
// anything proven by its size or its time. Invariant: a file counts as proven only when it was hashed in this run and is
// what the index says.

import { PublishableError } from '#platform/wire/publishable-error.ts';

/** For those who read the bundle meanwhile. */
export interface PendingCheck {
  /** Whether the file that holds this byte of the pack is proven. */
  isProven(offset: number): boolean;
  /** Resolves when it is. Rejects where it proves damaged, and as {@link end} does if the check ends before it. */
  untilProven(offset: number): Promise<void>;
  /** Resolves when every file is proven. Rejects with {@link bundleDamaged}, or with why it could not be found out. */
  readonly end: Promise<void>;
}

/** Where a damaged file lies in the pack. */
export interface DamagedBytes {
  readonly offset: number;
  readonly size: number;
}

/** For the check itself. */
export interface RunningCheck extends PendingCheck {
  /** Every file that begins before this byte is proven, but for the damaged ones. */
  advance(position: number): void;
  /** These bytes are of a damaged file. Comes in the order of the pack, and before the position is behind them. */
  damage(bytes: DamagedBytes): void;
  finish(): void;
  fail(error: unknown): void;
}

export function createRunningCheck(): RunningCheck {
  const { promise: end, resolve, reject } = Promise.withResolvers<void>();
  end.catch(() => {}); // the one who opens the bundle gets it
  const waiting = new Set<{
    readonly offset: number;
    readonly resolve: () => void;
    readonly reject: (error: unknown) => void;
  }>();
  const damaged: { readonly start: number; end: number }[] = [];
  const isDamaged = (offset: number): boolean =>
    damaged.some(({ start, end }) => start <= offset && offset < end);
  let position = 0;
  let failure: { readonly error: unknown } | undefined;
  const isProven = (offset: number): boolean => offset < position && !isDamaged(offset);
  const wait = (offset: number): Promise<void> =>
    new Promise((resolve, reject) => {
      if (isDamaged(offset)) reject(bundleDamaged());
      else if (failure !== undefined) reject(failure.error);
      else waiting.add({ offset, resolve, reject });
    });
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
      if (!isProven(offset)) await wait(offset);
    },
    end,
    advance,
    damage: ({ offset, size }) => {
      const last = damaged.at(-1);
      if (last?.end === offset) last.end += size;
      else damaged.push({ start: offset, end: offset + size });
      for (const one of waiting) {
        if (!isDamaged(one.offset)) continue;
        waiting.delete(one);
        one.reject(bundleDamaged());
      }
    },
    finish: () => {
      advance(Number.POSITIVE_INFINITY);
      resolve();
    },
    fail: (error) => {
      failure ??= { error };
      for (const one of waiting) one.reject(error);
      waiting.clear();
      reject(error);
    },
  };
}

/**
 * Of a pack that was hashed on its way to the disk: it is trusted unless the disk fails to store it. After a failed sync
 * the disk may give other bytes than were written.
 *
 * @param stored rejects where the disk failed
 */
export function trustUnlessLost(stored: Promise<unknown>): PendingCheck {
  let isLost = false;
  const end = stored.then(
    () => {},
    (error: unknown) => {
      isLost = true;
      throw error;
    },
  );
  end.catch(() => {}); // the one who opens the bundle gets it
  return { isProven: () => !isLost, untilProven: () => end, end };
}

export const bundleDamagedCode = 'BundleDamaged';

export function bundleDamaged(): PublishableError {
  const message = 'the stored bundle is not what its index says; check the volume of the store';
  return new PublishableError(bundleDamagedCode, message, { kind: 'retry' });
}
