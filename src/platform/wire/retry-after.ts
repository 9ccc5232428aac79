// Retry-After in both of its forms (RFC 9110 §10.2.3): a number of seconds, or an HTTP date. Refuses: trusting it
// without bound. Callers limit the wait; this file drops only impossible values.

/** A longer wait is a date in the wrong century, not a request to wait. */
const maxWaitMs = 30 * 24 * 60 * 60 * 1000;

/**
 * @param value the header as received
 * @param now epoch milliseconds, for the date form
 * @returns milliseconds to wait from `now` (never negative), or `undefined` when the value is not usable
 */
export function parseRetryAfter(value: string | null | undefined, now: number): number | undefined {
  const text = value?.trim() ?? '';
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1000, maxWaitMs);
  const at = parseHttpDate(text);
  return at === undefined ? undefined : Math.min(Math.max(0, at - now), maxWaitMs);
}

/** @returns epoch milliseconds of a date in one of HTTP's forms (RFC 9110 §5.6.7) */
export function parseHttpDate(text: string): number | undefined {
  if (!/^[A-Za-z]{3,9},? /.test(text)) return undefined;
  // The asctime form names no zone, and `Date.parse` would use this machine's.
  const at = Date.parse(/ (GMT|UTC|[+-]\d{4})$/.test(text) ? text : `${text} GMT`);
  return Number.isNaN(at) ? undefined : at;
}
