// Instants as services write them: ISO with or without a zone, HTTP dates, epoch seconds or milliseconds. Owns the
// one parser of each form. An instant without a zone is UTC, never the machine's own zone. Refuses to guess. Any
// other text is `undefined`.

/** A larger number is milliseconds (in seconds it would be the year 5138). */
const firstMillisecondCount = 100_000_000_000;

const isoForm =
  /^(\d{4}-\d\d-\d\d)(?:(?:[Tt]|\s+)(\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?)\s*([Zz]|UTC|GMT|[+-]\d\d(?::?\d\d)?)?)?$/;
/** `Sat, 21 Nov 2026 11:00:00 GMT`, `Saturday, 21-Nov-26 11:00:00 GMT`: the zone comes last, if there is one. */
const dayFirst =
  /^[a-z]{3,9},? \d\d?[ -][a-z]{3,9}[ -]\d{2,4}(?: \d\d?:\d\d(?::\d\d)?)?( (?:UTC?|GMT|Z|[ECMP][SD]T)?(?:[+-]\d\d:?\d\d)?)?$/i;
/** `Sat Nov 21 11:00:00 2026` of C, `Sat Nov 21 2026 11:00:00 GMT+0100` of JavaScript. */
const monthFirst =
  /^[a-z]{3,9},? [a-z]{3,9} {1,2}\d\d?(?: \d\d:\d\d:\d\d)? \d{4}(?: \d\d:\d\d:\d\d)?( (?:UTC|GMT)?(?:[+-]\d\d:?\d\d)?)?$/i;

/** @returns epoch milliseconds, or `undefined` when `value` is not an instant. Never throws. */
export function readForeignInstant(value: unknown): number | undefined {
  if (typeof value === 'number') return fromCount(value);
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  if (/^\d{9,16}(?:\.\d+)?$/.test(text)) return fromCount(Number(text));
  return readIso(text) ?? readWordedDate(text);
}

/**
 * A date with names of months: IMF-fixdate, its obsolete forms (RFC 9110 §5.6.7), and similar text.
 * @returns epoch milliseconds; without a zone it is UTC
 */
function readWordedDate(text: string): number | undefined {
  const words = text.trim().replace(/ ?\([^()]*\)$/, '');
  const found = dayFirst.exec(words) ?? monthFirst.exec(words);
  return found === null ? undefined : parse(found[1] === undefined ? `${words} GMT` : words);
}

/** A date without a time is its first instant in UTC. */
function readIso(text: string): number | undefined {
  const [, date, time = '00:00', zone = 'Z'] = isoForm.exec(text) ?? [];
  if (date === undefined) return undefined;
  const offset = /^[+-]/.test(zone) ? `${zone}00`.replace(/^(.\d\d):?(\d\d).*$/, '$1:$2') : 'Z';
  return parse(`${date}T${time.replace(',', '.')}${offset}`);
}

/** @param text names its zone: `Date.parse` would otherwise use the machine's own */
function parse(text: string): number | undefined {
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : at;
}

function fromCount(count: number): number | undefined {
  if (!Number.isFinite(count) || count <= 0) return undefined;
  const ms = Math.floor(count >= firstMillisecondCount ? count : count * 1000);
  return ms <= 8.64e15 ? ms : undefined;
}
