// What `-o json` and `-o yaml` print about the demo: the fields of each kind, in addition to `apiVersion` and `kind`.
// Refuses use at run time, because a command's start would pay for zod.

import * as z from 'zod';
import type { ResultOf } from '../context.ts';
import { digest, exportVersion } from '../output/common-schemas.ts';

export const demoDocuments = {
  DemoResult: {
    claims: z
      .array(z.strictObject({ claim: z.string(), holds: z.boolean(), seconds: z.number().min(0) }))
      .describe('In their order. After one that does not hold, no other is checked.'),
    seconds: z.number().min(0).describe('Duration of all claims.'),
    version: exportVersion.optional(),
    digest: digest.optional(),
    url: z.url().describe('Address of the site while the demo ran.').optional(),
  },
};

export type DemoAnswer = ResultOf<typeof demoDocuments>;
