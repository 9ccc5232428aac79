// What crosses between a thread of this folder and its starter, whatever the thread was asked to do: an order once,
// then how far it is, one last word, and after a good one the index in slices, each sent only when it is asked for.
// Refuses: errors as objects (a class does not survive the boundary); kind, code and our own words do.
// Invariant: no message holds more than a slice of rows, because taking one in stops every request meanwhile.

import * as z from 'zod/mini';
import type { BundleFile, BundleIndex, BundleNote } from '../bundle-index.ts';
import type { BundleLimits } from '../limits.ts';

/** Sent by the starter when it is ready for a slice. */
export const nextSlice = 'next';
/** Rows of one message. */
export const sliceRows = 500;

/** What is told of a bundle that was read. Its files follow in slices, to whoever wants them. */
export interface BundleSummary extends Omit<BundleIndex, 'files'> {
  readonly fileCount: number;
}

export function summaryOf({ digest, files, pages, sizeBytes, notes }: BundleIndex): BundleSummary {
  return { digest, pages, sizeBytes, notes, fileCount: files.length };
}

const number = z.number();
const count = z.int().check(z.nonnegative());

/** Of {@link BundleLimits}, for orders that carry them. */
export const limitsShape = z.object({
  maxArchiveBytes: number,
  maxTotalBytes: number,
  maxFileBytes: number,
  maxFiles: number,
  maxRatio: number,
  maxFrames: number,
  maxWindowBytes: number,
  maxPathBytes: number,
  maxPathSegments: number,
  maxMetadataBytes: number,
  downloadTimeoutMs: number,
  idleTimeoutMs: number,
  maxRedirects: number,
}) satisfies z.ZodMiniType<BundleLimits>;

const reportShape = z.discriminatedUnion('type', [
  z.object({ type: z.literal('progress'), receivedBytes: count, files: count }),
  z.object({
    type: z.literal('done'),
    summary: z.object({
      digest: z.string(),
      pages: count,
      sizeBytes: count,
      fileCount: count,
      notes: z.custom<readonly BundleNote[]>(Array.isArray),
    }),
  }),
  // Our own thread's rows, checked there: their frame is looked at here, not each row.
  z.object({ type: z.literal('rows'), rows: z.custom<readonly BundleFile[]>(Array.isArray) }),
  /** Of a check: missing, damaged, or not of this digest. */
  z.object({ type: z.literal('bad') }),
  z.object({
    type: z.literal('failed'),
    kind: z.enum(['dead-link', 'transient', 'refused']),
    code: z.string(),
    message: z.string(),
  }),
]);

export type ThreadReport = z.infer<typeof reportShape>;

/** @throws {z.core.$ZodError} when the thread's program is not ours */
export function parseThreadReport(message: unknown): ThreadReport {
  return reportShape.parse(message);
}
