// The order of a preparation: a link, where to put what it leads to, and how much of anything it may cost. The link
// crosses as text, inside one process only. What the thread answers is in thread-message.ts.

import * as z from 'zod/mini';
import type { BundleLimits } from '../limits.ts';
import { limitsShape } from '../thread/thread-message.ts';

/** Handed to the worker as `workerData`. */
export interface PreparationOrder {
  readonly link: string;
  readonly storeDir: string | undefined;
  /** A folder of this preparation alone; the worker makes it when it needs one, the starter removes it. */
  readonly workDir: string;
  readonly expectedDigest: string | undefined;
  readonly limits: BundleLimits;
  readonly allowPrivateLinks: boolean;
  readonly allowFileLinks: boolean;
  readonly extraCaPem: string | undefined;
  readonly userAgent: string;
}

const orderShape = z.object({
  link: z.string(),
  storeDir: z.optional(z.string()),
  workDir: z.string(),
  expectedDigest: z.optional(z.string()),
  limits: limitsShape,
  allowPrivateLinks: z.boolean(),
  allowFileLinks: z.boolean(),
  extraCaPem: z.optional(z.string()),
  userAgent: z.string(),
});

/** @throws {z.core.$ZodError} when a program starts the worker with something else */
export function parseOrder(data: unknown): PreparationOrder {
  const { storeDir, expectedDigest, extraCaPem, ...rest } = orderShape.parse(data);
  return { ...rest, storeDir, expectedDigest, extraCaPem };
}
