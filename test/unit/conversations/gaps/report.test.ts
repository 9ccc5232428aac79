// Reports one after another: what is counted, which gaps appear, which version closes them, and what a report keeps of
// visitors.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { csvReport } from '#conversations/gaps/csv-report.ts';
import { htmlReport } from '#conversations/gaps/html.ts';
import { markdownReport } from '#conversations/gaps/markdown.ts';
import { type GapReport, parseReport, reportKind } from '#conversations/gaps/report-schema.ts';
import { reportOf, site, times, turn } from './sample-report.ts';

const unanswered = (fields: Parameters<typeof turn>[0] = {}) =>
  turn({ resolution_status: 'unanswered', ...fields });
const first = { version: 'v-1', files: { 'guide/index.html': 'old', 'index.html': 'home' } };
const second = { version: 'v-2', files: { 'guide/index.html': 'new', 'index.html': 'home' } };
const later = '2026-12-01T10:00:00.000Z';

const again = (report: GapReport): GapReport => {
  const read = parseReport(JSON.stringify({ kind: reportKind, ...report }));
  assert.ok(read !== undefined, 'the report is of its own schema');
  return read;
};
const stateOf = (report: GapReport, kind: 'page' | 'question') =>
  report.gaps.find((gap) => gap.kind === kind);

test('no screen hides how many turns a gap has, and which share of them is unanswered', () => {
  const html = htmlReport(reportOf(times(8, () => unanswered())));
  assert.match(html, /data-title="Turns" class="number">8<.*data-title="Unanswered" [^>]*>100 %</);
  assert.doesNotMatch(html, /\.(?:number|share)[^{}]*\{[^}]*(?:display:none|visibility:hidden)/);
});

test('a gap is closed in the version that changed its page, and reopened when it is back', () => {
  const early = times(8, () => unanswered());
  const one = again(reportOf(early, { bundle: first, now: '2026-11-20T00:00:00Z' }));
  assert.deepEqual(
    one.gaps.map(({ kind, state, isNew }) => [kind, state, isNew]),
    [
      ['page', 'Open', false],
      ['question', 'Open', false],
    ],
  );
  assert.equal(one.newGaps, 0);

  const two = again(reportOf(early, { bundle: second, previous: one, now: '2026-11-27T00:00:00Z' }));
  assert.deepEqual(
    two.gaps.map(({ state, waiting, isNew }) => [state, waiting, isNew]),
    [
      ['TooFewTurns', { version: 'v-2', turns: 0 }, false],
      ['TooFewTurns', { version: 'v-2', turns: 0 }, false],
    ],
  );

  const answered = times(12, () => turn({ timestamp: later }));
  const three = again(
    reportOf([...early, ...answered], { bundle: second, previous: two, now: '2026-12-05T00:00:00Z' }),
  );
  assert.deepEqual(
    three.gaps.map(({ state, closed }) => [state, closed?.version]),
    [
      ['Closed', 'v-2'],
      ['Closed', 'v-2'],
    ],
  );
  assert.deepEqual(three.gaps.map(({ id }) => id).sort(), one.gaps.map(({ id }) => id).sort());

  const back = times(15, () => unanswered({ timestamp: '2026-12-20T10:00:00.000Z' }));
  const four = again(
    reportOf([...early, ...answered, ...back], {
      bundle: second,
      previous: three,
      now: '2026-12-24T00:00:00Z',
    }),
  );
  assert.deepEqual(
    four.gaps.map(({ state, isNew }) => [state, isNew]),
    [
      ['Reopened', true],
      ['Reopened', true],
    ],
  );
  const five = reportOf([...early, ...answered, ...back], {
    bundle: second,
    previous: four,
    now: '2026-12-25T00:00:00Z',
  });
  assert.equal(five.newGaps, 0);
});

test('a first report names no gap as new, and the next one says since when', () => {
  const one = again(reportOf(times(8, () => unanswered())));
  assert.doesNotMatch(markdownReport(one).join('\n'), /new or reopened/);
  const two = reportOf(
    times(8, () => unanswered()),
    { previous: one },
  );
  assert.match(markdownReport(two).join('\n'), /^- new or reopened gaps since 2026-11-26: 0$/m);
});

test('a gap that the report before did not have is new', () => {
  const one = again(reportOf(times(8, () => unanswered())));
  const other = () => unanswered({ query: 'rotate api keys', page_url: `${site}/keys` });
  const two = again(reportOf([...times(8, () => unanswered()), ...times(8, other)], { previous: one }));
  assert.deepEqual(
    two.gaps.filter(({ isNew }) => isNew).map(({ kind, page, question }) => [kind, page ?? question]),
    [
      ['page', '/keys'],
      ['question', 'rotate api keys'],
    ],
  );
  assert.equal(two.newGaps, 2);
});

