// What `-o json` and `-o yaml` print about a run over a folder: the fields of each kind, in addition to `apiVersion` and `kind`.
// Refuses use at run time, because a command's start would pay for zod.

import * as z from 'zod';
import type { ResultOf } from '../context.ts';
import { digest, exportVersion, pages } from '../output/common-schemas.ts';

export const runDocuments = {
  RunResult: {
    version: exportVersion.optional(),
    digest: digest.optional(),
    pages: pages.optional(),
    paths: z.array(z.string()).describe('What --publish names.'),
    targets: z
      .array(
        z.strictObject({
          name: z.string(),
          object: z.string().describe('Git/<repository>@<branch>:<path>.'),
          synced: z.boolean(),
          reason: z.string(),
          message: z.string().describe('Such as the commit.').optional(),
        }),
      )
      .describe('The git targets of the manifest, if it has any.')
      .optional(),
  },
};

export type RunAnswer = ResultOf<typeof runDocuments>;
