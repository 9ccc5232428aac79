// What the server and the thread that codes say to each other: one order, one answer. Parsed on both sides,
// because a message is only as trustworthy as the version of the code that sent it.

import { z } from 'zod';
import { contentCodings } from '../http/content-coding.ts';

const order = z.object({
  /** Folder of the committed bundle. */
  folder: z.string(),
  digest: z.string(),
  codings: z.array(z.enum(contentCodings)).readonly(),
  /** Share of one core that coding may take, 1 to 100. */
  cpuPercent: z.number().min(1).max(100),
  /** Room on disk for coded bodies, and for what the bundle takes beside its files' own size. */
  maxBytes: z.number(),
});
export type VariantOrder = z.infer<typeof order>;

const report = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('done'),
    numbers: z.instanceof(Float64Array),
    isPartial: z.boolean(),
    /** True when they were on disk already. */
    isFound: z.boolean(),
  }),
  z.object({ type: z.literal('failed'), code: z.string(), message: z.string() }),
]);
export type VariantReport = z.infer<typeof report>;

/** @throws when the message is of another version of this code */
export function parseVariantOrder(message: unknown): VariantOrder {
  return order.parse(message);
}

/** @throws as above */
export function parseVariantReport(message: unknown): VariantReport {
  return report.parse(message);
}