test('without a changed page a gap stays open, however many turns are answered later', () => {
  const early = times(8, () => unanswered());
  const one = again(reportOf(early, { bundle: first, now: '2026-11-20T00:00:00Z' }));
  const elsewhere = { version: 'v-2', files: { ...first.files, 'index.html': 'another home' } };
  const two = reportOf([...early, ...times(12, () => turn({ timestamp: later }))], {
    bundle: elsewhere,
    previous: one,
    now: '2026-12-05T00:00:00Z',
  });
  assert.equal(stateOf(two, 'page')?.state, 'Open');
});

const builds: readonly (readonly [
  change: string,
  files: Readonly<Record<string, string>>,
  isClosed: boolean,
])[] = [
  ['names of scripts alone', guideOf('b', 'Ask the owner of your organization.'), false],
  ['a paragraph', guideOf('b', 'Choose Security, then Single sign-on.'), true],
];
function guideOf(asset: string, text: string): Readonly<Record<string, string>> {
  const page = `<script src="/${asset}.js"></script><main><h1>SSO</h1><p>${text}</p></main>`;
  return { [`${asset}.js`]: asset, 'guide/index.html': page, 'index.html': page };
}
for (const [change, files, isClosed] of builds) {
  test(`a build that changes ${change} closes ${isClosed ? 'the gap of the page' : 'no gap'}`, () => {
    const early = times(8, () => unanswered());
    const before = { version: 'v-1', files: guideOf('a', 'Ask the owner of your organization.') };
    const one = again(reportOf(early, { bundle: before, now: '2026-11-20T00:00:00Z' }));
    const two = reportOf([...early, ...times(12, () => turn({ timestamp: later }))], {
      bundle: { version: 'v-2', files },
      previous: one,
      now: '2026-11-27T00:00:00Z',
    });
    assert.equal(stateOf(two, 'page')?.state, isClosed ? 'Closed' : 'Open');
    assert.equal(stateOf(two, 'page')?.closed?.version, isClosed ? 'v-2' : undefined);
  });
}

/** As the first reader of pages made it: without its number, and with other hashes. */
const fromFirstReader = ({ pageReader: _number, versions, ...report }: GapReport): GapReport => ({
  ...report,
  versions: versions.map((version) => ({
    ...version,
    pages: Object.fromEntries(
      Object.entries(version.pages).map(([page, hash]) => [page, hash && [...hash].reverse().join('')]),
    ),
  })),
});

test('another reader of pages closes no gap, and the next change of a page does', () => {
  const early = times(8, () => unanswered());
  const answered = times(12, () => turn({ timestamp: later }));
  const built = (version: string, asset: string, text: string) => ({ version, files: guideOf(asset, text) });
  const known = fromFirstReader(
    reportOf(early, {
      bundle: built('v-1', 'a', 'The owner of your organization.'),
      now: '2026-11-20T00:00:00Z',
    }),
  );
  const two = again(
    reportOf([...early, ...answered], {
      bundle: built('v-2', 'b', 'The owner of your organization.'),
      previous: again(known),
      now: '2026-11-27T00:00:00Z',
    }),
  );
  assert.equal(stateOf(two, 'page')?.state, 'Open');
  const three = reportOf(
    [...early, ...answered, ...times(12, () => turn({ timestamp: '2026-12-09T10:00:00.000Z' }))],
    { bundle: built('v-3', 'b', 'Choose Security.'), previous: two, now: '2026-12-08T00:00:00Z' },
  );
  assert.equal(stateOf(three, 'page')?.closed?.version, 'v-3');
});

test('another reader of pages keeps the changes that reports of the same content know', () => {
  const early = times(8, () => unanswered());
  const one = again(reportOf(early, { bundle: first, now: '2026-11-20T00:00:00Z' }));
  const two = again(reportOf(early, { bundle: second, previous: one, now: '2026-11-27T00:00:00Z' }));
  const three = reportOf([...early, ...times(12, () => turn({ timestamp: later }))], {
    bundle: second,
    previous: again(fromFirstReader(two)),
    now: '2026-12-05T00:00:00Z',
  });
  assert.equal(stateOf(three, 'page')?.closed?.version, 'v-2');
});

test('a report without a bundle keeps the number of the reader that its hashes are from', () => {
  const one = again(reportOf([], { bundle: first }));
  assert.equal(reportOf([], { previous: one }).pageReader, one.pageReader);
  assert.ok(one.pageReader !== undefined);
  assert.equal(reportOf([], { previous: fromFirstReader(one) }).pageReader, undefined);
});

test('a page that the bundle lacked and a later version has closes its gap', () => {
  const early = times(8, () => unanswered({ page_url: `${site}/new-page` }));
  const one = again(reportOf(early, { bundle: first, now: '2026-11-20T00:00:00Z' }));
  assert.equal(one.pages[0]?.isInBundle, false);
  const added = { version: 'v-2', files: { ...first.files, 'new-page.html': 'text' } };
  const answered = times(12, () => turn({ page_url: `${site}/new-page/`, timestamp: later }));
  const two = again(
    reportOf([...early, ...answered], { bundle: added, previous: one, now: '2026-11-27T00:00:00Z' }),
  );
  assert.equal(stateOf(two, 'page')?.closed?.version, 'v-2');
});

