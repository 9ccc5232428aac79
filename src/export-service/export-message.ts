// What crosses between the thread that exports a site and its driver: one order, then logs and progress, one last word.
// Refuses: errors as objects (a class does not survive the boundary); code and publishable message do.
// Invariant: a message is small, because the main thread reads it: none grows with the site.

import { z } from 'zod';
import { PublishableError, publishableCode, publishableMessage } from '../wire/publishable-error.ts';
import type { ExportRequest } from './site-export.ts';

const count = z.int().nonnegative();
const limits = z.object({
  maxPages: count,
  maxFiles: count,
  maxBytes: count,
  maxFileBytes: count,
  timeoutMs: z.number(),
  requestTimeoutMs: z.number(),
  concurrency: count,
  maxRedirects: count,
  maxDepth: count,
}) satisfies z.ZodType<ExportRequest['limits']>;

const order = z.object({
  domain: z.string(),
  origin: z.string(),
  isOriginConsented: z.boolean(),
  spoolDirectory: z.string(),
  destination: z.string(),
  limits,
});

/** The thread's `workerData`. */
export type ExportOrder = Readonly<z.infer<typeof order>>;

export function orderOf(request: ExportRequest): ExportOrder {
  return { ...request, origin: request.origin.href };
}

/** @throws {z.ZodError} for what is not an order */
export function readOrder(data: unknown): ExportRequest {
  const read = order.parse(data);
  return { ...read, origin: new URL(read.origin) };
}

const report = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('log'),
    level: z.enum(['debug', 'info', 'warn', 'error']),
    fields: z.record(z.string(), z.unknown()),
    message: z.string(),
  }),
  z.object({ type: z.literal('progress'), pageCount: count, discovered: count }),
  z.object({ type: z.literal('crawled') }),
  z.object({
    type: z.literal('done'),
    exported: z.object({ pageCount: count, sizeBytes: count, sha256: z.string() }),
  }),
  z.object({ type: z.literal('failed'), isOurs: z.boolean(), code: z.string(), message: z.string() }),
]);

export type ExportReport = z.infer<typeof report>;

/** @throws {z.ZodError} when the thread's program is not ours */
export function readReport(message: unknown): ExportReport {
  return report.parse(message);
}

export function failureOf(error: unknown): ExportReport & { type: 'failed' } {
  return {
    type: 'failed',
    isOurs: error instanceof PublishableError,
    code: publishableCode(error),
    message: publishableMessage(error),
  };
}

/** The error that a thread reported: what is published and logged of it is the same as there. */
export function errorOf({ isOurs, code, message }: ExportReport & { type: 'failed' }): Error {
  return isOurs
    ? new PublishableError(code, message)
    : Object.assign(new Error(message), { name: code, code });
}
