// What `-o json` and `-o yaml` print about one export: the fields of each kind, in addition to `apiVersion` and `kind`.
// Refuses use at run time, because a command's start would pay for zod.

import * as z from 'zod';
import type { ResultOf } from '../context.ts';
import { archive, exportVersion, pathSchema, repairedRules } from '../output/common-schemas.ts';

export const exportDocuments = {
  ExportResult: {
    domain: z.string().describe('Absent where the export names only a project.').optional(),
    projectId: z.string().describe('Of the project-scoped form of the export API.').optional(),
    jobId: z.string(),
    changed: z.boolean().describe('False where the content is the same as before.'),
    version: exportVersion,
    ...archive,
    rules: repairedRules.describe('What each rule of --repair did. Absent without --repair.').optional(),
    path: pathSchema.optional(),
    written: z
      .array(z.string())
      .describe('Flags of the destinations that this run wrote. Others held the version.'),
  },
};

export type ExportAnswer = ResultOf<typeof exportDocuments>;
