// `conversations gaps`: reads a store of turns once, compares it with the site that is served and with the report before, and
// prints the new report. Composes only; what a gap is, is decided in conversations/gaps.

import { CliError } from '#cli/cli-error.ts';
import type { CliContext, CommandResult } from '#cli/context.ts';
import { counted } from '#cli/output/amounts.ts';
import { formatResult } from '#cli/output/format.ts';
import type { SiteContentFlags } from '#cli/site/site-content.ts';
import { readBounded } from '#platform/runtime/bounded-file.ts';
import { keepHeapSmall } from '#platform/runtime/v8/heap-growth.ts';
import { printable } from '#platform/wire/printable-text.ts';
import { publishableCode } from '#platform/wire/publishable-error.ts';
import { csvReport } from '../gaps/csv-report.ts';
import { htmlReport } from '../gaps/html.ts';
import { markdownReport } from '../gaps/markdown.ts';
import { createPageMap } from '../gaps/page-map.ts';
import { createGapsReport, missingPages, versionsOf } from '../gaps/report.ts';
import { type GapReport, parseReport, unpackWords } from '../gaps/report-schema.ts';
import { createSurvey, type Survey } from '../gaps/survey.ts';
import { parseReaderInsights, type ReaderInsights } from '../gaps/unmet.ts';
import { addVersion, type SeenBundle } from '../gaps/versions.ts';
import { readStoredTurns } from '../stored-turns.ts';
import type { ConversationAnswer } from './documents.ts';
import { previousIn, writeGapsFolder } from './gaps-folder.ts';
import { reportBlocks } from './gaps-screen.ts';
import { readSiteBundle } from './site-bundle.ts';

export interface GapsValues extends SiteContentFlags {
  readonly from: string;
  readonly project: string | undefined;
  readonly previous: string | undefined;
  /** What `report -o json` printed. */
  readonly insights: string | undefined;
  /** A folder for the report, in place of standard output. */
  readonly to: string | undefined;
  readonly basePath: string;
  readonly format: 'md' | 'html' | 'csv' | 'json';
  readonly failOnNew: number | undefined;
}

export async function findGaps(
  values: GapsValues,
  _args: readonly string[],
  context: CliContext,
): Promise<ConversationAnswer<'GapReport' | 'GapsWritten'>> {
  // A million turns are garbage a moment later; by default V8 would keep a hundred megabytes for it.
  keepHeapSmall();
  const now = context.clock.now();
  const before = values.to === undefined ? values.previous : await previousIn(values.to);
  const previous = before === undefined ? undefined : await readPrevious(before);
  const insights = values.insights === undefined ? undefined : await readInsights(values.insights);
  const bundle = await readSiteBundle(values, context);
  const mapped = bundle && { ...bundle.index, pageHashes: bundle.pageHashes };
  const pages = createPageMap(mapped, values.basePath);
  const seen: SeenBundle | undefined = bundle &&
    pages.hashes && { ...bundle, digest: bundle.index.digest, hashes: pages.hashes };
  const known = versionsOf(previous, seen?.hashes);
  const versions = seen === undefined ? known : addVersion(known, seen, [], now);
  const counting = createSurvey({ pages, versions, knownWords: knownWordsOf(previous) });
  const project = await readAll(values, counting.add, context);
  requireSameProject(previous, project);
  const survey = counting.result();
  const report = createGapsReport({
    survey,
    pages,
    versions: seen === undefined ? versions : addVersion(versions, seen, missingPages(survey), now),
    bundle: seen && { version: seen.version, digest: seen.digest },
    previous,
    insights,
    project,
    now,
  });
  noteLimits(survey, context);
  return resultOf(report, values, context);
}

/** @returns the one project of the turns; `undefined` without a turn */
async function readAll(
  { from, project: wanted }: GapsValues,
  add: (turn: Parameters<ReturnType<typeof createSurvey>['add']>[0]) => void,
  { progress, signal, clock }: CliContext,
): Promise<string | undefined> {
  let project = wanted;
  let turns = 0;
  progress.phase('Reading turns');
  try {
    for await (const turn of readStoredTurns(from)) {
      if (wanted !== undefined && turn.project !== wanted) continue;
      project ??= turn.project;
      if (turn.project !== project) throw severalProjects(project, turn.project);
      add(turn);
      turns += 1;
      if (turns % turnsPerPause !== 0) continue;
      progress.advance(undefined, counted(turns, 'turn'));
      // Ctrl-C waits for a pause, because a SQLite file is read without one.
      await clock.after(0, signal);
      signal.throwIfAborted();
    }
  } finally {
    progress.end();
  }
  return project;
}

