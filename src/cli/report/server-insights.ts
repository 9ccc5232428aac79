// What servers say of addresses and searches without a result, and the sum of it over all servers of a site. Pure. Text of a
// server is made printable; it is a pod's, and pods may be anything. Refuses lists that are longer than a server's.

import * as z from 'zod';
import { printable } from '#platform/wire/printable-text.ts';

export interface CountedEntry {
  readonly text: string;
  readonly count: number;
  readonly lastHour: string;
}

export interface InsightSum {
  /** The earliest of all servers. */
  readonly since: string;
  readonly requests: number;
  readonly leftOut: number;
  /** Most frequent first. */
  readonly entries: readonly CountedEntry[];
}

export interface ServerInsights {
  /** Without trailing slash; empty for the root. */
  readonly basePath: string;
  /** Of the content that it serves. */
  readonly digest: string | undefined;
  readonly missingAddresses: InsightSum;
  readonly emptySearches: InsightSum;
}

const count = z.int().min(0);
const instant = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
const text = z.string().transform((value) => printable(value, 512));
const common = { count, lastHour: instant };
const listOf = <Entry extends z.ZodType<CountedEntry>>(entry: Entry) =>
  z
    .object({ since: instant, requests: count, leftOut: count, top: z.array(entry).max(1000) })
    .transform(({ top, ...sums }): InsightSum => ({ ...sums, entries: top }));
const addresses = z
  .object({ address: text, ...common })
  .transform(({ address, ...rest }) => ({ text: address, ...rest }));
const texts = z.object({ text, ...common });

const statusShape = z.object({
  active: z
    .object({
      basePath: text.optional(),
      digest: z
        .string()
        .regex(/^[0-9a-f]{64}$/)
        .optional(),
    })
    .nullable(),
  /** Absent: a server of an earlier version. */
  insights: z
    .object({ missingAddresses: listOf(addresses), emptySearches: listOf(texts) })
    .nullable()
    .optional(),
});

/** @returns `off` where the server counts nothing; `undefined` for a document that is not a server's status */
export function parseInsights(document: unknown): ServerInsights | 'off' | undefined {
  const read = statusShape.safeParse(document);
  if (!read.success) return undefined;
  const { active, insights } = read.data;
  if (insights === null || insights === undefined) return 'off';
  return {
    basePath: (active?.basePath ?? '/').replace(/\/$/, ''),
    digest: active?.digest,
    ...insights,
  };
}

const mostEntries = 100;

/** @param sums of at least one server */
export function addInsights(sums: readonly InsightSum[]): InsightSum {
  const entries = new Map<string, CountedEntry>();
  for (const entry of sums.flatMap((sum) => sum.entries)) {
    const known = entries.get(entry.text);
    const lastHour = known === undefined || entry.lastHour > known.lastHour ? entry.lastHour : known.lastHour;
    entries.set(entry.text, { text: entry.text, count: entry.count + (known?.count ?? 0), lastHour });
  }
  const add = (read: (sum: InsightSum) => number): number => sums.reduce((all, sum) => all + read(sum), 0);
  return {
    since: sums.map(({ since }) => since).toSorted()[0] ?? '',
    requests: add(({ requests }) => requests),
    leftOut: add(({ leftOut }) => leftOut),
    entries: [...entries.values()]
      .sort(
        (one, other) =>
          other.count - one.count ||
          (one.lastHour === other.lastHour ? 0 : one.lastHour < other.lastHour ? 1 : -1) ||
          (one.text < other.text ? -1 : 1),
      )
      .slice(0, mostEntries),
  };
}
