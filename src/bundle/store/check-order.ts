// The order of a check: which stored bundle, and of what digest. What the thread answers is in thread-message.ts:
// the index, or `bad` for a copy that is missing, damaged or of another digest, or that the disk could not be read.

import * as z from 'zod/mini';

/** Handed to the worker as `workerData`. */
export interface CheckOrder {
  readonly task: 'check';
  readonly folder: string;
  readonly digest: string;
}

const orderShape = z.object({ task: z.literal('check'), folder: z.string(), digest: z.string() });

/** @returns `undefined` for an order of another kind */
export function readCheckOrder(data: unknown): CheckOrder | undefined {
  return orderShape.safeParse(data).data;
}
