// From counts and the former report to the report: gaps with their states, repeated questions, pages, cited pages. Pure.
// Owns how much is listed, the worst first. Invariant: the same inputs give the same report, and ids stay over reports.

import { hash as hashText } from 'node:crypto';
import { newTally, type Tally } from './counts.ts';
import { gapRules, judgeGap } from './judge.ts';
import type { PageMap } from './page-map.ts';
import { pageReader } from './page-text.ts';
import type { QuestionCluster } from './question-clusters.ts';
import {
  type CellRow,
  type CitedRow,
  type Gap,
  type GapReport,
  type PageRow,
  packWords,
  type RepeatedQuestion,
} from './report-schema.ts';
import {
  type AskedCluster,
  type Cell,
  type CitedPage,
  type Epochs,
  otherPages,
  type SeenSpan,
  type Survey,
} from './survey.ts';
import { type ReaderInsights, unmetOf } from './unmet.ts';
import { changesOf, replaceHashes, type SiteVersion } from './versions.ts';

const listed = {
  gaps: 300,
  questions: 100,
  pages: 50,
  cells: 500,
  cited: 50,
  mappedPages: 5,
  weeksOfPage: 12,
};

/** A question that one conversation repeats may be about its author. */
const fewestConversations = 2;

export interface ReportInput {
  readonly survey: Survey;
  readonly pages: PageMap;
  readonly versions: readonly SiteVersion[];
  readonly bundle: { readonly version: string; readonly digest: string } | undefined;
  readonly previous: GapReport | undefined;
  readonly insights?: ReaderInsights | undefined;
  readonly project: string | undefined;
  /** Epoch ms. */
  readonly now: number;
}

export function createGapsReport(input: ReportInput): GapReport {
  const { survey, pages, versions, bundle, previous, insights, project, now } = input;
  const { total, seen, undated, citedYetUnanswered, weeks, left } = survey;
  const gaps = gapsOf(input);
  const cells = survey.cells.map(cellRow).sort(worstFirst);
  const questions = survey.clusters.filter(isRepeated).map(questionRow).sort(mostFirst);
  return {
    generatedTime: instantOf(now),
    ...(seen.first !== undefined &&
      seen.last !== undefined && { period: { from: instantOf(seen.first), to: instantOf(seen.last) } }),
    project: project ?? null,
    turns: { ...total, undated, citedYetUnanswered },
    rules: gapRules,
    ...(bundle !== undefined && { bundle }),
    ...readerOf(input),
    versions: versions.map(versionRow),
    weeks: [...weeks.list()],
    ...(previous !== undefined && { previousTime: previous.generatedTime }),
    newGaps: gaps.filter(({ isNew }) => isNew).length,
    gaps: gaps.slice(0, listed.gaps),
    questions: questions.slice(0, listed.questions),
    pages: pageRows(input).slice(0, listed.pages),
    citedUnanswered: citedRows(survey.cited.filter(({ unanswered }) => unanswered > 0)),
    missingPages: citedRows(missingOf(survey)),
    ...(insights !== undefined && { unmet: unmetOf(insights, survey, pages) }),
    cells: cells.slice(0, listed.cells),
    left: {
      gaps: Math.max(0, gaps.length - listed.gaps),
      cells: Math.max(0, cells.length - listed.cells),
      questions: left.clusters,
      citedPages: left.citedPages,
    },
  };
}

/** Without a bundle, the versions keep the hashes that they have. */
function readerOf({ bundle, previous }: ReportInput): Pick<GapReport, 'pageReader'> {
  const reader = bundle === undefined ? previous?.pageReader : pageReader;
  return reader === undefined ? {} : { pageReader: reader };
}

const instantOf = (atMs: number): string => new Date(atMs).toISOString();

const versionRow = ({ version, digest, since, pages }: SiteVersion): GapReport['versions'][number] => ({
  version,
  digest,
  since: instantOf(since),
  pages: Object.fromEntries(pages),
});

/**
 * @param hashes of the pages of the bundle; they replace those of another reader of pages
 * @throws RangeError for a time that is none, which the schema excludes
 */
