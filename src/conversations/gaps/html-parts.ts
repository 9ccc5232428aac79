// Pieces of the HTML report: escaped text, bars, meters, the trend and the table of weeks. Invariant: text of others only gets
// into a page through `escapeHtml`; numbers and class names are of this program.

import { type Outcomes, rateOf } from './counts.ts';
import type { CellRow, Gap, GapReport } from './report-schema.ts';
import {
  gapReason,
  gapTitle,
  grouped,
  judgedOutcomes,
  noCategory,
  noPage,
  percent,
  share,
  shown,
  stateWords,
  wholeWeeks,
} from './words.ts';

/** Markup, as distinct from text. */
export type Html = string;

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
};

/** Of any text, for content and for quoted attributes. */
export function escapeHtml(text: string): Html {
  return shown(text).replace(/[&<>"'`]/g, (character) => entities[character] ?? '');
}

/** A part of a hundred, as a length. */
const length = (part: number): string => `${Math.round(Math.min(1, Math.max(0, part)) * 1000) / 10}%`;

export function section(title: string, note: string, body: Html, aside: Html = ''): Html {
  const notes = note === '' ? '' : `<p class="note">${note}</p>`;
  return `<section><header><h2>${title}</h2>${notes}${aside}</header>\n${body}</section>\n`;
}

export function figure(name: string, value: string, note = '', tone: 'hot' | 'good' | '' = ''): Html {
  const small = note === '' ? '' : `<small>${note}</small>`;
  return `<div><dt>${name}</dt><dd${tone === '' ? '' : ` class="${tone}"`}>${value}${small}</dd></div>`;
}

const mostWeeks = 26;

/** Bars by week, and the unanswered share below them. A line marks the week in which a version was published. */
export function trend({ weeks, versions }: GapReport, weekOf: (instant: string) => string): Html {
  const shownWeeks = wholeWeeks(weeks, mostWeeks);
  const most = niceMost(Math.max(1, ...shownWeeks.map(({ turns }) => turns)));
  const bars = shownWeeks.map(({ week, turns, judged, unanswered }) => {
    const title = `${week}: ${grouped(turns)} turns, ${percent({ turns: judged, unanswered })} unanswered`;
    const hot = unanswered === 0 ? '' : `<b style="height:${length(unanswered / most)}"></b>`;
    return `<i title="${title}"><u style="height:${length((turns - unanswered) / most)}"></u>${hot}</i>`;
  });
  const marks = versions
    .map(({ since }) => shownWeeks.findIndex(({ week }) => week === weekOf(since)))
    .filter((at) => at >= 0)
    .map((at) => `<span class="mark" style="left:${length((at + 0.5) / shownWeeks.length)}"></span>`)
    .join('');
  return `<div class="trend">${axis([grouped(most), grouped(most / 2), '0'], 'axis')}<div class="plot"><div class="bars">${bars.join('')}</div>${marks}</div>
${rateLine(shownWeeks, marks)}<div class="weeks">${weekLabels(shownWeeks)}</div></div>
`;
}

const axis = (labels: readonly string[], classes: string): Html =>
  `<div class="${classes}">${labels.map((label) => `<span>${label}</span>`).join('')}</div>`;

function weekLabels(weeks: GapReport['weeks']): Html {
  const everyLabel = Math.ceil(weeks.length / 5);
  return weeks
    .map(({ week }, at) => {
      const isKept = (weeks.length - 1 - at) % everyLabel === 0;
      return `<span${isKept ? ' class="keep"' : ''}>${isKept || weeks.length <= 14 ? week.slice(5) : '&nbsp;'}</span>`;
    })
    .join('');
}

/** Weeks without a judged turn have no point. */
function rateLine(weeks: GapReport['weeks'], marks: Html): Html {
  const rates = weeks.map(({ judged, unanswered }) => rateOf({ turns: judged, unanswered }));
  const most = Math.max(0.1, Math.ceil(Math.max(0, ...rates) * 10) / 10);
  const points = weeks.flatMap(({ judged }, at) =>
    judged === 0
      ? []
      : [`${round(((at + 0.5) / weeks.length) * 1000)},${round(100 - ((rates[at] ?? 0) / most) * 100)}`],
  );
  const [first = '0,100'] = points;
  const last = points.at(-1) ?? first;
  const area = `M${first.split(',')[0]},100L${points.join('L')}L${last.split(',')[0]},100Z`;
  const lines =
    points.length === 0
      ? ''
      : `<path class="area" d="${area}"/><path class="edge" d="M${points.join('L')}"/>`;
  return `${axis([share(most), '0 %'], 'axis rate-axis')}<div class="rate" role="img" aria-label="Unanswered share by week"><svg viewBox="0 0 1000 100" preserveAspectRatio="none" aria-hidden="true">${lines}</svg>${marks}</div>
`;
}

const round = (value: number): number => Math.round(value * 10) / 10;

/** The next of 2, 4, 10, 20, 40, 100, …, so that half of it is whole. */
export function niceMost(most: number): number {
  for (let unit = 1; ; unit *= 10) {
    const found = [2, 4, 6, 8, 10].find((factor) => factor * unit >= most);
    if (found !== undefined) return found * unit;
  }
}

function meter(outcomes: Outcomes): Html {
  const { turns, unanswered } = outcomes;
  return `<div class="meter"><i><b style="width:${length(rateOf(outcomes))}"></b></i><span>${percent(outcomes)}</span><small>${grouped(unanswered)} of ${grouped(turns)} turns unanswered</small></div>`;
}

export function gapItem(gap: Gap): Html {
  const { state, isNew, pages, kind, id } = gap;
  const reason = gapReason(gap);
  const where = kind === 'question' && pages.length > 0 ? pages.slice(0, 3).join(', ') : '';
  const details = [reason, where].filter((text) => text !== '').map(escapeHtml);
  const title =
    kind === 'question'
      ? gap.question === undefined
        ? escapeHtml(gapTitle(gap))
        : `“${escapeHtml(gap.question)}”`
      : `${escapeHtml(gap.category ?? noCategory)} · <code>${escapeHtml(gap.page ?? noPage)}</code>`;
  return `<li><span class="state s-${state}">${stateWords[state]}${isNew ? ' · new' : ''}</span><div class="what"><strong>${title}</strong><p>${[...details, `<code>${escapeHtml(id)}</code>`].join(' · ')}</p></div>${meter(judgedOutcomes(gap))}</li>\n`;
}

export interface BarRow {
  readonly title: Html;
  readonly note: string;
  readonly turns: number;
  readonly unanswered: number;
}

/** Bars on one scale. */
export function barList(rows: readonly BarRow[]): Html {
  const most = Math.max(1, ...rows.map(({ turns }) => turns));
  const items = rows.map(
    ({ title, note, turns, unanswered }) =>
      `<li><div class="line"><span>${title}</span><span>${note}</span></div><div class="bar"><b style="width:${length(unanswered / most)}"></b><u style="width:${length((turns - unanswered) / most)}"></u></div></li>\n`,
  );
  return `<ul class="rows">${items.join('')}</ul>\n`;
}

const heatWeeks = 12;
const heatRows = 12;

/** Unanswered share of each category in each of the last weeks. */
export function heatTable({ cells, weeks }: GapReport): Html {
  const shownWeeks = wholeWeeks(weeks, heatWeeks).map(({ week }) => week);
  const rows = byCategory(cells)
    .filter(({ byWeek }) => shownWeeks.some((week) => (byWeek.get(week)?.turns ?? 0) > 0))
    .slice(0, heatRows);
  const head = shownWeeks.map((week) => `<th scope="col">${week.slice(5)}</th>`).join('');
  const body = rows.map(({ category, byWeek }) => {
    const data = shownWeeks.map((week) => heatCell(byWeek.get(week)));
    return `<tr><th scope="row">${escapeHtml(category ?? noCategory)}</th>${data.join('')}</tr>\n`;
  });
  return `<div class="scroll"><table><thead><tr><th></th>${head}</tr></thead><tbody>\n${body.join('')}</tbody></table></div>\n`;
}

/** From here on, dark text is the easier one to read on the dark page, and white text on the light page. */
const deepHeat = 60;
const fullHeat = 90;

function heatCell(outcomes: Outcomes | undefined): Html {
  if (outcomes === undefined || outcomes.turns === 0) return '<td class="none">·</td>';
  const heat = Math.round(rateOf(outcomes) * 100);
  const depth = heat >= fullHeat ? ' deep full' : heat >= deepHeat ? ' deep' : '';
  const classes = heat === 0 ? '' : ` class="heat${depth}" style="--h:${heat}"`;
  const title = `${grouped(outcomes.unanswered)} of ${grouped(outcomes.turns)} unanswered`;
  return `<td${classes} title="${title}">${heat}</td>`;
}

interface CategoryRow {
  readonly category: string | null;
  readonly unanswered: number;
  readonly byWeek: ReadonlyMap<string, Outcomes>;
}

function byCategory(cells: readonly CellRow[]): readonly CategoryRow[] {
  const rows = new Map<string | null, { unanswered: number; byWeek: Map<string, Outcomes> }>();
  for (const { category, unanswered, weeks } of cells) {
    const row = rows.get(category) ?? { unanswered: 0, byWeek: new Map<string, Outcomes>() };
    rows.set(category, row);
    row.unanswered += unanswered;
    for (const { week, judged, unanswered: open } of weeks) {
      const sum = row.byWeek.get(week) ?? { turns: 0, unanswered: 0 };
      row.byWeek.set(week, { turns: sum.turns + judged, unanswered: sum.unanswered + open });
    }
  }
  return [...rows]
    .map(([category, row]) => ({ category, ...row }))
    .sort((one, other) => other.unanswered - one.unanswered);
}
