// Limits how long a caller waits for work. The signal of `Clock.deadline` stays active until its time, even if the work
// took a millisecond. Here timer and signal end with the work, so that thousands of short calls leave nothing behind.
// Refuses to end the work itself: the code that started it owns its result.

import type { Clock } from './clock.ts';

/**
 * @param work is given a signal that aborts with a `TimeoutError` after `ms`, or earlier with the parent's reason
 * @returns the work's own result, once it settles
 */
export async function withinLimit<T>(
  clock: Pick<Clock, 'after'>,
  ms: number,
  parent: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController();
  const done = new AbortController();
  const pass = (): void => limit.abort(parent.reason);
  if (parent.aborted) pass();
  else parent.addEventListener('abort', pass, { once: true });
  const ring = (): void => limit.abort(new DOMException('not done in time', 'TimeoutError'));
  clock.after(ms, done.signal).then(ring, () => {});
  try {
    return await work(limit.signal);
  } finally {
    parent.removeEventListener('abort', pass);
    // With a reason of its own: without one, each would build an exception with its stack.
    done.abort('done');
  }
}

/**
 * For work that may ignore the caller's signal, or that other callers also wait for.
 * @param signal not aborted yet
 * @throws the signal's reason when it aborts first
 */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/**
 * Waits for work that goes on between reconciles.
 *
 * @returns the result, or `undefined` if the work takes longer than `ms`
 * @throws the signal's reason when it aborts first
 */
export async function waitAtMost<T>(
  work: Promise<T>,
  ms: number,
  clock: Pick<Clock, 'after'>,
  signal: AbortSignal,
): Promise<T | undefined> {
  const done = new AbortController();
  const limit = clock.after(ms, AbortSignal.any([signal, done.signal]));
  try {
    return await Promise.race([work, limit.then(() => undefined)]);
  } finally {
    done.abort();
  }
}
