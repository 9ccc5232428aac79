// Whether a call is sent once more, as data: what was answered, how often it was tried, how much time is left.
// Refuses: repeating what the server did not ask to have repeated, a wait that the call would not live to see the
// end of, and sending anything but a GET again where nobody knows what became of it.

import { UnansweredError } from './exchange.ts';

export interface Progress {
  /** The one that failed included. */
  readonly tries: number;
  /** Until the call's own deadline. */
  readonly leftMs: number;
}

export const maxTries = 4;
const maxWaitMs = 10_000;

/**
 * As client-go: only a server that says when wants to be asked again (429 and 5xx).
 *
 * @returns the time to wait before the next try, or `undefined` where the refusal is the answer
 */
export function waitBeforeNextTry(
  httpStatus: number,
  retryAfterMs: number | undefined,
  { tries, leftMs }: Progress,
): number | undefined {
  const isAsked = httpStatus === 429 || httpStatus >= 500;
  if (!isAsked || retryAfterMs === undefined || tries >= maxTries) return undefined;
  return retryAfterMs <= maxWaitMs && retryAfterMs < leftMs ? retryAfterMs : undefined;
}

/**
 * RFC 9110, 9.2.2: a server may close a kept connection at any time, with a request on its way included; a client
 * sends that one again by itself where this is safe, once.
 */
export function isWorthResending(method: string, error: unknown): boolean {
  return method === 'GET' && error instanceof UnansweredError;
}
