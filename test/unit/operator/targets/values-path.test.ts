// Edits of a group at a path, such as `spec.values.staticExport`: missing maps are added at the end of the map that is
// there, and what is shared or of another type on the way is refused.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse, stringify } from 'yaml';
import { planValuesEdit } from '#operator/targets/values.ts';
import * as fc from '../../../support/properties.ts';
import { textRows } from '../../../support/text-rows.ts';

const path = ['spec', 'values', 'staticExport'];
const wanted = { version: '2' };

/** Rows of `name | before | after`, with `\\n` for the end of a line. */
const edits = [
  ...textRows(String.raw`
    a version is replaced where it is | spec:\n  values: # of the chart\n    staticExport:\n      version: 1 # pinned\n
      | spec:\n  values: # of the chart\n    staticExport:\n      version: "2" # pinned\n
    the group is added at the end of its map, before the comments of the next one | spec:\n  values:\n    # image\n    image:\n      tag: a\n  # chart\n  chart: c\n
      | spec:\n  values:\n    # image\n    image:\n      tag: a\n    staticExport:\n      version: "2"\n  # chart\n  chart: c\n
    two missing maps are added to the map that is there | kind: HelmRelease\nspec:\n  interval: 1m # often\n
      | kind: HelmRelease\nspec:\n  interval: 1m # often\n  values:\n    staticExport:\n      version: "2"\n
    a path that begins nowhere is added at the end | a: 1\n | a: 1\nspec:\n  values:\n    staticExport:\n      version: "2"\n
    a document that says null | ~\n | {spec: {values: {staticExport: {version: "2"}}}}\n
    a map without a value | spec:\n  values:\n | spec:\n  values:\n    staticExport:\n      version: "2"\n
    an empty flow map on the way | spec:\n  values: {}\n | spec:\n  values: {staticExport: {version: "2"}}\n
    an empty group | spec: {values: {staticExport: {}}}\n | spec: {values: {staticExport: {version: "2"}}}\n
    a flow map on the way | spec: {values: {a: 1}}\n | spec: {values: {staticExport: {version: "2"}, a: 1}}\n
    a map that ends in a block of text | spec:\n  values:\n    text: |\n      a\n\n  chart: c\n
      | spec:\n  values:\n    text: |\n      a\n    staticExport:\n      version: "2"\n\n  chart: c\n
    no final line end | spec:\n  values:\n    a: 1 | spec:\n  values:\n    a: 1\n    staticExport:\n      version: "2"
    CRLF | spec:\r\n  values:\r\n    a: 1\r\n | spec:\r\n  values:\r\n    a: 1\r\n    staticExport:\r\n      version: "2"\r\n
    an anchor of another value | x: &x {a: 1}\nspec:\n  values:\n    y: *x\n
      | x: &x {a: 1}\nspec:\n  values:\n    y: *x\n    staticExport:\n      version: "2"\n
  `).map((cells) => cells.map((cell) => cell.replaceAll('\\n', '\n').replaceAll('\\r', '\r'))),
  ['an empty document', '', 'spec:\n  values:\n    staticExport:\n      version: "2"\n'],
];

for (const [name, before = '', after = ''] of edits) {
  test(`with a path, ${name}`, () => {
    const plan = planValuesEdit(before, wanted, path);
    assert.equal(plan.outcome === 'edit' ? plan.text : JSON.stringify(plan), after);
    assert.equal(planValuesEdit(after, wanted, path).outcome, 'in-sync');
  });
}

test('names that a reader would take for something else are quoted', () => {
  const plan = planValuesEdit('a: 1\n', wanted, ['on', 'a: b', 'static-export']);
  const text = 'a: 1\n"on":\n  "a: b":\n    static-export:\n      version: "2"\n';
  assert.equal(plan.outcome === 'edit' && plan.text, text);
});

const refusals: readonly (readonly [name: string, code: string, text: string])[] = [
  ['a list', 'NotAMap', 'spec:\n  values: [1]\n'],
  ['a text', 'NotAMap', 'spec: no\n'],
  ['an anchor', 'SharedNode', 'spec:\n  values: &v\n    a: 1\nother: *v\n'],
  ['an alias', 'SharedNode', 'other: &v {a: 1}\nspec:\n  values: *v\n'],
  ['a tag', 'SharedNode', 'spec: !x\n  values: {}\n'],
  [
    'a merge that brings the group',
    'SharedNode',
    'b: &b {staticExport: {version: 1}}\nspec:\n  values:\n    <<: *b\n',
  ],
];
for (const [name, code, text] of refusals) {
  test(`${name} on the way to the group is ${code}, in words that name the path`, () => {
    const plan = planValuesEdit(text, wanted, path);
    assert.equal(plan.outcome, 'refused');
    assert.equal(plan.outcome === 'refused' && plan.code, code);
    assert.match(plan.outcome === 'refused' ? plan.message : '', /^spec/);
  });
}

test('whatever values a document has, only the keys of the group change', () => {
  const name = fc.constantFrom('spec', 'values', 'staticExport', 'version', 'a', 'b');
  const { tree } = fc.letrec((tie) => ({
    tree: fc.dictionary(
      name,
      fc.oneof({ maxDepth: 4 }, fc.constantFrom('x', 1, null, 'a\nb\n'), tie('tree')),
      { maxKeys: 4, noNullPrototype: true },
    ),
  }));
  fc.assert(
    fc.property(tree, (values) => {
      const text = stringify(values);
      const plan = planValuesEdit(text, wanted, path);
      if (plan.outcome !== 'edit') return;
      const changed: unknown = parse(plan.text);
      assert.deepEqual(changed, withVersion(values, path));
      const kept = text.split('\n').filter((line) => !/version|staticExport|values|spec|\{\}/.test(line));
      for (const line of kept) assert.ok(plan.text.includes(line));
    }),
    { numRuns: 500 },
  );
});

function withVersion(value: unknown, [name, ...below]: readonly string[]): unknown {
  const own = typeof value === 'object' && value !== null ? { ...value } : {};
  if (name === undefined) return { ...own, version: '2' };
  return { ...own, [name]: withVersion(Object.entries(own).find(([key]) => key === name)?.[1], below) };
}
