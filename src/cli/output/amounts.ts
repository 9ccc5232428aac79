// Amounts in sentences: a count with its noun, a size with its unit, a time as "in 12 min". Pure. Refuses: "1 pages", and
// sizes of more than four digits.

/** @param noun in its singular, whose plural ends in `s` */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

export function sizeWords(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB'];
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  return power === 0 ? counted(bytes, 'byte') : `${(bytes / 1024 ** power).toFixed(1)} ${units[power]}`;
}

const units: readonly (readonly [seconds: number, unit: string])[] = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
  [1, 's'],
];

/** @returns `in 12 min`, `3 h ago`; `undefined` for text that is not an instant */
export function relativeTime(instant: string, now: number): string | undefined {
  const seconds = Math.round((Date.parse(instant) - now) / 1000);
  if (Number.isNaN(seconds)) return undefined;
  const length = Math.abs(seconds);
  // Up to two units of one kind, so that "1 h" is never 1 h 59 min.
  const [size, unit] = units.find(([one]) => length >= 2 * one) ?? [1, 's'];
  const amount = `${Math.round(length / size)} ${unit}`;
  if (length === 0) return 'now';
  return seconds > 0 ? `in ${amount}` : `${amount} ago`;
}

/** The text, with "in 12 min" after each instant; its spaces do not break, so that a line does not end within it. */
export function withRelativeTimes(text: string, now: number): string {
  return text.replace(/\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z(?! \()/g, (instant) => {
    const relative = relativeTime(instant, now);
    return relative === undefined ? instant : `${instant} (${relative.replaceAll(' ', '\u00a0')})`;
  });
}
