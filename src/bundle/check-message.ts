// What crosses between the thread that checks a stored bundle and the one that serves it: an order, a summary, and
// then the index in slices, each sent only when it is asked for.
// Invariant: no message holds more than a slice of rows, because taking one in stops every request meanwhile.

import { z } from 'zod';
import type { BundleFile, BundleNote } from './bundle-index.ts';

/** Handed to the worker as `workerData`. */
export interface CheckOrder {
  readonly task: 'check';
  readonly folder: string;
  readonly digest: string;
}

/** Sent by the receiver when it is ready for a slice. */
export const nextSlice = 'next';
/** Rows of one message. */
export const sliceRows = 500;

const count = z.int().nonnegative();

const orderShape = z.object({ task: z.literal('check'), folder: z.string(), digest: z.string() });

/** @returns `undefined` for an order of another kind */
export function readCheckOrder(data: unknown): CheckOrder | undefined {
  return orderShape.safeParse(data).data;
}

const reportShape = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('whole'),
    pages: count,
    sizeBytes: count,
    files: count,
    notes: z.custom<readonly BundleNote[]>(Array.isArray),
  }),
  // Our own worker's rows, checked there: their frame is looked at here, not each row.
  z.object({ type: z.literal('rows'), rows: z.custom<readonly BundleFile[]>(Array.isArray) }),
  /** Missing, damaged, or not of this digest. */
  z.object({ type: z.literal('bad') }),
  /** The disk could not be read. */
  z.object({ type: z.literal('failed'), code: z.string(), message: z.string() }),
]);

export type CheckReport = z.infer<typeof reportShape>;

/** @throws {z.ZodError} when the worker's program is not ours */
export function parseCheckReport(message: unknown): CheckReport {
  return reportShape.parse(message);
}
