// What all forms of the report say in the same words: titles of gaps, states, percentages, dates. Refuses: escaping, which
// each form does itself.

import { printable } from '#platform/wire/printable-text.ts';
import { type Outcomes, rateOf, weekName, weekNumber } from './counts.ts';
import { gapRules } from './judge.ts';
import type { Gap, GapReport } from './report-schema.ts';

export const stateWords: Readonly<Record<Gap['state'], string>> = {
  Open: 'Open',
  Closed: 'Closed',
  Reopened: 'Reopened',
  TooFewTurns: 'Too few turns',
};

const noCategory = 'no category';
const noPage = 'no page';

/** Printable, and short enough for a line. Runners of pipelines take `##[…]` on standard output for a command. */
export const shownInLine = (text: string): string => printable(text, 200).replaceAll('##', '＃＃');

/** What the gap is about, in parts: the text of others, and what surrounds it. */
export function gapTitle({ kind, question, category, page }: Gap): string {
  if (kind === 'question') return question ?? 'a question of one conversation';
  return `${category ?? noCategory} · ${page ?? noPage}`;
}

/** Why a gap has its state, in one sentence; empty where the state says all. */
export function gapReason({ closed, waiting, state, judgedTurns }: Gap): string {
  if (state === 'Closed' && closed !== undefined)
    return `Unanswered ${percent(closed.before)} of ${closed.before.turns} before ${shownInLine(closed.version)}, ${percent(closed.after)} of ${closed.after.turns} after`;
  if (state === 'Reopened' && closed !== undefined) return `Was closed in ${shownInLine(closed.version)}`;
  if (waiting !== undefined)
    return `A page changed in ${shownInLine(waiting.version)}: ${waiting.turns} of ${gapRules.laterTurns} turns since`;
  return state === 'TooFewTurns' ? `${judgedTurns} of ${gapRules.minTurns} turns` : '';
}

export const judgedOutcomes = ({ judgedTurns, judgedUnanswered }: Gap): Outcomes => ({
  turns: judgedTurns,
  unanswered: judgedUnanswered,
});

/** Of the turns whose status is known. */
export const percent = (outcomes: Outcomes): string => share(rateOf(outcomes));

export const share = (part: number): string => `${Math.round(part * 100)} %`;

export const shareOf = (part: number, whole: number): string => share(whole === 0 ? 0 : part / whole);

/** Digits in groups: 12,345. */
export const grouped = (count: number): string => count.toLocaleString('en-US');

/** `2026-11-26`. */
export const day = (instant: string): string => instant.slice(0, 10);

export function ruleWords(): readonly string[] {
  const { minTurns, minUnanswered, minRate, laterTurns, closingShare } = gapRules;
  return [
    `A category on a page, or a repeated question, is a gap from ${minTurns} turns on, with at least ${minUnanswered} of them and ${share(minRate)} unanswered. Turns without a status count in no rate.`,
    `A gap is closed in a version in which one of its pages changed, if the unanswered share then fell to ${share(closingShare)} of the former one or less. At least ${laterTurns} later turns must say so, beyond chance: the upper bound of the 95 % confidence interval is below the former share.`,
    'A closed gap is reopened when as many turns say the opposite.',
  ];
}

/** Every week from the first to the last one, those without a turn included; the latest only. */
export function wholeWeeks(weeks: GapReport['weeks'], most: number): GapReport['weeks'] {
  const byName = new Map(weeks.map((one) => [one.week, one]));
  const first = weekStart(weeks[0]?.week);
  const last = weekStart(weeks.at(-1)?.week);
  if (first === undefined || last === undefined) return [];
  const found: GapReport['weeks'] = [];
  for (let week = Math.max(first, last - most + 1); week <= last; week += 1) {
    const name = weekName(week);
    found.push(byName.get(name) ?? { week: name, turns: 0, judged: 0, unanswered: 0, unsourced: 0 });
  }
  return found;
}

/** Number of a week by its name; 4 January is in the first week of its year. */
function weekStart(name: string | undefined): number | undefined {
  const [, year, week] = /^(\d{4})-W(\d\d)$/.exec(name ?? '') ?? [];
  return year === undefined ? undefined : weekNumber(Date.UTC(Number(year), 0, 4)) + Number(week) - 1;
}
