// Instants as the resource stores them: ISO 8601, UTC, whole seconds. Decisions use whole seconds too; otherwise a
// decision and its stored time would never agree.

/** Epoch ms rounded down to the second. */
export function wholeSecond(epochMs: number): number {
  return Math.floor(epochMs / 1000) * 1000;
}

const latest = Date.UTC(9999, 11, 31);

/** @param epochMs any instant; clamped to the range of the format */
export function formatInstant(epochMs: number): string {
  const clamped = Math.min(Math.max(0, wholeSecond(epochMs)), latest);
  return new Date(clamped).toISOString().replace('.000Z', 'Z');
}

/** Epoch ms, or `undefined` for absent or unreadable text. */
export function readInstant(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : wholeSecond(at);
}
