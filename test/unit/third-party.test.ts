import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { nodeLines } from '#cli/doctor/node-check.ts';
import { type Bill, licenceOf, settleBill, writeNotices } from '../../.ci/third-party.ts';

const root = join(import.meta.dirname, '../..');

const component = (name: string, ...licenses: readonly object[]): object => ({
  name,
  version: '1.0.0',
  purl: `pkg:npm/${name}@1.0.0`,
  licenses,
});
const fromNpm = (serialNumber: string, timestamp: string, ...components: readonly object[]): object => ({
  bomFormat: 'CycloneDX',
  serialNumber,
  metadata: { timestamp, lifecycles: [{ phase: 'build' }], component: { name: 'folder', version: '0.1.0' } },
  components,
  dependencies: [{ ref: 'a@1.0.0', dependsOn: ['b@1.0.0', 'tool@1.0.0'] }, { ref: 'tool@1.0.0' }],
});
const settled = (...components: readonly object[]): Bill =>
  settleBill(fromNpm('urn:uuid:1', '2026-01-01', ...components), 'product', ['tool']);

test('two runs of npm give the same bill of materials', () => {
  const [one, other] = ['1', '2'].map((run) =>
    settleBill(fromNpm(`urn:uuid:${run}`, `2026-01-0${run}`, component('a')), 'product', []),
  );
  assert.deepEqual(one, other);
});

test('the bill is of the project, whatever its folder is called, and keeps what else npm says', () => {
  const bill = settled(component('a'));
  assert.equal(bill.metadata.component.name, 'product');
  assert.deepEqual(bill.dependencies[0]?.ref, 'a@1.0.0');
  assert.deepEqual(bill.metadata['lifecycles'], [{ phase: 'build' }]);
  assert.equal(bill.components[0]?.['purl'], 'pkg:npm/a@1.0.0');
});

test('addresses that git takes for SSH are written as URLs, which validators want', () => {
  const externalReferences = [{ type: 'vcs', url: 'git@git.example.com:docs/a.git' }];
  const { components } = settled({ ...component('a'), externalReferences });
  assert.deepEqual(components[0]?.externalReferences, [
    { type: 'vcs', url: 'git+ssh://git@git.example.com/docs/a.git' },
  ]);
});

test('a package that only runs things here is not in the bill', () => {
  const { components, dependencies } = settled(component('a'), component('tool'));
  assert.deepEqual(dependencies, [{ ref: 'a@1.0.0', dependsOn: ['b@1.0.0'] }]);
  assert.deepEqual(
    components.map(({ name }) => name),
    ['a'],
  );
});

test('a package of development is not in the bill, and what it shares with others is', () => {
  const development = {
    ...component('b'),
    'bom-ref': 'b@1.0.0',
    properties: [{ name: 'cdx:npm:package:development', value: 'true' }],
  };
  const { components, dependencies } = settled(component('a'), development);
  assert.deepEqual(dependencies, [{ ref: 'a@1.0.0', dependsOn: [] }]);
  assert.deepEqual(
    components.map(({ name }) => name),
    ['a'],
  );
});

for (const [name, licences, words] of [
  ['one by its identifier', [{ license: { id: 'MIT' } }], 'MIT'],
  ['one by its name', [{ license: { name: 'Ours' } }], 'Ours'],
  ['several', [{ license: { id: 'MIT' } }, { license: { id: 'ISC' } }], 'MIT, ISC'],
  ['an expression', [{ expression: '(MIT OR ISC)' }], '(MIT OR ISC)'],
  ['none', [], 'no licence named'],
] as const) {
  test(`a package names its licence: ${name}`, () => {
    const [read] = settled(component('a', ...licences)).components;
    assert.ok(read !== undefined);
    assert.equal(licenceOf(read), words);
  });
}

test('each package has its notice, with every text that it carries, or the word that it carries none', () => {
  const texts: Readonly<Record<string, readonly string[]>> = { a: ['first\n', 'second\n'], b: [] };
  const bill = settled(component('a', { license: { id: 'MIT' } }), component('b'));
  const [opening, a, b] = writeNotices(bill, ({ name }) => texts[name] ?? []).split(
    `\n${'-'.repeat(80)}\n\n`,
  );
  assert.match(opening ?? '', /sbom\.cdx\.json/);
  assert.equal(a, 'a 1.0.0\nMIT\n\nfirst\n\n\nsecond\n');
  assert.equal(b, 'b 1.0.0\nno licence named\n\nThe package carries no text of its licence.\n');
});

test('the image’s version, when a build names none, is the package’s', () => {
  const { version }: { version: string } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const recipe = readFileSync(join(root, 'Dockerfile'), 'utf8');
  assert.equal(/^ARG VERSION=(.*)$/m.exec(recipe)?.[1], version);
});

test('the image is not built on a Node that doctor names as flawed', () => {
  const recipe = readFileSync(join(root, 'Dockerfile'), 'utf8');
  for (const { major, fixed } of nodeLines) {
    const [, minor, patch] = fixed?.split('.') ?? [];
    if (fixed !== undefined) assert.ok(recipe.includes(`${major}: [${minor}, ${patch}]`), fixed);
  }
});
