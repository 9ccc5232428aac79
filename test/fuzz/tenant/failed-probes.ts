// Rows of probes that failed one after another, and whether the operator itself is at fault. On a busy machine a process
// waits for a processor; its main thread has then used little processor time while no probe was answered.

import { z } from 'zod';

/** Probes that fail in a row before a kubelet acts. */
export const mostFailedInRow = 3;
/** A silence of this length is a fault on any machine: most processes wait much less for a processor. */
const longestWaitMs = 10_000;
/** The share of a row's time that a main thread at work uses, also where other programs take half of the processors. */
const busyShare = 0.5;

/** From the start of the first failed probe to the end of the last one, in ms since 1970. */
export const failedRowShape = z.object({
  from: z.number(),
  to: z.number(),
  failed: z.number(),
  /** No probe of the row got an answer or a refusal in time. */
  isSilent: z.boolean(),
});
export type FailedRow = z.infer<typeof failedRowShape>;

/** The processor time that the main thread had used at a time. */
export interface MeterReading {
  readonly at: number;
  readonly cpuMs: number;
}

/** @param readings in the order of their times */
export function isOwnFault(row: FailedRow, readings: readonly MeterReading[]): boolean {
  if (row.failed < mostFailedInRow) return false;
  if (!row.isSilent || row.to - row.from > longestWaitMs) return true;
  const before = readings.findLast(({ at }) => at <= row.from);
  const after = readings.find(({ at }) => at >= row.to);
  // Without a reading on both sides nothing speaks for the operator.
  if (before === undefined || after === undefined) return true;
  return after.cpuMs - before.cpuMs >= busyShare * (after.at - before.at);
}