export function versionsOf(
  report: GapReport | undefined,
  hashes: ReadonlyMap<string, string> | undefined,
): readonly SiteVersion[] {
  const known = (report?.versions ?? []).map(({ version, digest, since, pages }) => ({
    version,
    digest,
    since: Date.parse(since),
    pages: new Map(Object.entries(pages)),
  }));
  const isComparable = hashes === undefined || report?.pageReader === pageReader;
  return isComparable ? known : replaceHashes(known, hashes);
}

function gapsOf(input: ReportInput): readonly Gap[] {
  const former = new Map(input.previous?.gaps.map((gap) => [gap.id, gap]));
  const found = [
    ...input.survey.cells.flatMap((cell) => pageGap(cell, input, former) ?? []),
    ...input.survey.clusters.flatMap((cluster) => questionGap(cluster, input, former) ?? []),
  ];
  const ids = new Set(found.map(({ id }) => id));
  // Without a turn in the store, a gap that was closed stays closed, and an open one stays open.
  const kept = [...former.values()]
    .filter(({ id }) => !ids.has(id))
    .flatMap((gap) => judged(gap, [], input, gap) ?? []);
  return [...found, ...kept].sort(byState);
}

type Former = ReadonlyMap<string, Gap>;
type UnjudgedGap = Omit<Gap, 'state' | 'isNew' | 'counts' | 'judgedTurns' | 'judgedUnanswered'>;

function pageGap({ category, page, tally, epochs, seen }: Cell, input: ReportInput, former: Former) {
  const id = `p-${shortHash([category, page])}`;
  if (page === otherPages || (tally.unanswered < 2 && !former.has(id))) return undefined;
  const gap = { id, kind: 'page' as const, category, page, pages: page === null ? [] : [page] };
  return judged({ ...gap, ...tally, ...timesOf(seen) }, countsOf(epochs, input), input, former.get(id));
}

function questionGap(cluster: QuestionCluster<AskedCluster>, input: ReportInput, former: Former) {
  const { tally, epochs, seen } = cluster.value;
  const id = `q-${cluster.id}`;
  const known = former.get(id);
  if (tally.turns === 0 || (tally.unanswered < 2 && known === undefined)) return undefined;
  const { question, words, pages } = questionRow(cluster);
  const shown = known?.question ?? question;
  const gap = {
    id,
    kind: 'question' as const,
    ...(shown !== undefined && { question: shown }),
    words,
    pages,
  };
  return judged({ ...gap, ...tally, ...timesOf(seen) }, countsOf(epochs, input), input, known);
}

const countsOf = (epochs: Epochs, { versions }: ReportInput) => epochs.list(versions.length + 1);

function judged(
  gap: UnjudgedGap,
  counts: ReturnType<Epochs['list']>,
  { versions, previous: report }: ReportInput,
  previous: Gap | undefined,
): Gap | undefined {
  const judgement = judgeGap({
    versions: versions.map(({ version }) => version),
    changes: changesOf(versions, gap.pages),
    counts,
    previous,
  });
  if (judgement === undefined) return undefined;
  const { state, outcomes, closed, reopened, waiting } = judgement;
  const isFirst = previous === undefined || isUnproven(previous);
  return {
    ...gap,
    state,
    isNew:
      report !== undefined &&
      ((state === 'Open' && isFirst) || (state === 'Reopened' && previous?.state === 'Closed')),
    judgedTurns: outcomes.turns,
    judgedUnanswered: outcomes.unanswered,
    counts: [...judgement.counts],
    closed,
    reopened,
    waiting,
  };
}

/** It had too few turns to be a gap. One that waits for turns after a change was a gap before. */
const isUnproven = ({ state, waiting }: Gap): boolean => state === 'TooFewTurns' && waiting === undefined;

const isRepeated = ({ value }: QuestionCluster<AskedCluster>): boolean => value.tally.turns >= 2;

function questionRow({ id, words, value }: QuestionCluster<AskedCluster>): RepeatedQuestion {
  const isShown = value.conversations >= fewestConversations && value.question !== '';
  const pages = [...value.pages].sort(([, one], [, other]) => other - one).map(([page]) => page);
  return {
    id: `q-${id}`,
    ...(isShown && { question: value.question }),
    words: packWords(words),
    ...value.tally,
    pages: pages.slice(0, listed.mappedPages),
  };
}

