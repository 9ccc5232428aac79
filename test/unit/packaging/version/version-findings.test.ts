// What `npm run check` says of versions, the changelog and removed names.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planRelease, type Tree } from '../../../../packaging/version/release-plan.ts';
import type { Surface } from '../../../../packaging/version/surface.ts';
import { findTagFaults, findVersionFaults } from '../../../../packaging/version/version-findings.ts';
import { smallSurface, smallTree, withChanges } from './small-tree.ts';

const plan = planRelease(smallTree(), { version: '0.1.0', date: '2026-12-01', surface: smallSurface });
assert.ok(plan.outcome === 'change');
const released = withChanges(smallTree(), plan.changes);
const faultsOf = (tree: Tree, surface: Surface = smallSurface): Promise<readonly string[]> =>
  findVersionFaults(tree, async () => surface);
const changed = (tree: Tree, file: string, from: string | RegExp, to: string): Tree => {
  const text = (tree.get(file) ?? '').replace(from, to);
  assert.notEqual(text, tree.get(file), file);
  return withChanges(tree, new Map([[file, text]]));
};
const unreleased = (tree: Tree, lines: string): Tree =>
  changed(tree, 'CHANGELOG.md', '## Unreleased\n', `## Unreleased\n\n${lines}\n`);

test('a tree before its first release and one after it have no fault', async () => {
  assert.deepEqual(await faultsOf(smallTree()), []);
  assert.deepEqual(await faultsOf(released), []);
});

test('before the first release nothing is compared: an empty Unreleased and removed names are right', async () => {
  const never = (): Promise<Surface> => assert.fail('the sources are not read');
  assert.deepEqual(await findVersionFaults(smallTree(''), never), []);
});

const places: readonly (readonly [file: string, from: string | RegExp, to: string, line: number])[] = [
  ['charts/static-export-site/Chart.yaml', 'appVersion: 0.1.0', 'appVersion: 0.1.1', 4],
  ['charts/static-export-operator/Chart.yaml', 'operator:0.1.0', 'operator:0.0.9', 9],
  ['Dockerfile', '0.1.0', '0.2.0', 1],
  ['README.md', '0.1.0', '0.2.0', 1],
  ['README.md', '; 0.1 names', '; 0.2 names', 2],
  ['CHANGELOG.md', 'Unreleased: 0.1.0', 'Unreleased: 0.2.0', 6],
];
for (const [file, from, to, line] of places) {
  test(`${file} with another version is named with its line`, async () => {
    const [fault, ...others] = await faultsOf(changed(smallTree(), file, from, to));
    assert.match(fault ?? '', new RegExp(`^${file}:${line} names \\S+, but package.json names 0\\.1\\.0`));
    assert.deepEqual(others, []);
  });
}

test('a change of the sources after a release needs a line', async () => {
  for (const file of ['src/a.ts', 'charts/static-export-site/values.yaml']) {
    const tree = new Map([...released, [file, 'other\n']]);
    assert.deepEqual(await faultsOf(tree), [
      'src or charts differ from 0.1.0, but Unreleased of CHANGELOG.md is empty; add a line for the change',
    ]);
    assert.deepEqual(await faultsOf(unreleased(tree, '### Fixed\n\n- A.')), []);
  }
  assert.deepEqual(await faultsOf(new Map([...released, ['test/a.ts', '']])), []);
});

test('a removed name of each kind needs a line under Removed, and a renamed one may be under Changed', async () => {
  const tree = unreleased(new Map([...released, ['src/a.ts', 'other\n']]), '### Added\n\n- `--c`.');
  const none: Surface = { flags: [], values: [], fields: [], metrics: [] };
  const faults = await faultsOf(tree, none);
  assert.deepEqual(
    faults.map((fault) => fault.split(' is removed')[0]),
    [
      'flags: operator --a',
      'flags: operator --b',
      'values: static-export-site image.tag',
      'fields: spec.a',
      'metrics: staticexport_a',
    ],
  );
  const lines = '### Removed\n\n- `--a`, `--b`, `image.tag` of the site, `spec.a` and `staticexport_a`.';
  assert.deepEqual(await faultsOf(unreleased(tree, lines), none), []);
  const renamed = { ...smallSurface, flags: ['operator --a', 'operator --c'] };
  assert.equal((await faultsOf(tree, renamed)).length, 1);
  assert.deepEqual(await faultsOf(unreleased(tree, '### Changed\n\n- `--b` is now `--c`.'), renamed), []);
});

test('lists and changelog of different releases are a fault', async () => {
  const lists = (tree: Tree): Promise<readonly string[]> => faultsOf(tree);
  const [byHand] = await lists(
    changed(smallTree(), 'CHANGELOG.md', '## Unreleased: 0.1.0', '## 0.1.0 - 2026-12-01'),
  );
  assert.match(
    byHand ?? '',
    /names 0\.1\.0 as the last release, but \S+ names none; run "npm run release:prepare"/,
  );
  const [lost] = await lists(changed(released, 'CHANGELOG.md', '## 0.1.0 - 2026-12-01', '### Added'));
  assert.match(lost ?? '', /names no version as the last release, but \S+ names 0\.1\.0/);
  const incomplete = new Map([...released].filter(([path]) => !path.endsWith('metrics.txt')));
  assert.deepEqual(await lists(incomplete), [
    'packaging/version/surface/metrics.txt is missing; restore it from the commit of the last release',
  ]);
});

test('a tag must name what was prepared, with every line of the changelog', () => {
  assert.deepEqual(findTagFaults(released, 'v0.1.0'), []);
  const rows: readonly (readonly [tree: Tree, tag: string, faults: readonly RegExp[]])[] = [
    [
      smallTree(),
      'v0.1.0',
      [/^0\.1\.0 is not prepared; run "npm run release:prepare 0\.1\.0"/, /^Unreleased has lines/],
    ],
    [
      released,
      'v0.2.0',
      [/^the tag v0\.2\.0 is not v0\.1\.0, which package\.json names/, /^0\.2\.0 is not prepared/],
    ],
    [released, '0.1.0', [/^the tag 0\.1\.0 is not v0\.1\.0/]],
    [unreleased(released, '- A.'), 'v0.1.0', [/^Unreleased has lines that 0\.1\.0 lacks/]],
  ];
  for (const [tree, tag, faults] of rows) {
    const found = findTagFaults(tree, tag);
    assert.equal(found.length, faults.length, found.join());
    for (const [at, fault] of faults.entries()) assert.match(found[at] ?? '', fault);
  }
});
