// What `-o json` and `-o yaml` print about checks of a cluster: the fields of each kind, in addition to `apiVersion` and `kind`.
// Refuses use at run time, because a command's start would pay for zod.

import * as z from 'zod';
import type { ResultOf } from '../context.ts';
import { codeSchema, countSchema } from '../output/common-schemas.ts';

export const doctorDocuments = {
  DoctorReport: {
    passed: z.boolean().describe('False where a check has the state error.'),
    counts: z.strictObject({
      ok: countSchema,
      warning: countSchema,
      error: countSchema,
      skipped: countSchema,
    }),
    checks: z.array(
      z.strictObject({
        code: codeSchema.describe('Stable; src/cli/README.md lists all.'),
        state: z.enum(['ok', 'warning', 'error', 'skipped']),
        subject: z.string().describe('What is checked. Absent for the cluster as a whole.').optional(),
        message: z.string(),
        remedy: z.string().describe('What to do.').optional(),
        command: z.string().describe('The command at the end of the remedy.').optional(),
      }),
    ),
  },
};

export type DoctorAnswer = ResultOf<typeof doctorDocuments>;
