// Whether a call is retried, by its answer, its attempts so far and the time left.
// Refuses: a retry that the server did not ask for, a wait beyond the call's deadline, and sending anything but a GET again
// where the outcome is unknown.

import { UnansweredError } from './exchange.ts';

export interface CallProgress {
  /** The one that failed included. */
  readonly attempts: number;
  /** Until the call's own deadline. */
  readonly leftMs: number;
}

export const maxAttempts = 4;
const maxWaitMs = 10_000;

/**
 * As client-go: a 429 or 5xx is retried only where the server names a time.
 *
 * @returns the delay of the next attempt, or `undefined` where the refusal is the answer
 */
export function retryDelayMs(
  httpStatus: number,
  retryAfterMs: number | undefined,
  { attempts, leftMs }: CallProgress,
): number | undefined {
  const isAsked = httpStatus === 429 || httpStatus >= 500;
  if (!isAsked || retryAfterMs === undefined || attempts >= maxAttempts) return undefined;
  return retryAfterMs <= maxWaitMs && retryAfterMs < leftMs ? retryAfterMs : undefined;
}

/**
 * RFC 9110, 9.2.2: a server may close a kept connection at any time, also while a request is sent; a client repeats that
 * request once where this is safe.
 */
export function isWorthResending(method: string, error: unknown): boolean {
  return method === 'GET' && error instanceof UnansweredError;
}
