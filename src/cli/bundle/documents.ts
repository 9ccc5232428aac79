// What `-o json` and `-o yaml` print about archives: the fields of each kind, in addition to `apiVersion` and `kind`.
// Refuses use at run time, because a command's start would pay for zod.

import * as z from 'zod';
import { loadUses } from '#site/references/reference.ts';
import type { ResultOf } from '../context.ts';
import {
  archive,
  codeSchema,
  countSchema,
  digest,
  pathSchema,
  printablePath,
  repairedRules,
} from '../output/common-schemas.ts';

const notes = z
  .array(
    z.strictObject({
      ...{ code: codeSchema, count: countSchema, example: z.string() },
      paths: z.array(z.string()).describe('Of what visitors will miss: the first of it.').optional(),
    }),
  )
  .describe('What readers of the archive had to adapt or leave out, and what visitors will miss.');
const hiddenFiles = countSchema.describe('Number of files that a server does not show, without the report.');

const listOf = <T extends z.ZodType>(entry: T) =>
  z.strictObject({ count: countSchema, entries: z.array(entry) });
const firstPage = {
  from: z.string().describe('Path of the first page with it.'),
  pages: countSchema.describe('Number of pages with it.'),
};
const left = z.strictObject({
  path: z.string().describe('Path on the site; for another host, host and path.'),
  reason: codeSchema,
  from: z
    .string()
    .describe('Path of the page that asks for it. Absent: a sitemap or the crawler asked.')
    .optional(),
});
const browser = z
  .strictObject({
    pages: countSchema.describe('Number of pages that were opened.'),
    notOpened: countSchema.describe('Number of pages for which the time was not enough.'),
    offSiteRequests: listOf(
      z.strictObject({ address: z.string().describe('Host and path.'), ...firstPage }),
    ).describe('Requests to other hosts. All of them were refused.'),
    consoleErrors: listOf(z.strictObject({ message: z.string(), ...firstPage })).describe(
      'Errors in the console, exceptions, and requests to the site that failed.',
    ),
  })
  .describe('What happened when a browser opened every page. Each list holds 50 entries at most.');
const report = z
  .strictObject({
    schemaVersion: z.literal(1),
    ...{ pages: countSchema, files: countSchema, sizeBytes: countSchema },
    missing: listOf(left).extend({ asked: countSchema.describe('All that the site asks for.') }),
    leftOut: listOf(left),
    external: listOf(left),
    copied: listOf(
      z.strictObject({
        path: z.string().describe('Host and path.'),
        file: z.string().describe('Path in the bundle.'),
      }),
    )
      .describe('What pages loaded from other hosts.')
      .optional(),
    queryVariants: listOf(z.strictObject({ path: z.string(), queries: countSchema, contents: countSchema })),
    searchIndexes: listOf(z.strictObject({ tool: z.string(), path: z.string() })),
    notes: listOf(z.strictObject({ code: codeSchema, count: countSchema, example: z.string() })),
    browser: browser.optional(),
  })
  .describe(
    'What the export says of itself. Each list holds 200 entries at most; count is the whole number.',
  );

const loadUse = z
  .enum([...loadUses, 'late'])
  .describe('How it is used. late: only a script uses it. modules: a folder of them.');
const loads = listOf(
  z.strictObject({
    address: z.string().describe('Of another host: host and path. Of the site: its path. Without a query.'),
    use: loadUse,
    from: z.string().describe('Path of the first file that loads it.'),
    files: countSchema.describe('Number of files that load it.'),
  }),
);

export const archiveDocuments = {
  ArchiveSummary: {
    ...archive,
    hiddenFiles,
    notes,
    report: report.optional(),
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
  CheckedArchive: {
    ...archive,
    selfContained: z.boolean().describe('Whether no finding makes the command fail.'),
    filesRead: countSchema.describe(
      'Number of pages, style sheets, drawings, scripts and manifests that were read.',
    ),
    external: loads.describe(
      'Loads from other hosts. Each list holds 200 entries at most; count is the whole number.',
    ),
    allowed: loads.describe('Loads from hosts that --allow-external names.'),
    missing: loads.describe('Loads of the site itself that the archive does not have.'),
    notes: loads.describe('Frames, media, prefetches, connections and late loads of other hosts.'),
    notRead: listOf(
      z.strictObject({ path: printablePath, reason: z.enum(['TooLarge', 'Malformed', 'TooManyAddresses']) }),
    ),
    browser: browser.optional(),
  },
  ServedArchive: { ...archive, url: z.url() },
  RepairedArchive: {
    ...archive,
    changed: z.boolean().describe('Whether a rule changed anything.'),
    dryRun: z.boolean(),
    path: pathSchema.optional(),
    old: z.strictObject(archive),
    rules: repairedRules,
  },
  PortableArchive: {
    ...archive,
    changed: z.boolean().describe('Whether the site needed any change.'),
    path: pathSchema,
    old: z.strictObject(archive),
    changedTexts: countSchema.describe(
      'Pages, style sheets and other texts with new addresses or without scripts.',
    ),
    removedScripts: countSchema.describe('Script elements that cannot run from a disk.'),
    removedFiles: countSchema.describe('Files that only those scripts asked for.'),
    lost: z
      .strictObject({ count: countSchema, examples: z.array(printablePath) })
      .describe('Addresses of the site that lead to no file, and the first pages that have one.'),
    unread: z.array(printablePath).describe('Texts of more than 8 MiB, which stay as they are.'),
  },
  MarkdownArchive: {
    ...archive,
    changed: z.boolean().describe('Whether any file was added.'),
    path: pathSchema,
    old: z.strictObject(archive),
    markdownFiles: countSchema.describe('Markdown files of pages that were added.'),
    lists: z.array(z.string()).describe('Which of llms.txt and llms-full.txt were added.'),
    withoutMarkdown: z
      .strictObject({ count: countSchema, examples: z.array(printablePath) })
      .describe('Pages of more than 8 MiB, which get no Markdown, and the first of them.'),
  },
  SearchableArchive: {
    ...archive,
    changed: z.boolean().describe('False where the archive had the same search already.'),
    path: pathSchema,
    old: z.strictObject(archive),
    languages: z
      .array(
        z.strictObject({
          language: z.string(),
          pages: countSchema.describe('Number of pages that the search finds.'),
        }),
      )
      .describe('Each language has an index of its own.'),
    searchSizeBytes: countSchema.describe('Size of the files of the search.'),
    searchPages: countSchema.describe('Number of pages that load the search.'),
    withoutSearch: z
      .strictObject({ count: countSchema, examples: z.array(printablePath) })
      .describe('Pages that cannot load the search, and the first of them.'),
    notSearched: z
      .strictObject({ count: countSchema, examples: z.array(printablePath) })
      .describe('Pages of more than 8 MiB, which the search does not find, and the first of them.'),
  },
  PackedArchive: { ...archive, hiddenFiles, path: pathSchema },
};

export type ArchiveAnswer<K extends keyof typeof archiveDocuments> = ResultOf<typeof archiveDocuments, K>;
