// The report as JSON: what is printed, and what the next run reads as its former state. Owns the form. Refuses: text of
// visitors except one masked question for each repeated one; words of leaders are kept as numbers.

import * as z from 'zod';
import { readJson } from '#platform/wire/json-text.ts';

const count = z.int().nonnegative();
const instant = z.iso.datetime();
const page = z.string().describe('Path of the page, without .html and a trailing slash.');
const hash = z
  .string()
  .regex(/^[0-9a-f]{12}$/)
  .describe('First digits of the SHA-256 of the page.');

const outcomes = { turns: count.describe('Turns whose status is known.'), unanswered: count };
const tally = {
  turns: count,
  judged: count.describe('Turns whose status is known.'),
  unanswered: count,
  unsourced: count.describe('Turns whose answer cites no page.'),
};
const week = z.strictObject({ week: z.string().describe('ISO week: 2026-W48.'), ...tally });

const version = z.strictObject({
  version: z.string().max(200),
  digest: z.string().regex(/^[0-9a-f]{64}$/),
  since: instant.describe('When it was published, or seen first.'),
  pages: z
    .record(page, hash.nullable())
    .describe('Pages that differ from the version before. Null: not a page of this version.'),
});

const closed = z.strictObject({
  version: z.string().describe('Version in which a page of the gap changed.'),
  before: z.strictObject(outcomes),
  after: z.strictObject(outcomes),
});

const gap = z.strictObject({
  id: z.string().describe('The same in every report.'),
  kind: z.enum(['page', 'question']).describe('A category on a page, or a question that is repeated.'),
  state: z.enum(['Open', 'Closed', 'Reopened', 'TooFewTurns']),
  isNew: z.boolean().describe('Open or reopened, and was not so in the report before. Never without one.'),
  category: z.string().nullable().optional(),
  page: page.nullable().optional(),
  question: z.string().describe('Masked. Absent where only one conversation has it.').optional(),
  words: z.string().describe('Of a question: numbers of its words, in base64.').optional(),
  pages: z.array(page).describe('A change of one of these may close the gap.'),
  ...tally,
  judgedTurns: count.describe('Turns that the state is judged by.'),
  judgedUnanswered: count,
  counts: z.array(
    z.strictObject({ version: z.string().nullable().describe('Null: before the first one.'), ...outcomes }),
  ),
  closed: closed.optional(),
  reopened: z.strictObject({ version: z.string().nullable() }).optional(),
  waiting: z
    .strictObject({ version: z.string(), turns: count })
    .describe('A page changed in this version, and too few turns came since.')
    .optional(),
  firstTime: instant.optional(),
  lastTime: instant.optional(),
});
export type Gap = Readonly<z.infer<typeof gap>>;

const question = z.strictObject({
  id: z.string(),
  question: z.string().optional(),
  words: z.string(),
  ...tally,
  pages: z.array(page),
});
export type RepeatedQuestion = Readonly<z.infer<typeof question>>;

const pageRow = z.strictObject({
  page,
  isInBundle: z.boolean().optional(),
  ...tally,
  weeks: z.array(week),
});
export type PageRow = Readonly<z.infer<typeof pageRow>>;

const citedPage = z.strictObject({ host: z.string(), page, turns: count, unanswered: count });
export type CitedRow = Readonly<z.infer<typeof citedPage>>;

const cell = z.strictObject({
  category: z.string().nullable(),
  page: page.nullable(),
  ...tally,
  weeks: z.array(week),
});
export type CellRow = Readonly<z.infer<typeof cell>>;

export const reportFields = {
  generatedTime: instant,
  period: z.strictObject({ from: instant, to: instant }).optional(),
  project: z.string().nullable(),
  turns: z.strictObject({
    ...tally,
    undated: count.describe('Turns without a readable time.'),
    citedYetUnanswered: count,
  }),
  rules: z.record(z.string(), z.number()),
  bundle: z.strictObject({ version: z.string(), digest: z.string() }).optional(),
  pageReader: z
    .int()
    .positive()
    .describe('Number of the reader that made the hashes of pages. Absent in reports of the first one.')
    .optional(),
  versions: z.array(version).max(50),
  weeks: z.array(week),
  previousTime: instant.describe('When the report before was made. Absent in a first report.').optional(),
  newGaps: count,
  gaps: z.array(gap),
  questions: z.array(question).describe('Repeated most often.'),
  pages: z.array(pageRow),
  citedUnanswered: z.array(citedPage),
  missingPages: z.array(citedPage).describe('Cited pages of the site that the bundle lacks.'),
  unmet: z
    .strictObject({
      searches: z.array(
        z.strictObject({
          text: z.string(),
          searches: count,
          turns: count.describe('Turns whose question has all words of the search.'),
          unanswered: count,
        }),
      ),
      addresses: z.array(
        z.strictObject({
          page,
          requests: count,
          linkingPages: count.describe('Pages of the site that link to it, where they were read.').optional(),
          citedTurns: count.describe('Turns that cite it.'),
        }),
      ),
    })
    .describe('What readers looked for and did not find. Absent without --insights.')
    .optional(),
  cells: z.array(cell).describe('Category, page and week.'),
  left: z
    .strictObject({ gaps: count, cells: count, questions: count, citedPages: count })
    .describe('What is not listed, because there is too much of it.'),
};

const reportSchema = z.object(reportFields);
export type GapReport = Readonly<z.infer<typeof reportSchema>>;

/** The document's kind. */
export const reportKind = 'GapReport';

/** @returns `undefined` for any other text */
export function parseReport(text: string): GapReport | undefined {
  const parsed = reportSchema.extend({ kind: z.literal(reportKind) }).safeParse(readJson(text));
  return parsed.success ? parsed.data : undefined;
}

export function packWords(words: readonly number[]): string {
  const bytes = Buffer.alloc(words.length * 4);
  for (const [at, word] of words.entries()) bytes.writeUInt32LE(word, at * 4);
  return bytes.toString('base64url');
}

/** Sorted, as `questionWords` gives them; nothing of a text that is not whole. */
export function unpackWords(text: string): readonly number[] {
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.length % 4 !== 0) return [];
  const words = Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readUInt32LE(at * 4));
  return [...new Set(words)].sort((a, b) => a - b);
}
