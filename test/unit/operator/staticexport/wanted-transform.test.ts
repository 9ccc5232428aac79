// `spec.transform`: what may be written, and the text of steps that follows. Rules are read as `--rule` of `bundle repair`.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { modeText, readRuleSet, repairRuleNames } from '#bundle/repair/rule-modes.ts';
import { parseStaticExport } from '#operator/staticexport/parse.ts';
import { transformSchema } from '#operator/staticexport/transform-schema.ts';
import { applyDefaults } from '#operator/staticexport/wanted.ts';
import { recordedRevision, revisionOfSteps, wantTransform } from '#operator/staticexport/wanted-transform.ts';

type Rule = Readonly<Record<string, string>>;
const host = 'docs.example.com';

function textOf(...rules: readonly Rule[]): string | undefined {
  return wantTransform(transformSchema.parse({ repair: { rules } }));
}

test('rules have one text, whatever their order', () => {
  const set = { name: 'canonical', mode: 'Set', host };
  const text = 'folder-index canonical=set=docs.example.com sitemap';
  assert.equal(textOf({ name: 'sitemap' }, set, { name: 'folder-index' }), text);
  assert.equal(textOf({ name: 'folder-index' }, { name: 'sitemap' }, set), text);
});

test('the search is the last step, and a text of its own', () => {
  const rules = [{ name: 'sitemap' }];
  const wanted = (transform: unknown) => wantTransform(transformSchema.parse(transform));
  assert.equal(wanted({ search: 'Enabled' }), 'search');
  assert.equal(wanted({ search: 'Enabled', repair: { rules } }), 'sitemap search');
  assert.equal(wanted({ search: 'Disabled', repair: { rules } }), 'sitemap');
  assert.equal(wanted({ search: 'Disabled' }), undefined);
});

const recorded: readonly (readonly [string | undefined, string | undefined, string | undefined])[] = [
  ['canonical=strip sitemap', 'canonical:2 sitemap:1', 'canonical:2 sitemap:1'],
  ['canonical=strip sitemap', undefined, 'canonical:1 sitemap:1'],
  ['canonical=set=docs.example.com search', undefined, 'canonical:1 search:1'],
  [undefined, undefined, undefined],
];
for (const [repair, repairRevision, expected] of recorded) {
  test(`the steps ${repair} of revision ${repairRevision} are ${expected}`, () => {
    assert.equal(recordedRevision({ repair, repairRevision }), expected);
  });
}

test('the revision of a step that this program does not have is 0', () => {
  assert.equal(revisionOfSteps('sitemap search', { sitemap: 3 }), 'sitemap:3 search:0');
});

test('a transform without a step changes nothing', () => {
  assert.equal(wantTransform(undefined), undefined);
  assert.equal(wantTransform({}), undefined);
});

test('each rule that may be written is one of a repair, and all others are off', () => {
  const written: readonly (readonly [Rule, string])[] = [
    ...repairRuleNames
      .filter((name) => name !== 'canonical')
      .map((name): readonly [Rule, string] => [{ name }, `${name}=on`]),
    [{ name: 'launchers', mode: 'All' }, 'launchers=all'],
    [{ name: 'canonical', mode: 'Strip' }, 'canonical=strip'],
    [{ name: 'canonical', mode: 'Set', host }, `canonical=set=${host}`],
  ];
  for (const [rule, expected] of written) {
    const modes = readRuleSet(textOf(rule) ?? '');
    assert.ok(typeof modes === 'object', String(modes));
    const on = repairRuleNames.filter((name) => modes[name].word !== 'off');
    assert.deepEqual(
      on.map((name) => `${name}=${modeText(modes[name])}`),
      [expected],
    );
  }
});

test('a text with a rule that this program does not know names it', () => {
  assert.equal(readRuleSet('sitemap footnotes'), 'footnotes');
  assert.equal(readRuleSet(''), '');
});

const refusals: readonly (readonly [string, readonly Rule[], RegExp])[] = [
  ['no rule', [], /too_small|at least|Too small/],
  ['an unknown rule', [{ name: 'footnotes' }], /invalid_value|Invalid option/],
  ['canonical without a mode', [{ name: 'canonical' }], /canonical needs mode Set or Strip/],
  ['canonical with All', [{ name: 'canonical', mode: 'All' }], /canonical needs mode Set or Strip/],
  ['a mode of another rule', [{ name: 'sitemap', mode: 'Strip' }], /other rules have no mode/],
  ['Set without a host', [{ name: 'canonical', mode: 'Set' }], /mode Set needs host/],
  ['a host without Set', [{ name: 'canonical', mode: 'Strip', host }], /host needs mode Set/],
  ['a host with a scheme', [{ name: 'canonical', mode: 'Set', host: `https://${host}` }], /bare host name/],
  ['a broken host', [{ name: 'canonical', mode: 'Set', host: `undefined.${host}` }], /not undefined or null/],
  ['a rule twice', [{ name: 'sitemap' }, { name: 'sitemap' }], /two rules have the same name/],
];
for (const [name, rules, words] of refusals) {
  test(`${name} is refused`, () => {
    const { error } = transformSchema.safeParse({ repair: { rules } });
    assert.match(error?.message ?? '', words);
  });
}

const mirror = { oci: { repository: 'registry.example.com/docs', secretRef: { name: 'mirror' } } };
const repairing = {
  ...{ domain: host, api: { keySecretRef: { name: 'export-api' } }, mirror },
  transform: { repair: { rules: [{ name: 'sitemap' }] } },
};
const secretTarget = {
  ...{ name: 'values', type: 'Values', write: ['bundleUrl'], values: { kind: 'Secret', name: 'v' } },
};

test('a repaired version is published without a link', () => {
  const { spec } = parseStaticExport({ spec: repairing, status: {} });
  assert.ok(spec);
  const identity = { namespace: 'docs', name: 'site' };
  const wanted = applyDefaults(identity, spec, { apiBaseUrl: undefined });
  assert.deepEqual([wanted.publishesLink, wanted.repair], [false, 'sitemap']);
});

for (const [name, change] of [
  ['a mirror that may fail', { mirror: { ...mirror, policy: 'BestEffort' } }],
  ['archives that are not inspected', { mirror: undefined, promotion: { inspect: 'Never' } }],
  ['a link', { output: { link: 'Always' } }],
  ['a target that writes the link', { targets: [secretTarget] }],
] as const) {
  test(`a repair or a search with ${name} is refused`, () => {
    const problemsOf = (transform: unknown) =>
      parseStaticExport({ spec: { ...repairing, ...change, transform }, status: {} }).problems;
    for (const transform of [repairing.transform, { search: 'Enabled' }])
      assert.match(problemsOf(transform).join(), /transform needs a mirror with policy Required/);
    assert.deepEqual(problemsOf({ search: 'Disabled' }), []);
  });
}
