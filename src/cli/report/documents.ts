// What `-o json` and `-o yaml` print about what readers do not find, in addition to `apiVersion` and `kind`. Refuses use at run
// time, because a command's start would pay for zod.

import * as z from 'zod';
import type { ResultOf } from '../context.ts';
import { countSchema, digest, instantSchema } from '../output/common-schemas.ts';

const counted = {
  count: countSchema.describe('At least so often.'),
  lastHour: instantSchema.describe('Start of the hour in which it came last.'),
};
const sums = {
  since: instantSchema.describe('When the first of the servers began to count.'),
  requests: countSchema,
  leftOut: countSchema.describe('Requests that no list has.'),
};

export const insightDocuments = {
  InsightReport: {
    servers: z.array(
      z.strictObject({
        server: z.string().describe('<namespace>/<name> of a pod, or the address of an admin port.'),
        state: z.enum(['Read', 'Off', 'NotReadable']),
        digest: digest.describe('Of the content that it serves. Absent where it was not read.').optional(),
        message: z.string().optional(),
      }),
    ),
    bundle: z
      .strictObject({ version: z.string().optional(), digest })
      .describe('Whose pages were read. Absent without --bundle.')
      .optional(),
    missingAddresses: z
      .strictObject({
        ...sums,
        entries: z.array(
          z.strictObject({
            address: z.string().describe('Decoded, with the base path, without query.'),
            ...counted,
            linkingPages: z
              .strictObject({ count: countSchema, examples: z.array(z.string()).max(10) })
              .describe('Pages of the bundle that link to it. Absent without --bundle.')
              .optional(),
          }),
        ),
      })
      .describe('Addresses that are answered by 404. Most frequent first.'),
    emptySearches: z
      .strictObject({ ...sums, entries: z.array(z.strictObject({ text: z.string(), ...counted })) })
      .describe('Searches without a result. Most frequent first.'),
  },
};

export type InsightAnswer = ResultOf<typeof insightDocuments>;