const turnsPerPause = 2000;

const severalProjects = (one: string, other: string): CliError =>
  new CliError(
    'usage',
    'SeveralProjects',
    `--from has turns of several projects, such as ${printable(one, 100)} and ${printable(other, 100)}; add --project`,
  );

/** A report holds hashes of at most ten thousand pages and a few hundred gaps. */
const longestReport = 32 * 1024 * 1024;

async function readPrevious(path: string): Promise<GapReport> {
  const text = await readBounded(path, longestReport).catch((cause: unknown) => {
    const message = `--previous cannot be read (${publishableCode(cause)}); check its path, or leave it out for a first report`;
    throw new CliError('usage', 'PreviousUnreadable', message, { cause });
  });
  const report = text === undefined ? undefined : parseReport(text);
  if (report !== undefined) return report;
  const message = '--previous is not a report of "conversations gaps --format json"';
  throw new CliError('usage', 'PreviousInvalid', message);
}

/** Two hundred entries, each with the addresses of ten pages. */
const longestInsights = 4 * 1024 * 1024;

async function readInsights(path: string): Promise<ReaderInsights> {
  const text = await readBounded(path, longestInsights).catch((cause: unknown) => {
    const message = `--insights cannot be read (${publishableCode(cause)}); check its path`;
    throw new CliError('usage', 'InsightsUnreadable', message, { cause });
  });
  const insights = text === undefined ? undefined : parseReaderInsights(text);
  if (insights !== undefined) return insights;
  const message = '--insights is not what "report -o json" prints';
  throw new CliError('usage', 'InsightsInvalid', message);
}

function requireSameProject(previous: GapReport | undefined, project: string | undefined): void {
  const former = previous?.project ?? undefined;
  if (former === undefined || project === undefined || former === project) return;
  const message = `--previous is about the project ${printable(former, 100)}, and --from about ${printable(project, 100)}`;
  throw new CliError('usage', 'OtherProject', message);
}

const knownWordsOf = (previous: GapReport | undefined): readonly (readonly number[])[] =>
  [...(previous?.gaps ?? []), ...(previous?.questions ?? [])].flatMap(({ words }) =>
    words === undefined ? [] : [unpackWords(words)],
  );

function noteLimits({ left }: Survey, { progress }: CliContext): void {
  if (left.clusters > 0)
    progress.note(`${left.clusters} groups of rare questions were left out, so that memory stays bounded`);
}

async function resultOf(
  report: GapReport,
  { format, to, failOnNew }: GapsValues,
  { progress }: CliContext,
): Promise<ConversationAnswer<'GapReport' | 'GapsWritten'>> {
  const result: ConversationAnswer<'GapReport'> = {
    outcome: 'done',
    kind: 'GapReport',
    fields: report,
    lines: markdownReport(report),
  };
  const shown =
    to === undefined
      ? {
          ...result,
          script: await textOf(result, report, format),
          ...(format === 'md' && { screen: reportBlocks(report) }),
        }
      : await writeGapsFolder(to, report, await textOf(result, report, 'json'));
  if (failOnNew === undefined || report.newGaps < failOnNew) return shown;
  const are = report.newGaps === 1 ? 'is' : 'are';
  const found = `${counted(report.newGaps, 'gap')} ${are} new or reopened since the report before; --fail-on-new is ${failOnNew}`;
  progress.note(found);
  return {
    ...shown,
    outcome: 'newGaps',
    findings: [{ level: 'error', code: 'NewGaps', lines: [found] }],
  };
}

async function textOf(
  result: CommandResult,
  report: GapReport,
  format: GapsValues['format'],
): Promise<string> {
  switch (format) {
    case 'html':
      return htmlReport(report);
    case 'csv':
      return csvReport(report);
    case 'json':
      return formatResult(result, 'json');
    case 'md':
      return `${markdownReport(report).join('\n')}\n`;
    default:
      return format satisfies never;
  }
}