const cellRow = ({ category, page, tally, weeks }: Cell): CellRow => ({
  category,
  page,
  ...tally,
  weeks: [...weeks.list()],
});

/** All categories together. */
function pageRows({ survey, pages }: ReportInput): readonly PageRow[] {
  const rows = new Map<string, { tally: Tally; weeks: Map<string, Tally> }>();
  for (const { page, tally, weeks } of survey.cells) {
    if (page === null || page === otherPages) continue;
    const row = rows.get(page) ?? { tally: newTally(), weeks: new Map<string, Tally>() };
    rows.set(page, row);
    addTally(row.tally, tally);
    for (const { week, ...one } of weeks.list()) {
      const sum = row.weeks.get(week) ?? newTally();
      addTally(sum, one);
      row.weeks.set(week, sum);
    }
  }
  return [...rows]
    .map(([page, { tally, weeks }]) => ({
      page,
      ...(pages.hashes !== undefined && { isInBundle: pages.hashes.has(page) }),
      ...tally,
      weeks: [...weeks]
        .sort(([one], [other]) => (one < other ? -1 : 1))
        .slice(-listed.weeksOfPage)
        .map(([week, one]) => ({ week, ...one })),
    }))
    .sort(worstFirst);
}

function addTally(to: Tally, { turns, judged: known, unanswered, unsourced }: Tally): void {
  to.turns += turns;
  to.judged += known;
  to.unanswered += unanswered;
  to.unsourced += unsourced;
}

/** A host is the site's if visitors asked there, or if the bundle has most of what is cited from it. */
function missingOf({ cited, hosts }: Survey): readonly CitedPage[] {
  const found = new Map<string, { there: number; all: number }>();
  for (const { host, isInBundle } of cited) {
    const one = found.get(host) ?? { there: 0, all: 0 };
    one.all += 1;
    if (isInBundle === true) one.there += 1;
    found.set(host, one);
  }
  const isOfSite = (host: string): boolean => {
    const { there, all } = found.get(host) ?? { there: 0, all: 0 };
    return host === '' || hosts.has(host) || there * 2 > all;
  };
  return cited.filter(({ host, isInBundle }) => isInBundle === false && isOfSite(host));
}

function citedRows(pages: readonly CitedPage[]): CitedRow[] {
  return pages
    .map(({ host, page, turns, unanswered }) => ({ host, page, turns, unanswered }))
    .sort(
      (one, other) =>
        other.unanswered - one.unanswered || other.turns - one.turns || order(one.page, other.page),
    )
    .slice(0, listed.cited);
}

/** The pages that turns name and the bundle lacks. */
export function missingPages({ cells, cited }: Survey): ReadonlySet<string> {
  const named = cells.flatMap(({ page }) => (page === null || page === otherPages ? [] : [page]));
  return new Set([
    ...named,
    ...cited.filter(({ isInBundle }) => isInBundle === false).map(({ page }) => page),
  ]);
}

const timesOf = ({ first, last }: SeenSpan): Pick<Gap, 'firstTime' | 'lastTime'> => ({
  ...(first !== undefined && { firstTime: instantOf(first) }),
  ...(last !== undefined && { lastTime: instantOf(last) }),
});

const shortHash = (parts: readonly (string | null)[]): string =>
  hashText('sha256', JSON.stringify(parts)).slice(0, 12);

const order = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

const states: readonly Gap['state'][] = ['Reopened', 'Open', 'TooFewTurns', 'Closed'];

const byState = (one: Gap, other: Gap): number =>
  states.indexOf(one.state) - states.indexOf(other.state) ||
  other.judgedUnanswered - one.judgedUnanswered ||
  other.turns - one.turns ||
  order(one.id, other.id);

const worstFirst = (one: Tally, other: Tally): number =>
  other.unanswered - one.unanswered || other.unsourced - one.unsourced || other.turns - one.turns;

const mostFirst = (one: RepeatedQuestion, other: RepeatedQuestion): number =>
  other.turns - one.turns || other.unanswered - one.unanswered || order(one.id, other.id);
