// What readers of the site looked for and did not find, beside what they asked the assistant: each search without a result with the
// turns about the same words, each missing address with the turns that cite it. Pure. Owns how `report -o json` is read.
// Refuses: an address that the bundle has by now.

import * as z from 'zod';
import { readJson } from '#platform/wire/json-text.ts';
import { encodedTarget } from '#server/http/request-path.ts';
import type { PageMap } from './page-map.ts';
import { questionWords } from './question-words.ts';
import type { GapReport } from './report-schema.ts';
import type { Survey } from './survey.ts';

const count = z.int().min(0);
const mostEntries = 1000;
const insights = z.object({
  kind: z.literal('InsightReport'),
  missingAddresses: z.object({
    entries: z
      .array(z.object({ address: z.string().max(600), count, linkingPages: z.object({ count }).optional() }))
      .max(mostEntries),
  }),
  emptySearches: z.object({
    entries: z.array(z.object({ text: z.string().max(600), count })).max(mostEntries),
  }),
});
export type ReaderInsights = Readonly<z.infer<typeof insights>>;

/** @returns `undefined` for any text but what `report -o json` prints */
export function parseReaderInsights(text: string): ReaderInsights | undefined {
  const parsed = insights.safeParse(readJson(text));
  return parsed.success ? parsed.data : undefined;
}

export function unmetOf(
  { missingAddresses, emptySearches }: ReaderInsights,
  survey: Survey,
  pages: PageMap,
): NonNullable<GapReport['unmet']> {
  const citedTurns = new Map<string, number>();
  for (const { page, turns } of survey.cited) citedTurns.set(page, (citedTurns.get(page) ?? 0) + turns);
  return {
    searches: emptySearches.entries.map(({ text, count: searches }) => ({
      ...{ text, searches },
      ...turnsAbout(questionWords(text), survey),
    })),
    addresses: missingAddresses.entries.flatMap(({ address, count: requests, linkingPages }) => {
      const found = pages.find(encodedTarget(address));
      if (found === undefined || found.isInBundle === true) return [];
      const linking = linkingPages === undefined ? {} : { linkingPages: linkingPages.count };
      return [{ page: found.page, requests, ...linking, citedTurns: citedTurns.get(found.page) ?? 0 }];
    }),
  };
}

/** Of questions that have all words of the search. */
function turnsAbout(words: readonly number[], { clusters }: Survey) {
  let turns = 0;
  let unanswered = 0;
  for (const cluster of clusters) {
    if (words.length === 0 || !words.every((word) => cluster.words.includes(word))) continue;
    turns += cluster.value.tally.turns;
    unanswered += cluster.value.tally.unanswered;
  }
  return { turns, unanswered };
}
