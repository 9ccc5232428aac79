// The report as Markdown: for a terminal, an issue or a summary of a pipeline. Text of others stands in code spans, where it
// is neither a link, a mention nor HTML. Invariant: whatever a visitor wrote, the lines and cells are the same.

import type { CitedRow, Gap, GapReport, PageRow, RepeatedQuestion } from './report-schema.ts';
import {
  day,
  gapReason,
  gapTitle,
  grouped,
  judgedOutcomes,
  percent,
  ruleWords,
  shareOf,
  shown,
  stateWords,
  wholeWeeks,
} from './words.ts';

const mostWeeks = 12;
const mostRows = 15;
const numeric: ReadonlySet<string> = new Set([
  'Turns',
  'Unanswered',
  'Share',
  'Without sources',
  'Asked',
  'Cited',
]);

export function markdownReport(report: GapReport): readonly string[] {
  const { gaps, weeks, pages, questions, citedUnanswered, missingPages } = report;
  const openGaps = gaps.filter(({ state }) => state === 'Open' || state === 'Reopened');
  const closedGaps = gaps.filter(({ state }) => state === 'Closed');
  const unproven = gaps.filter(({ state }) => state === 'TooFewTurns');
  return [
    '# Documentation gaps',
    '',
    ...headLines(report),
    ...section('Open gaps', gapTable(openGaps), 'None.'),
    ...section('Closed gaps', gapTable(closedGaps)),
    ...section('Too few turns', gapTable(unproven)),
    ...section('By week', weekTable(wholeWeeks(weeks, mostWeeks))),
    ...section('Pages', pageTable(pages)),
    ...section('Repeated questions', questionTable(questions)),
    ...section('Cited, yet unanswered', citedTable(citedUnanswered)),
    ...section('Cited pages that the bundle lacks', citedTable(missingPages)),
    ...section(
      'Rules',
      ruleWords().map((rule) => `- ${rule}`),
    ),
  ];
}

function headLines({ period, turns, bundle, previousTime, newGaps, project }: GapReport): readonly string[] {
  const when = period === undefined ? '' : `, ${day(period.from)} to ${day(period.to)}`;
  const { undated, citedYetUnanswered, unsourced } = turns;
  return [
    `${project === null ? '' : `${code(project)}: `}${grouped(turns.turns)} turns${when}`,
    '',
    `- unanswered: ${grouped(turns.unanswered)} (${percent({ turns: turns.judged, unanswered: turns.unanswered })})`,
    `- without sources: ${grouped(unsourced)} (${shareOf(unsourced, turns.turns)})`,
    `- cited a page, yet unanswered: ${grouped(citedYetUnanswered)}`,
    ...(turns.judged < turns.turns ? [`- without a status: ${grouped(turns.turns - turns.judged)}`] : []),
    ...(undated > 0 ? [`- without a readable time: ${grouped(undated)}`] : []),
    ...(bundle === undefined ? [] : [`- version of the site: ${code(bundle.version)}`]),
    ...(previousTime === undefined ? [] : [`- new or reopened gaps since ${day(previousTime)}: ${newGaps}`]),
  ];
}

function section(title: string, lines: readonly string[], otherwise?: string): readonly string[] {
  if (lines.length === 0 && otherwise === undefined) return [];
  return ['', `## ${title}`, '', ...(lines.length === 0 ? [otherwise ?? ''] : lines)];
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  if (rows.length === 0) return [];
  const lineOf = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const shownRows = rows.slice(0, mostRows);
  const more = rows.length - shownRows.length;
  return [
    lineOf(head),
    lineOf(head.map((title) => (numeric.has(title) ? '---:' : '---'))),
    ...shownRows.map(lineOf),
    ...(more > 0 ? ['', `${grouped(more)} more.`] : []),
  ];
}

const gapTable = (gaps: readonly Gap[]): readonly string[] =>
  table(
    ['State', 'Gap', 'Turns', 'Unanswered', 'Why', 'Id'],
    gaps.map((gap) => [
      `${stateWords[gap.state]}${gap.isNew ? ', new' : ''}`,
      code(gapTitle(gap)),
      grouped(gap.judgedTurns),
      percent(judgedOutcomes(gap)),
      code(gapReason(gap)),
      gap.id,
    ]),
  );

const weekTable = (weeks: GapReport['weeks']): readonly string[] =>
  table(
    ['Week', 'Turns', 'Unanswered', 'Share', 'Without sources'],
    weeks.map(({ week, turns, judged, unanswered, unsourced }) => [
      week,
      grouped(turns),
      grouped(unanswered),
      percent({ turns: judged, unanswered }),
      grouped(unsourced),
    ]),
  );

const pageTable = (pages: readonly PageRow[]): readonly string[] =>
  table(
    ['Page', 'Turns', 'Unanswered', 'Share', 'Without sources'],
    pages.map(({ page, turns, judged, unanswered, unsourced }) => [
      code(page),
      grouped(turns),
      grouped(unanswered),
      percent({ turns: judged, unanswered }),
      grouped(unsourced),
    ]),
  );

const questionTable = (questions: readonly RepeatedQuestion[]): readonly string[] =>
  table(
    ['Question', 'Asked', 'Unanswered', 'Pages', 'Id'],
    questions
      .filter(({ question }) => question !== undefined)
      .map(({ question = '', turns, judged, unanswered, pages, id }) => [
        code(question),
        grouped(turns),
        percent({ turns: judged, unanswered }),
        pages.slice(0, 2).map(code).join(' '),
        id,
      ]),
  );

const citedTable = (rows: readonly CitedRow[]): readonly string[] =>
  table(
    ['Page', 'Cited', 'Unanswered'],
    rows.map(({ page, turns, unanswered }) => [code(page), grouped(turns), grouped(unanswered)]),
  );

/** A code span of GitHub's Markdown, also within a table: there a bar is escaped in code too. */
export function code(text: string): string {
  const line = shown(text);
  if (line.trim() === '') return '';
  const longest = Math.max(0, ...(line.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = '`'.repeat(longest + 1);
  // A backslash before a bar would escape itself. A grave accent at an end would be taken for the fence.
  const safe = line.replaceAll('\\', '＼').replaceAll('|', '\\|');
  const space = /^[` ]|[` ]$/.test(safe) ? ' ' : '';
  return `${fence}${space}${safe}${space}${fence}`;
}
