// What the tools take and give, as schemas that agents read: each with its limits. Refuses arguments beyond them.
// Invariant: every answer names the content that it is of.

import * as z from 'zod';

export const limits = {
  query: 200,
  results: 20,
  usualResults: 8,
  address: 2048,
  listed: 200,
  usualListed: 100,
  part: 20_000,
  usualPart: 10_000,
  leastPart: 200,
  /** Of one HTTP request, which may hold several calls. */
  callsPerRequest: 10,
} as const;

const content = z
  .object({
    digest: z.string().describe('SHA-256 of the published content that this answer is of'),
    version: z.string().optional().describe('Version under which that content was published'),
  })
  .describe('If it differs between two answers, the site was published again in between');

export const searchInput = z.object({
  query: z
    .string()
    .trim()
    .min(1)
    .max(limits.query)
    .describe('Words to look for; a typo and a beginning of a word are found too'),
  limit: z.int().min(1).max(limits.results).default(limits.usualResults).describe('Results at most'),
  language: z
    .string()
    .regex(/^[A-Za-z]{2,3}(?:[-_][A-Za-z0-9-]{1,30})?$/)
    .optional()
    .describe('Language of the pages, such as "de". Default: that of most pages'),
});
export const searchOutput = z.object({
  content,
  count: z.int().describe('Pages that match'),
  language: z.string().describe('Language that was searched'),
  results: z.array(
    z.object({
      address: z.string().describe('For read_page'),
      title: z.string(),
      breadcrumbs: z.array(z.string()).describe('Titles of the folders above'),
      heading: z.string().describe('Section that fits; empty for the whole page'),
      excerpt: z.string(),
    }),
  ),
});

export const readInput = z.object({
  address: z
    .string()
    .min(1)
    .max(limits.address)
    .describe('Address of a page, as search and list_pages give it; one with #anchor begins at that section'),
  from: z
    .int()
    .min(0)
    .max(10_000_000)
    .optional()
    .describe('Where to read on: the "next" of the answer before'),
  length: z
    .int()
    .min(limits.leastPart)
    .max(limits.part)
    .default(limits.usualPart)
    .describe('Characters at most'),
});
export const readOutput = z.object({
  content,
  address: z.string(),
  title: z.string(),
  description: z.string(),
  language: z.string().optional(),
  text: z.string().describe('This part of the page, as Markdown'),
  from: z.int(),
  next: z.int().optional().describe('Where the next part begins; absent at the end of the page'),
  length: z.int().describe('Characters of the whole page'),
});

export const listInput = z.object({
  below: z
    .string()
    .max(limits.address)
    .default('/')
    .describe('Only pages whose address begins so, such as "/guide/"'),
  from: z.int().min(0).max(10_000_000).default(0).describe('Where to go on: the "next" of the answer before'),
  limit: z.int().min(1).max(limits.listed).default(limits.usualListed).describe('Pages at most'),
});
export const listOutput = z.object({
  content,
  count: z.int().describe('Pages below that address'),
  pages: z.array(z.object({ address: z.string(), title: z.string().optional() })),
  next: z.int().optional().describe('Where the rest begins; absent at its end'),
});

export type AnsweredContent = z.infer<typeof content>;
export type SearchArguments = z.infer<typeof searchInput>;
export type ReadArguments = z.infer<typeof readInput>;
export type ListArguments = z.infer<typeof listInput>;
export type SearchOutput = z.infer<typeof searchOutput>;
export type ReadOutput = z.infer<typeof readOutput>;
export type ListOutput = z.infer<typeof listOutput>;
