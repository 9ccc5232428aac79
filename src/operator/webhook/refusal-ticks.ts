// When refused hooks are answered: at ticks that no request sets, so that the time of an answer says nothing about the work
// behind it. A timer for each request would: its milliseconds are rounded from where the work ended. Invariant: work of
// less than a step is answered at the same tick, whatever it was.

import type { Clock } from '#platform/runtime/clock.ts';

/** Ticks go on for so long without a request: who asks again and again meets ticks that were there before. */
const idleTicks = 20;

interface Waiting {
  readonly tick: number;
  readonly resolve: () => void;
}

/** @returns to call when a request comes; what that returns resolves one to two steps later, or at the next tick after */
export function createRefusalTicks(
  clock: Pick<Clock, 'after'>,
  stepMs: number,
  shutdown: AbortSignal,
): () => () => Promise<void> {
  let tick = 0;
  let idle = idleTicks;
  let waiting: readonly Waiting[] = [];
  const run = async (): Promise<void> => {
    while (idle < idleTicks || waiting.length > 0) {
      // At the end of the program the answers leave at once.
      await clock.after(stepMs, shutdown).catch(() => {});
      tick += 1;
      idle += 1;
      const due = shutdown.aborted ? waiting : waiting.filter((one) => one.tick <= tick);
      waiting = waiting.filter((one) => !due.includes(one));
      for (const { resolve } of due) resolve();
      if (shutdown.aborted) idle = idleTicks;
    }
  };
  const begin = (): void => {
    const isRunning = idle < idleTicks || waiting.length > 0;
    idle = 0;
    if (!isRunning) void run();
  };
  return () => {
    begin();
    const came = tick;
    return async () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      begin();
      waiting = [...waiting, { tick: Math.max(came + 2, tick + 1), resolve }];
      await promise;
    };
  };
}
