// The first lines of an export's report: their words, their order and their bound.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reportLines, rulesLine } from '#operator/reconcile/settle/report-lines.ts';

test('each kind of gap is one line: what is missing first, with its count and one example', () => {
  const lines = reportLines([
    { code: 'LeftOutOfExport', count: 1, example: '/private (RobotsDisallowed)' },
    { code: 'HomePageMissing', count: 1, example: '"a.html"' },
    { code: 'LoadedFromElsewhere', count: 2, example: 'cdn.example/x.css (from /a)' },
    { code: 'MissingFromExport', count: 3, example: '/lost (NotFound, from /)' },
  ]);
  assert.deepEqual(lines, [
    '3 pages or files are missing, such as /lost (NotFound, from /).',
    '2 files come from other hosts, such as cdn.example/x.css (from /a).',
    '1 address is left out: /private (RobotsDisallowed).',
  ]);
});

test('what was repaired is the first line, with the files of each rule that changed any', () => {
  const note = { code: 'LeftOutOfExport', count: 1, example: '/private' };
  const repaired = [
    { rule: 'canonical', files: 12 },
    { rule: 'search-box', files: 0 },
    { rule: 'sitemap', files: 1 },
  ];
  assert.deepEqual(reportLines([note], repaired), [
    'Repaired: canonical 12 files, sitemap 1 file.',
    '1 address is left out: /private.',
  ]);
  assert.equal(reportLines([], [{ rule: 'sitemap', files: 0 }]), undefined);
});

test('pages with a search follow what was repaired, with those that cannot load it', () => {
  const search = { rule: 'search', files: 40, without: 0 };
  assert.deepEqual(reportLines([], [{ rule: 'sitemap', files: 1 }, search]), [
    'Repaired: sitemap 1 file. Search added: 40 pages.',
  ]);
  const lines = (files: number, without: number) => reportLines([], [{ ...search, files, without }]);
  assert.deepEqual(lines(1, 1), ['Search added: 1 page; 1 page cannot load it.']);
  assert.deepEqual(lines(0, 0), [
    'No page may be found by a search, so that nothing was added. Check the robots meta elements of its pages.',
  ]);
  assert.deepEqual(lines(0, 3), ['Search added: 0 pages; 3 pages cannot load it.']);
});

const strip = 'canonical=strip search';
for (const [name, before, now, expected] of [
  ['nothing is published', undefined, 'canonical:1 search:1', undefined],
  ['no revision differs', 'canonical:1 search:1', 'canonical:1 search:1', undefined],
  ['none was recorded before', '', 'canonical:1 search:1', undefined],
  ['none was recorded before', '', 'canonical:1 search:2', 'search:2; before: search:1'],
  [
    'two differ',
    'canonical:1 search:3',
    'canonical:2 search:4',
    'canonical:2, search:4; before: canonical:1, search:3',
  ],
] as const) {
  test(`the changed rules where ${name}: ${expected}`, () => {
    const published =
      before === undefined
        ? undefined
        : { repair: strip, repairRevision: before === '' ? undefined : before };
    assert.equal(
      rulesLine(published, { repair: strip, repairRevision: now }),
      expected && `Rules changed with the operator: ${expected}`,
    );
  });
}

test('other steps are not other revisions', () => {
  const now = { repair: strip, repairRevision: 'canonical:2 search:1' };
  assert.equal(rulesLine({ repair: 'search', repairRevision: 'search:1' }, now), undefined);
  assert.equal(rulesLine({ repair: strip }, {}), undefined);
});

test('an export without a gap, and one without a report, has no line', () => {
  assert.equal(reportLines([{ code: 'HomePageMissing', count: 1, example: '' }]), undefined);
  assert.equal(reportLines(undefined), undefined);
});

test('a line fits into status', () => {
  const [line = ''] = reportLines([{ code: 'MissingFromExport', count: 2, example: 'x'.repeat(600) }]) ?? [];
  assert.equal(line.length, 256);
  assert.match(line, /x….$/);
});
