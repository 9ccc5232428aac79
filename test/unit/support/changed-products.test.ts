// What `npm test -- --changed` runs: the tests of changed products, and of those that import them.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { readDependants, readTestFiles, testsReachedBy } from '../../support/changed-products.ts';

const dependants = new Map([
  ['platform', new Set(['bundle', 'server', 'operator'])],
  ['bundle', new Set(['server'])],
]);
const tests = [
  { path: 'test/charts/both-charts.test.ts', loads: new Set<string>() },
  { path: 'test/integration/server/peers.test.ts', loads: new Set(['test/integration/server/site.ts']) },
  { path: 'test/simulation/crashes.test.ts', loads: new Set<string>() },
  { path: 'test/unit/bundle/digest.test.ts', loads: new Set(['src/bundle/digest.ts']) },
  { path: 'test/unit/imports.test.ts', loads: new Set<string>() },
  { path: 'test/unit/operator/loop/gather.test.ts', loads: new Set(['test/simulation/cluster.ts']) },
];

const everything = tests.map(({ path }) => path);
const aboutTheTree = 'test/unit/imports.test.ts';
const cases: readonly (readonly [name: string, changed: readonly string[], reached: readonly string[]])[] = [
  ['nothing: the tests about the tree itself', [], [aboutTheTree]],
  ['a product: its tests', ['src/server/swap.ts'], ['test/integration/server/peers.test.ts', aboutTheTree]],
  [
    'a product: the tests of those that import it',
    ['src/bundle/digest.ts'],
    ['test/integration/server/peers.test.ts', 'test/unit/bundle/digest.test.ts', aboutTheTree],
  ],
  [
    'what all products stand on: theirs, and the simulation of the operator',
    ['src/platform/wire/link.ts'],
    everything.filter((path) => !path.startsWith('test/charts/')),
  ],
  [
    'a file of tests: the tests that load it',
    ['test/simulation/cluster.ts'],
    [aboutTheTree, 'test/unit/operator/loop/gather.test.ts'],
  ],
  [
    'a chart: its tests',
    ['charts/static-export-site/values.yaml'],
    ['test/charts/both-charts.test.ts', aboutTheTree],
  ],
  ['what runs the tests: all', ['test/support/run-tests.ts'], everything],
  ['a package: all', ['package-lock.json'], everything],
  ['a document: the tests about the tree itself', ['CHANGELOG.md'], [aboutTheTree]],
];

for (const [name, changed, reached] of cases)
  test(`a change reaches of ${name}`, () => {
    assert.deepEqual(testsReachedBy(changed, tests, dependants), reached);
  });

test('the sources say who imports a product, and the tests what they load', () => {
  const root = join(import.meta.dirname, '../../..');
  const found = readDependants(root);
  assert.ok(found.get('platform')?.has('bundle'));
  assert.ok(found.get('bundle')?.has('server'));
  assert.equal(found.get('bin'), undefined);
  const path = 'test/unit/support/changed-products.test.ts';
  const [file] = readTestFiles(root, [path]);
  assert.ok(file?.loads.has('test/support/changed-products.ts'));
});
