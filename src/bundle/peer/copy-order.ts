// The order of a copy: which peer has it, which bundle, and where it goes. What the thread answers is in
// thread-message.ts.

import * as z from 'zod/mini';
import type { BundleLimits } from '../limits.ts';
import { limitsShape } from '../thread/thread-message.ts';

/** Handed to the worker as `workerData`. */
export interface CopyOrder {
  readonly task: 'copy';
  /** Such as `http://10.0.0.7:9090`. */
  readonly origin: string;
  readonly digest: string;
  readonly storeDir: string;
  /** A folder of this copy alone, made by the worker and removed by the starter. */
  readonly workDir: string;
  readonly limits: BundleLimits;
  readonly userAgent: string;
}

const orderShape = z.object({
  task: z.literal('copy'),
  origin: z.string(),
  digest: z.string(),
  storeDir: z.string(),
  workDir: z.string(),
  limits: limitsShape,
  userAgent: z.string(),
});

/** @returns `undefined` for an order of another kind */
export function readCopyOrder(data: unknown): CopyOrder | undefined {
  return orderShape.safeParse(data).data;
}
