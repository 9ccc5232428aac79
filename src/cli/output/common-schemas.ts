// Shapes that documents of several groups of commands share. Refuses use at run time, because a command's start would pay for
// zod.

import * as z from 'zod';

export const countSchema = z.int().min(0);
export const digest = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .describe('SHA-256 of the content (paths and files), not of the archive.');
export const pages = countSchema.describe('Number of pages.');
export const pathSchema = z.string().describe('As it was given.');
export const instantSchema = z.string().meta({ format: 'date-time' });

/** Of an export. */
export const exportVersion = z
  .string()
  .max(63)
  .describe('<yyyymmdd>-<hhmmss>-<8 hex>: names the export, and its content.');
export const codeSchema = z.string().min(1).describe('In CamelCase. Scripts can match it.');

export const printablePath = z.string().describe('Path within the archive. Hidden characters are escaped.');

/** What each rule of a repair did. */
export const repairedRules = z.array(
  z.strictObject({
    rule: z.string(),
    mode: z.string(),
    files: countSchema.describe('Files that the rule changed, moved, added or left out.'),
    kept: countSchema.describe('Files that have the defect and keep it, as the mode says.'),
    examples: z.array(printablePath),
  }),
);

export const archive = {
  digest,
  pages,
  files: countSchema.describe('Number of files.'),
  sizeBytes: countSchema.describe('Size of all unpacked files in bytes.'),
};
