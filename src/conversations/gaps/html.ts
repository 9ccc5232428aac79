// The report as one HTML file: no script, nothing that is loaded, readable on a phone, in light and in dark. Owns what stands
// where. Refuses, by a policy in the page itself, everything but its own style.

import { weekName, weekNumber } from './counts.ts';
import {
  type BarRow,
  barList,
  escapeHtml,
  figure,
  gapItem,
  type Html,
  heatTable,
  section,
  trend,
} from './html-parts.ts';
import { style } from './html-style.ts';
import type { CitedRow, Gap, GapReport, PageRow, RepeatedQuestion } from './report-schema.ts';
import { day, grouped, percent, ruleWords, shareOf } from './words.ts';

const most = { open: 10, folded: 50, bars: 10, cited: 10 };

const policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

export function htmlReport(report: GapReport): string {
  const { gaps, weeks, pages, questions, citedUnanswered, missingPages, cells } = report;
  const shownQuestions = questions.filter(({ question }) => question !== undefined);
  const body = [
    head(report),
    figures(report),
    weeks.length === 0 ? '' : section('Turns by week', '', trend(report, weekOf), trendKey(report)),
    gapSection(gaps),
    pair(
      pages.length === 0
        ? ''
        : section('Top pages', 'where visitors asked', barList(pages.slice(0, most.bars).map(pageBar))),
      shownQuestions.length === 0
        ? ''
        : section(
            'Top questions',
            'asked in several conversations',
            barList(shownQuestions.slice(0, most.bars).map(questionBar)),
          ),
    ),
    cells.length === 0 || weeks.length === 0
      ? ''
      : section('Categories by week', 'unanswered, in percent', heatTable(report)),
    pair(
      citedSection('Cited, yet unanswered', 'the page was found and did not help', citedUnanswered),
      citedSection('Cited pages that the bundle lacks', 'the assistant links to nothing', missingPages),
    ),
    `<footer>${ruleWords()
      .map((rule) => `<p>${rule}</p>`)
      .join('')}</footer>\n`,
  ];
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width,initial-scale=1"><meta name="robots" content="noindex"><meta name="referrer" content="no-referrer">
<title>Documentation gaps</title><style>${style}</style></head>
<body><main>
${body.join('')}</main></body></html>
`;
}

const weekOf = (instant: string): string => weekName(weekNumber(Date.parse(instant)));

const pair = (one: Html, other: Html): Html =>
  one !== '' && other !== '' ? `<div class="two">${one}${other}</div>\n` : one + other;

function head({ period, bundle, project, generatedTime }: GapReport): Html {
  const parts = [
    ...(project === null ? [] : [escapeHtml(project)]),
    ...(period === undefined ? [] : [`${day(period.from)} to ${day(period.to)}`]),
    ...(bundle === undefined ? [] : [`site version ${escapeHtml(bundle.version)}`]),
    `made ${day(generatedTime)}`,
  ];
  return `<header><h1>Documentation gaps</h1><p class="sub">${parts.map((part) => `<span>${part}</span>`).join(' · ')}</p></header>\n`;
}

function figures({ turns, gaps, newGaps }: GapReport): Html {
  const { turns: all, judged, unanswered, unsourced, citedYetUnanswered } = turns;
  const countOf = (state: Gap['state']): number => gaps.filter((gap) => gap.state === state).length;
  const open = countOf('Open') + countOf('Reopened');
  return `<dl class="figures">${[
    figure('Open gaps', grouped(open), newGaps > 0 ? `${grouped(newGaps)} new` : '', open > 0 ? 'hot' : ''),
    figure('Closed gaps', grouped(countOf('Closed')), '', countOf('Closed') > 0 ? 'good' : ''),
    figure(
      'Unanswered',
      percent({ turns: judged, unanswered }),
      `${grouped(unanswered)} of ${grouped(judged)}`,
    ),
    figure('Without sources', shareOf(unsourced, all), `${grouped(unsourced)} of ${grouped(all)}`),
    figure('Cited, unanswered', grouped(citedYetUnanswered)),
  ].join('')}</dl>\n`;
}

function gapSection(gaps: readonly Gap[]): Html {
  if (gaps.length === 0)
    return section('Gaps', '', '<p class="note">No gap: nothing is asked often and left unanswered.</p>');
  const [open, closed, unproven] = [
    gaps.filter(({ state }) => state === 'Open' || state === 'Reopened'),
    gaps.filter(({ state }) => state === 'Closed'),
    gaps.filter(({ state }) => state === 'TooFewTurns'),
  ];
  const note = open.length === 0 ? 'none is open' : 'unanswered, the most first';
  const body = [
    gapList(open.slice(0, most.open)),
    folded('more open gaps', open.slice(most.open)),
    folded('with too few turns to say', unproven),
    folded('closed', closed),
  ];
  return section('Gaps', note, body.join(''));
}

const gapList = (gaps: readonly Gap[]): Html =>
  gaps.length === 0 ? '' : `<ol class="gaps">${gaps.map(gapItem).join('')}</ol>\n`;

const folded = (name: string, gaps: readonly Gap[]): Html =>
  gaps.length === 0
    ? ''
    : `<details><summary><b>${grouped(gaps.length)}</b> ${name}</summary>${gapList(gaps.slice(0, most.folded))}</details>\n`;

const trendKey = ({ versions }: GapReport): Html =>
  `<p class="key"><span class="k-hot">unanswered</span><span>other turns</span>${versions.length > 0 ? '<span class="k-mark">new version of the site</span>' : ''}</p>`;

const pageBar = ({ page, isInBundle, turns, judged, unanswered }: PageRow): BarRow => ({
  title: `<code>${escapeHtml(page)}</code>${isInBundle === false ? ' <span class="lack">not in the bundle</span>' : ''}`,
  note: `${grouped(turns)} · ${percent({ turns: judged, unanswered })}`,
  turns,
  unanswered,
});

const questionBar = ({ question = '', turns, judged, unanswered }: RepeatedQuestion): BarRow => ({
  title: escapeHtml(question),
  note: `${grouped(turns)} · ${percent({ turns: judged, unanswered })}`,
  turns,
  unanswered,
});

function citedSection(title: string, note: string, rows: readonly CitedRow[]): Html {
  if (rows.length === 0) return '';
  const bars = rows.slice(0, most.cited).map(({ page, turns, unanswered }) => ({
    title: `<code>${escapeHtml(page)}</code>`,
    note: `${grouped(unanswered)} of ${grouped(turns)}`,
    turns,
    unanswered,
  }));
  return section(title, note, barList(bars));
}
