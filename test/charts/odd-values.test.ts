// Each text of the values stays a text, whatever YAML would read it as. The API server judges the same in
// test/integration/charts/odd-values.test.ts.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse, parseAllDocuments } from 'yaml';
import { oddFixtures, oddTexts, renderOdd } from './odd-values.ts';

/** Go's reader of YAML follows version 1.1, in which `on` is true. */
const yamlOfGo = { version: '1.1', schema: 'yaml-1.1' } as const;

function leavesOf(value: unknown, path = ''): readonly (readonly [path: string, leaf: unknown])[] {
  if (typeof value !== 'object' || value === null || value instanceof Date) return [[path, value]];
  return Object.entries(value).flatMap(([key, below]) => leavesOf(below, `${path}/${key}`));
}

/** The leaves of a manifest that are not texts, by the place of the object and their path. */
function otherLeaves(manifest: string): ReadonlyMap<string, unknown> {
  const leaves = parseAllDocuments(manifest, yamlOfGo).flatMap((document, at) => {
    assert.deepEqual(document.errors, []);
    const json: unknown = document.toJS();
    return leavesOf(json, `${at} ${Object(json).kind}`);
  });
  return new Map(leaves.filter(([, leaf]) => typeof leaf !== 'string'));
}

for (const { chart, name, everything } of oddFixtures) {
  test(`${name}: no text becomes a number, a truth value, a date or null`, async () => {
    const options = { ...everything, release: '7309e12', namespace: '1234' };
    const plain = otherLeaves((await renderOdd(chart, 'odd', options)).manifest);
    for (const text of oddTexts) {
      const { manifest, accepted } = await renderOdd(chart, text, options);
      assert.ok(accepted.length > 10, `${text}: ${accepted.join(' ')}`);
      const read: unknown = /^[\w.:~-]+$/.test(text) ? parse(text, yamlOfGo) : text;
      const wrong = [...otherLeaves(manifest)].filter(
        ([path, leaf]) =>
          leaf === null || leaf instanceof Date || (leaf === read && plain.get(path) !== leaf),
      );
      assert.deepEqual(wrong, [], text);
    }
  });
}
