// A report made of turns that a test names in a few words. Owns the defaults; a test states what differs.

import { createPageMap, type PageMap } from '#conversations/gaps/page-map.ts';
import { pageTextHash } from '#conversations/gaps/page-text.ts';
import { createGapsReport, missingPages, versionsOf } from '#conversations/gaps/report.ts';
import { type GapReport, unpackWords } from '#conversations/gaps/report-schema.ts';
import { createSurvey, type SurveyedTurn } from '#conversations/gaps/survey.ts';
import type { ReaderInsights } from '#conversations/gaps/unmet.ts';
import { addVersion } from '#conversations/gaps/versions.ts';

export const site = 'https://docs.example.com';

let conversation = 0;

export function turn(
  fields: Partial<SurveyedTurn> & { readonly cites?: readonly string[] } = {},
): SurveyedTurn {
  conversation += 1;
  const { cites = [], ...rest } = fields;
  return {
    conversation: `c${conversation}`,
    timestamp: '2026-11-02T10:00:00.000Z',
    query: 'How do I set up SSO?',
    category: 'Security',
    resolution_status: 'answered',
    page_url: `${site}/guide`,
    sources: cites.map((url) => ({ title: 'Page', url })),
    ...rest,
  };
}

export const times = (count: number, one: () => SurveyedTurn): readonly SurveyedTurn[] =>
  Array.from({ length: count }, one);

export interface Bundle {
  readonly version: string;
  /** Content of each file. */
  readonly files: Readonly<Record<string, string>>;
}

export interface ReportOptions {
  readonly bundle?: Bundle;
  readonly previous?: GapReport;
  readonly insights?: ReaderInsights | undefined;
  readonly now?: string;
}

/** As the command makes it. */
export function reportOf(
  turns: readonly SurveyedTurn[],
  { bundle, previous, insights, now = '2026-11-26T00:00:00Z' }: ReportOptions = {},
): GapReport {
  const at = Date.parse(now);
  const index = bundle && {
    digest: hashOf(JSON.stringify(bundle.files)),
    files: Object.entries(bundle.files).map(([path, content]) => ({
      path,
      offset: 0,
      size: 1,
      sha256: hashOf(content),
    })),
    pageHashes: new Map(
      Object.entries(bundle.files)
        .filter(([path]) => path.endsWith('.html'))
        .map(([path, content]) => [path, pageTextHash(content) ?? hashOf(content)]),
    ),
  };
  const pages: PageMap = createPageMap(index, '');
  const seen = bundle &&
    index &&
    pages.hashes && {
      version: bundle.version,
      digest: index.digest,
      publishedAt: undefined,
      hashes: pages.hashes,
    };
  const known = versionsOf(previous, seen?.hashes);
  const versions = seen === undefined ? known : addVersion(known, seen, [], at);
  const knownWords = [...(previous?.gaps ?? []), ...(previous?.questions ?? [])].flatMap(({ words }) =>
    words === undefined ? [] : [unpackWords(words)],
  );
  const counting = createSurvey({ pages, versions, knownWords });
  for (const one of turns) counting.add(one);
  const survey = counting.result();
  return createGapsReport({
    survey,
    pages,
    versions: seen === undefined ? versions : addVersion(versions, seen, missingPages(survey), at),
    bundle: seen && { version: seen.version, digest: seen.digest },
    previous,
    insights,
    project: 'docs',
    now: at,
  });
}

function hashOf(text: string): string {
  let hash = 7;
  for (const character of text) hash = (Math.imul(hash, 31) + (character.codePointAt(0) ?? 0)) >>> 0;
  return hash.toString(16).padStart(8, '0').repeat(8);
}
