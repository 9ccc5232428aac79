// What crosses between the preparing worker and its starter. The link crosses as text, inside one process only.
// Owns: the shape of both directions. Refuses: errors as objects (a class does not survive the boundary);
// kind, code and our own words do.

import { z } from 'zod';
import type { BundleIndex, BundleNote } from './bundle-index.ts';
import type { BundleLimits } from './limits.ts';

/** What is told of a bundle that was read. Its files stay where they are: taking in a long list stops the receiver. */
export interface BundleSummary extends Omit<BundleIndex, 'files'> {
  readonly fileCount: number;
}

export function summaryOf({ digest, files, pages, sizeBytes, notes }: BundleIndex): BundleSummary {
  return { digest, pages, sizeBytes, notes, fileCount: files.length };
}

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

const number = z.number();

const orderShape = z.object({
  link: z.string(),
  storeDir: z.string().optional(),
  workDir: z.string(),
  expectedDigest: z.string().optional(),
  limits: z.object({
    maxArchiveBytes: number,
    maxTotalBytes: number,
    maxFileBytes: number,
    maxFiles: number,
    maxRatio: number,
    maxPathBytes: number,
    maxPathSegments: number,
    maxMetadataBytes: number,
    downloadTimeoutMs: number,
    idleTimeoutMs: number,
    maxRedirects: number,
  }),
  allowPrivateLinks: z.boolean(),
  allowFileLinks: z.boolean(),
  extraCaPem: z.string().optional(),
  userAgent: z.string(),
});

/** @throws {z.ZodError} when a program starts the worker with something else */
export function parseOrder(data: unknown): PreparationOrder {
  const { storeDir, expectedDigest, extraCaPem, ...rest } = orderShape.parse(data);
  return { ...rest, storeDir, expectedDigest, extraCaPem };
}

const reportShape = z.discriminatedUnion('type', [
  z.object({ type: z.literal('progress'), receivedBytes: number, files: number }),
  z.object({
    type: z.literal('done'),
    summary: z.object({
      digest: z.string(),
      pages: number,
      sizeBytes: number,
      notes: z.custom<readonly BundleNote[]>(Array.isArray),
      fileCount: number,
    }),
  }),
  z.object({
    type: z.literal('failed'),
    kind: z.enum(['dead-link', 'transient', 'refused']),
    code: z.string(),
    message: z.string(),
  }),
]);

export type PreparationReport = z.infer<typeof reportShape>;

/** @throws {z.ZodError} when the worker's program is not ours */
export function parseReport(message: unknown): PreparationReport {
  return reportShape.parse(message);
}
