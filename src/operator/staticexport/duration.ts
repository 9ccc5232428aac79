// Durations as users write them in a resource: `90s`, `15m`, `1h30m`, `7d`. The schema's pattern and the reader
// share one grammar, so that the operator understands what the Kubernetes API server accepts.

/** At most four parts, largest unit first by convention (not required). Used as the CRD's `pattern`. */
export const durationPattern = '^([0-9]{1,6}(ms|s|m|h|d)){1,4}$';

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const whole = new RegExp(durationPattern);

/** @returns milliseconds, or `undefined` for text that is not a duration */
export function parseDurationMs(text: string): number | undefined {
  if (!whole.test(text)) return undefined;
  let sum = 0;
  for (const [, count, unit] of text.matchAll(/([0-9]+)(ms|s|m|h|d)/g)) {
    sum += Number(count) * (unitMs[unit ?? ''] ?? 0);
  }
  return sum;
}
