// What a release changes: all of its places once, and nothing the second time.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { readChangelog } from '../../../../packaging/version/changelog.ts';
import {
  contentDigest,
  planRelease,
  readLastRelease,
  type Tree,
} from '../../../../packaging/version/release-plan.ts';
import { smallSurface, smallTree, withChanges } from './small-tree.ts';

const surface = smallSurface;
const date = '2026-12-01';

function released(tree: Tree, version: string, on = date): Map<string, string> {
  const plan = planRelease(tree, { version, date: on, surface });
  assert.ok(plan.outcome === 'change', JSON.stringify(plan));
  return withChanges(tree, plan.changes);
}
const withLines = (tree: Tree, lines: string): Map<string, string> =>
  withChanges(
    tree,
    new Map([
      [
        'CHANGELOG.md',
        (tree.get('CHANGELOG.md') ?? '').replace('## Unreleased\n', `## Unreleased\n\n${lines}`),
      ],
    ]),
  );

test('every place gets the version, and the lists of names are written', () => {
  const tree = released(smallTree(), '0.2.0');
  assert.match(tree.get('package.json') ?? '', /"version": "0\.2\.0"/);
  assert.equal(tree.get('Dockerfile'), 'ARG VERSION=0.2.0\n');
  assert.equal(
    tree.get('README.md'),
    '| State | 0.2.0. Fields may change |\n  is there already; 0.2 names it now\n',
  );
  for (const name of ['static-export-operator', 'static-export-site']) {
    const chart = parse(tree.get(`charts/${name}/Chart.yaml`) ?? '');
    assert.deepEqual([chart.version, chart.appVersion], ['0.2.0', '0.2.0']);
    const { annotations } = chart;
    assert.equal(parse(annotations['artifacthub.io/images'])[0].image, 'static-export-operator:0.2.0');
    assert.deepEqual(parse(annotations['artifacthub.io/changes']), [{ kind: 'added', description: 'First' }]);
  }
  assert.equal(tree.get('packaging/version/surface/flags.txt'), 'operator --a\noperator --b\n');
  assert.deepEqual(readLastRelease(tree), { version: '0.2.0', date, content: contentDigest(tree) });
  assert.equal(tree.get('src/a.ts'), smallTree().get('src/a.ts'));
});

test('a second run changes nothing, also on another day', () => {
  const tree = released(smallTree(), '0.1.0');
  for (const on of [date, '2026-12-05']) {
    const plan = planRelease(tree, { version: '0.1.0', date: on, surface });
    assert.ok(plan.outcome === 'change');
    assert.deepEqual([...plan.changes.keys()], []);
  }
});

test('what is fixed after the preparation becomes a part of the release by a second run', () => {
  const tree = released(smallTree(), '0.1.0').set('src/a.ts', 'export const a = 2;\n');
  const plan = planRelease(tree, { version: '0.1.0', date: '2026-12-05', surface });
  assert.ok(plan.outcome === 'change');
  assert.deepEqual([...plan.changes.keys()], ['packaging/version/last-release.json']);
  assert.equal(readLastRelease(withChanges(tree, plan.changes))?.date, date);
});

test('the next release has lines of its own, and leaves those of the last one', () => {
  const first = released(smallTree(), '0.1.0');
  const second = released(withLines(first, '### Security\n\n- Second.\n'), '0.2.0', '2026-12-20');
  const sections = readChangelog(second.get('CHANGELOG.md') ?? '');
  assert.deepEqual(
    sections.map(({ version, date: on, lines }) => [version, on, lines.map(({ text }) => text)]),
    [
      [undefined, undefined, []],
      ['0.2.0', '2026-12-20', ['Second.']],
      ['0.1.0', date, ['First.']],
    ],
  );
  const { annotations } = parse(second.get('charts/static-export-site/Chart.yaml') ?? '');
  assert.deepEqual(parse(annotations['artifacthub.io/changes']), [
    { kind: 'security', description: 'Second' },
  ]);
  assert.equal(annotations['artifacthub.io/containsSecurityUpdates'], 'true');
});

const fresh = smallTree();
const once = released(fresh, '0.1.0');
const refused: readonly (readonly [
  why: string,
  tree: Tree,
  version: string,
  date: string,
  reason: RegExp,
])[] = [
  ['no version', fresh, 'next', date, /"next" is not a version; write it as/],
  ['a v before it', fresh, 'v0.2.0', date, /"v0\.2\.0" is not a version/],
  ['no date', fresh, '0.2.0', '1 December', /"1 December" is not a date/],
  ['a day that is not there', fresh, '0.2.0', '2026-02-30', /not a date/],
  ['a smaller one before the first release', fresh, '0.0.9', date, /0\.0\.9 is not greater than 0\.1\.0/],
  ['a prerelease of the current one', fresh, '0.1.0-rc.1', date, /not greater than 0\.1\.0/],
  ['an empty Unreleased', smallTree(''), '0.2.0', date, /Unreleased of CHANGELOG\.md is empty; add a line/],
  ['an empty Unreleased after a release', once, '0.2.0', date, /is empty/],
  ['a smaller one', withLines(once, '- A.\n'), '0.0.9', date, /not greater/],
  [
    'the same one with new lines',
    withLines(once, '- A.\n'),
    '0.1.0',
    date,
    /prepared already, and Unreleased has new/,
  ],
  [
    'an older one of the changelog',
    withLines(released(withLines(once, '- A.\n'), '0.2.0'), '- B.\n'),
    '0.1.0',
    date,
    /0\.1\.0 is in CHANGELOG\.md already; choose a greater version/,
  ],
  ['no Unreleased', new Map([...fresh, ['CHANGELOG.md', '# Changelog\n']]), '0.2.0', date, /has no section/],
];
for (const [why, tree, version, on, reason] of refused) {
  test(`refused: ${why}`, () => {
    const plan = planRelease(tree, { version, date: on, surface });
    assert.ok(plan.outcome === 'refuse');
    assert.match(plan.reason, reason);
  });
}

test('the digest is of names and texts in src and charts, in any order, and of nothing else', () => {
  const digest = contentDigest(fresh);
  assert.equal(contentDigest(new Map([...fresh].reverse())), digest);
  assert.equal(contentDigest(new Map([...fresh, ['test/a.ts', 'x']])), digest);
  assert.notEqual(contentDigest(new Map([...fresh, ['src/b.ts', '']])), digest);
  assert.notEqual(contentDigest(new Map([...fresh, ['src/a.ts', '']])), digest);
});
