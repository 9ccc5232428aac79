// The report in parts: headings, sentences, lists and tables, whatever prints them. Owns what is in it and in which order.
// Invariant: text of others is marked as such, so that each form can keep it from being a link, a mention or markup.

import type { CitedRow, Gap, GapReport, RepeatedQuestion } from './report-schema.ts';
import {
  day,
  gapReason,
  gapTitle,
  grouped,
  judgedOutcomes,
  percent,
  ruleWords,
  shareOf,
  stateWords,
  wholeWeeks,
} from './words.ts';

/** Text of others: printed so that it is neither a link, a mention nor HTML. */
export interface Quoted {
  readonly quoted: string;
}
export type Words = string | Quoted | readonly (string | Quoted)[];

export type ReportPart =
  | { readonly kind: 'heading'; readonly level: 1 | 2; readonly text: string }
  | { readonly kind: 'text'; readonly text: Words }
  | { readonly kind: 'list'; readonly items: readonly Words[] }
  | {
      readonly kind: 'table';
      readonly columns: readonly { readonly title: string; readonly isNumeric: boolean }[];
      readonly rows: readonly (readonly Words[])[];
    };

const code = (text: string): Quoted => ({ quoted: text });

const mostWeeks = 12;
const mostRows = 15;
const numeric: ReadonlySet<string> = new Set([
  'Turns',
  'Unanswered',
  'Share',
  'Without sources',
  'Asked',
  'Cited',
  'Searches',
  'Requests',
  'Linking pages',
]);

export function reportParts(report: GapReport): readonly ReportPart[] {
  const { gaps, weeks, pages, questions, citedUnanswered, missingPages, unmet } = report;
  const openGaps = gaps.filter(({ state }) => state === 'Open' || state === 'Reopened');
  const closedGaps = gaps.filter(({ state }) => state === 'Closed');
  const unproven = gaps.filter(({ state }) => state === 'TooFewTurns');
  return [
    { kind: 'heading', level: 1, text: 'Documentation gaps' },
    ...headParts(report),
    ...section('Open gaps', gapTable(openGaps), 'None.'),
    ...section('Closed gaps', gapTable(closedGaps)),
    ...section('Too few turns', gapTable(unproven)),
    ...section(
      'By week',
      rateTable('Week', wholeWeeks(weeks, mostWeeks), ({ week }) => week),
    ),
    ...section(
      'Pages',
      rateTable('Page', pages, ({ page }) => code(page)),
    ),
    ...section('Repeated questions', questionTable(questions)),
    ...section('Cited, yet unanswered', citedTable(citedUnanswered)),
    ...section('Cited pages that the bundle lacks', citedTable(missingPages)),
    ...section('Searches without a result', searchTable(unmet?.searches ?? [])),
    ...section('Addresses that readers did not find', addressTable(unmet?.addresses ?? [])),
    ...section('Rules', [{ kind: 'list', items: ruleWords() }]),
  ];
}

function headParts({
  period,
  turns,
  bundle,
  previousTime,
  newGaps,
  project,
}: GapReport): readonly ReportPart[] {
  const when = period === undefined ? '' : `, ${day(period.from)} to ${day(period.to)}`;
  const { undated, citedYetUnanswered, unsourced } = turns;
  const items: readonly Words[] = [
    `unanswered: ${grouped(turns.unanswered)} (${percent({ turns: turns.judged, unanswered: turns.unanswered })})`,
    `without sources: ${grouped(unsourced)} (${shareOf(unsourced, turns.turns)})`,
    `cited a page, yet unanswered: ${grouped(citedYetUnanswered)}`,
    ...(turns.judged < turns.turns ? [`without a status: ${grouped(turns.turns - turns.judged)}`] : []),
    ...(undated > 0 ? [`without a readable time: ${grouped(undated)}`] : []),
    ...(bundle === undefined ? [] : [['version of the site: ', code(bundle.version)]]),
    ...(previousTime === undefined ? [] : [`new or reopened gaps since ${day(previousTime)}: ${newGaps}`]),
  ];
  const whose = project === null ? [] : [code(project), ': '];
  return [
    { kind: 'text', text: [...whose, `${grouped(turns.turns)} turns${when}`] },
    { kind: 'list', items },
  ];
}

function section(title: string, parts: readonly ReportPart[], otherwise?: string): readonly ReportPart[] {
  if (parts.length === 0 && otherwise === undefined) return [];
  const text = { kind: 'text', text: otherwise ?? '' } as const;
  return [{ kind: 'heading', level: 2, text: title }, ...(parts.length === 0 ? [text] : parts)];
}

function table(head: readonly string[], rows: readonly (readonly Words[])[]): readonly ReportPart[] {
  if (rows.length === 0) return [];
  const shownRows = rows.slice(0, mostRows);
  const more = rows.length - shownRows.length;
  return [
    {
      kind: 'table',
      columns: head.map((title) => ({ title, isNumeric: numeric.has(title) })),
      rows: shownRows,
    },
    ...(more > 0 ? [{ kind: 'text', text: `${grouped(more)} more.` } as const] : []),
  ];
}

const gapTable = (gaps: readonly Gap[]): readonly ReportPart[] =>
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

/** @param subject heads the first column */
const rateTable = <Row extends RatedRow>(
  subject: string,
  rows: readonly Row[],
  wordsOf: (row: Row) => Words,
): readonly ReportPart[] =>
  table(
    [subject, 'Turns', 'Unanswered', 'Share', 'Without sources'],
    rows.map((row) => [
      wordsOf(row),
      grouped(row.turns),
      grouped(row.unanswered),
      percent({ turns: row.judged, unanswered: row.unanswered }),
      grouped(row.unsourced),
    ]),
  );

type RatedRow = Readonly<Record<'turns' | 'judged' | 'unanswered' | 'unsourced', number>>;

const questionTable = (questions: readonly RepeatedQuestion[]): readonly ReportPart[] =>
  table(
    ['Question', 'Asked', 'Unanswered', 'Pages', 'Id'],
    questions
      .filter(({ question }) => question !== undefined)
      .map(({ question = '', turns, judged, unanswered, pages, id }) => [
        code(question),
        grouped(turns),
        percent({ turns: judged, unanswered }),
        pages.slice(0, 2).flatMap((page, at) => [...(at > 0 ? [' '] : []), code(page)]),
        id,
      ]),
  );

const citedTable = (rows: readonly CitedRow[]): readonly ReportPart[] =>
  table(
    ['Page', 'Cited', 'Unanswered'],
    rows.map(({ page, turns, unanswered }) => [code(page), grouped(turns), grouped(unanswered)]),
  );

type Unmet = NonNullable<GapReport['unmet']>;

const searchTable = (rows: Unmet['searches']): readonly ReportPart[] =>
  table(
    ['Search', 'Searches', 'Asked', 'Unanswered'],
    rows.map(({ text, searches, turns, unanswered }) => [
      code(text),
      grouped(searches),
      grouped(turns),
      grouped(unanswered),
    ]),
  );

const addressTable = (rows: Unmet['addresses']): readonly ReportPart[] =>
  table(
    ['Page', 'Requests', 'Linking pages', 'Cited'],
    rows.map(({ page, requests, linkingPages, citedTurns }) => [
      code(page),
      grouped(requests),
      linkingPages === undefined ? '' : grouped(linkingPages),
      grouped(citedTurns),
    ]),
  );
