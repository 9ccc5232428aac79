// Instants as services write them: ISO with or without a zone, HTTP dates, epoch seconds or milliseconds.
// Owns the one reading of each; an instant without a zone is UTC, never the machine's own zone.
// Refuses to guess: what is none of these is `undefined`.

/** Above this a number is milliseconds (in seconds it would be the year 5138). */
const firstMillisecondCount = 100_000_000_000;

const zoneless = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?$/;
const dated = /^\d{4}-\d\d-\d\d|^[A-Za-z]{3,9},? /;

/** @returns epoch milliseconds, or `undefined` when `value` names no instant. Never throws. */
export function readInstant(value: unknown): number | undefined {
  if (typeof value === 'number') return fromCount(value);
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  if (/^\d{9,16}(?:\.\d+)?$/.test(text)) return fromCount(Number(text));
  if (!dated.test(text)) return undefined;
  const at = Date.parse(zoneless.test(text) ? `${text.replace(' ', 'T').replace(',', '.')}Z` : text);
  return Number.isNaN(at) ? undefined : at;
}

function fromCount(count: number): number | undefined {
  if (!Number.isFinite(count) || count <= 0) return undefined;
  const ms = Math.floor(count >= firstMillisecondCount ? count : count * 1000);
  return ms <= 8.64e15 ? ms : undefined;
}
