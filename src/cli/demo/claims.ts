// The claims of the demo: each is checked, timed and shown with its result. Owns the list of them. Invariant: a claim that
// was not checked to its end is not among those that hold.

import { type Clock, hasWaited } from '#platform/runtime/clock.ts';
import { PublishableError, publishableMessage } from '#platform/wire/publishable-error.ts';
import type { Progress } from '../output/progress.ts';

export interface DemoClaim {
  readonly claim: string;
  readonly holds: boolean;
  readonly seconds: number;
}

/** Thrown by a step whose claim is false. */
export class ClaimFailed extends PublishableError {
  constructor(message: string, options: { readonly cause?: unknown } = {}) {
    super('ClaimFailed', message, options);
  }
}

/** @throws {ClaimFailed} */
export function insist(holds: boolean, otherwise: string): void {
  if (!holds) throw new ClaimFailed(otherwise);
}

export interface Claims {
  readonly list: readonly DemoClaim[];
  /**
   * @param phase what is done meanwhile
   * @param run throws where the claim is false
   * @param describe the claim, with what was measured; default: the phase
   */
  check<T>(phase: string, run: () => Promise<T>, describe?: (result: T) => string): Promise<T>;
}

const textWidth = 70;

export function createClaims(
  progress: Progress,
  clock: Pick<Clock, 'monotonic'>,
  signal: AbortSignal,
): Claims {
  const list: DemoClaim[] = [];
  const show = (claim: string, holds: boolean, startedAt: number): void => {
    const seconds = Math.round((clock.monotonic() - startedAt) / 100) / 10;
    list.push({ claim, holds, seconds });
    progress.note(
      ` ${holds ? '✓' : '✗'} ${claim.padEnd(textWidth)} ${seconds.toFixed(1).padStart(4)} s`,
      holds ? 'good' : 'bad',
    );
  };
  return {
    list,
    check: async (phase, run, describe = () => phase) => {
      const startedAt = clock.monotonic();
      progress.phase(phase);
      try {
        const result = await run();
        show(describe(result), true, startedAt);
        return result;
      } catch (error) {
        // What a stop interrupts is neither true nor false.
        signal.throwIfAborted();
        show(`${phase}: ${publishableMessage(error)}`, false, startedAt);
        throw new ClaimFailed(publishableMessage(error), { cause: error });
      }
    },
  };
}

const lookEveryMs = 50;

/**
 * Waits until `look` returns a value; its errors count as "not yet".
 *
 * @param what completes the sentence "… was not seen within 20 s"
 * @throws {ClaimFailed}, the signal's reason
 */
export async function until<T>(
  what: string,
  look: () => Promise<T | undefined>,
  { clock, signal, timeoutMs = 20_000 }: { clock: Clock; signal: AbortSignal; timeoutMs?: number },
): Promise<T> {
  const endsAt = clock.monotonic() + timeoutMs;
  let last: unknown;
  for (;;) {
    try {
      const seen = await look();
      if (seen !== undefined) return seen;
    } catch (error) {
      last = error;
    }
    signal.throwIfAborted();
    if (clock.monotonic() > endsAt) {
      throw new ClaimFailed(`${what} was not seen within ${timeoutMs / 1000} s`, { cause: last });
    }
    await hasWaited(clock, lookEveryMs, signal);
  }
}
