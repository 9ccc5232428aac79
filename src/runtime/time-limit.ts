// Runs work that must end in time. The signal of `Clock.deadline` stays active until its time, even if the work took a
// millisecond. Here timer and signal end with the work, so that thousands of short calls leave nothing behind. Refuses
// to wait for work that ignores its signal; the work itself must end.

import type { Clock } from './clock.ts';

/**
 * @param work is given a signal that aborts with a `TimeoutError` after `ms`, or earlier with the parent's reason
 * @returns what the work returns or throws, whenever it does
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
