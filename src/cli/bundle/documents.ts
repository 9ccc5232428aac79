// What `-o json` and `-o yaml` print about archives: the fields of each kind, in addition to `apiVersion` and `kind`.
// Refuses use at run time, because a command's start would pay for zod.

import * as z from 'zod';
import type { ResultOf } from '../context.ts';
import { archive, codeSchema, countSchema, digest, pathSchema } from '../output/common-schemas.ts';

const printablePath = z.string().describe('Path within the archive. Hidden characters are escaped.');
const notes = z
  .array(
    z.strictObject({
      ...{ code: codeSchema, count: countSchema, example: z.string() },
      paths: z.array(z.string()).describe('Of NotServed: the first hidden paths.').optional(),
    }),
  )
  .describe('What readers of the archive had to adapt or leave out, and what visitors will miss.');
const hiddenFiles = countSchema.describe('Number of files that a server does not show.');

export const archiveDocuments = {
  ArchiveSummary: {
    ...archive,
    hiddenFiles,
    notes,
    entries: z
      .array(
        z.strictObject({ path: printablePath, size: countSchema, sha256: digest.describe('Of the file.') }),
      )
      .optional(),
  },
  ArchiveVerdict: {
    valid: z.boolean(),
    ...z.strictObject(archive).partial().shape,
    notes: notes.optional(),
    code: codeSchema.optional(),
    message: z.string().optional(),
  },
  ArchiveDiff: {
    same: z.boolean(),
    old: z.strictObject(archive),
    new: z.strictObject(archive),
    added: z.array(printablePath),
    changed: z.array(printablePath),
    removed: z.array(printablePath),
  },
  ServedArchive: { ...archive, url: z.url() },
  PackedArchive: { ...archive, hiddenFiles, path: pathSchema },
};

export type ArchiveAnswer<K extends keyof typeof archiveDocuments> = ResultOf<typeof archiveDocuments, K>;