test('gaps are kept over a store that was pruned', () => {
  const one = again(
    reportOf(
      times(8, () => unanswered()),
      { bundle: first, now: '2026-11-20T00:00:00Z' },
    ),
  );
  const answered = times(12, () => turn({ timestamp: later }));
  const two = again(reportOf(answered, { bundle: second, previous: one, now: '2026-11-27T00:00:00Z' }));
  assert.equal(stateOf(two, 'page')?.closed?.version, 'v-2');
  const three = reportOf([], { bundle: second, previous: two, now: '2026-12-27T00:00:00Z' });
  assert.deepEqual(
    three.gaps.map(({ state }) => state),
    ['Closed', 'Closed'],
  );
});

test('turns are counted by week, status and sources', () => {
  const report = reportOf(
    [
      turn({ timestamp: '2026-11-29T23:59:59.999Z', cites: [`${site}/guide`] }),
      unanswered({ timestamp: '2026-11-30T00:00:00.000Z', cites: [`${site}/gone`] }),
      unanswered({ timestamp: null }),
      turn({ resolution_status: null, timestamp: '2027-01-03T00:00:00.000Z' }),
    ],
    { bundle: first },
  );
  assert.deepEqual(report.turns, {
    turns: 4,
    judged: 3,
    unanswered: 2,
    unsourced: 2,
    undated: 1,
    citedYetUnanswered: 1,
  });
  assert.deepEqual(
    report.weeks.map(({ week, turns, unanswered: open }) => [week, turns, open]),
    [
      ['2026-W48', 1, 0],
      ['2026-W49', 1, 1],
      ['2026-W53', 1, 0],
    ],
  );
  assert.deepEqual(report.missingPages, [
    { host: 'docs.example.com', page: '/gone', turns: 1, unanswered: 1 },
  ]);
  assert.deepEqual(
    report.citedUnanswered.map(({ page }) => page),
    ['/gone'],
  );
});

test('a page of another host is not one that the bundle lacks', () => {
  const report = reportOf([turn({ cites: ['https://other.example.com/gone', 'mailto:a@example.com'] })], {
    bundle: first,
  });
  assert.deepEqual(report.missingPages, []);
});

test('a report shows no question of one conversation, and masks what names a person or opens a door', () => {
  const text =
    'My mail is ann@example.com or bob%40example.com, phone +49 170 1234567, host 10.1.2.3 or 2001:db8::7 since 10:30:45 with 1.2.3, key svc_live_0123456789abcdef, see https://x.example/a?token=1';
  const lonely = reportOf(times(6, () => unanswered({ query: text, conversation: 'one' })));
  assert.ok(!JSON.stringify(lonely).includes('mail'));
  const report = JSON.stringify(reportOf(times(6, () => unanswered({ query: text }))));
  for (const secret of ['ann@', 'bob%', '1234567', '0123456789abcdef', 'token=1', '10.1.2.3', 'db8'])
    assert.ok(!report.includes(secret), secret);
  assert.match(
    report,
    /My mail is \[e-mail\] or \[e-mail\], phone \[number\], host \[address\] or \[address\] since 10:30:45 with 1\.2\.3, key \[key\], see https:\/\/x\.example\/a/,
  );
});

test('a report of thousands of different texts is bounded', () => {
  const all = Array.from({ length: 12_000 }, (_, at) =>
    unanswered({
      query: `question${at} about${at}`,
      category: `category ${at}`,
      page_url: `${site}/page${at}`,
      cites: [`${site}/cited${at}`],
    }),
  );
  const report = reportOf(all, { bundle: first });
  assert.ok(JSON.stringify(report).length < 3_000_000);
  assert.equal(report.turns.turns, 12_000);
  assert.ok(report.left.citedPages > 0 && report.left.cells > 0);
});

test('CSV has a row for each category, page and week, harmless in a spreadsheet', () => {
  const report = reportOf([
    ...times(6, () => unanswered({ category: '=cmd|calc' })),
    turn({ category: null, page_url: null }),
  ]);
  assert.deepEqual(csvReport(report).split('\r\n'), [
    'week,category,page,turns,judged,unanswered,unsourced,gap,state',
    `2026-W45,"\t=cmd|calc",/guide,6,6,6,6,${report.gaps[0]?.kind === 'page' ? report.gaps[0].id : report.gaps[1]?.id},Open`,
    '2026-W45,,,1,1,0,1,,',
    '',
  ]);
});

test('a text that is not a report is none', () => {
  for (const text of ['', '{}', '[]', '{"kind":"GapReport"}', '{"kind":"GapReport","gaps":[{"id":1}]}'])
    assert.equal(parseReport(text), undefined);
});
