// Values that are missing: `null` removes one, and with --reuse-values an older chart lacks it. helm leaves the same hole
// in both cases. Every value of values.yaml is tried, so that a new one is too.

import assert from 'node:assert/strict';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { z } from 'zod';
import * as operator from './operator-chart.ts';
import { RenderedObject, renderChart } from './rendered-chart.ts';
import * as site from './site-chart.ts';
import { isSetIn, readValuePaths, type ValuePath, withoutValue, withValue } from './value-paths.ts';

const charts = [
  { ...operator, needed: { apiBaseUrl: 'https://export.example.com' } },
  { ...site, needed: { staticExport: { existingSecret: 'docs-bundle' } } },
];
const record = z.record(z.string(), z.unknown());
const isMap = (value: unknown): boolean => typeof value === 'object' && value !== null;
const isKept = ({ path }: ValuePath): boolean => path.at(-1) === 'accessModes';

for (const { chart, fixture, needed } of charts) {
  const paths = readValuePaths(chart);
  /** What is rendered, or the message of the refusal. */
  const outcome = async (values: object, from = chart): Promise<unknown> => {
    try {
      return (await renderChart(from, { values, kubeVersion: '1.33.0' })).map(({ json }) => json);
    } catch (error) {
      return String(error).replaceAll(/\S+\.(yaml|tpl):\d+:\d+/g, '');
    }
  };
  const known = new Map<string, Promise<unknown>>();
  const outcomeOnce = (values: object): Promise<unknown> => {
    const key = JSON.stringify(values);
    const made = known.get(key) ?? outcome(values);
    known.set(key, made);
    return made;
  };
  const given = async (): Promise<object> =>
    record.parse(parse(await readFile(fixture('everything'), 'utf8'), { merge: true }));
  const setAll = (
    values: object,
    chosen: readonly ValuePath[],
    value: (path: ValuePath) => unknown,
  ): object => chosen.reduce((all, one) => withValue(all, one.path, value(one)), values);
  const unset = (values: object): readonly ValuePath[] =>
    paths.filter(({ path, isSection }) => !isSection && !isSetIn(values, path));

  describe(chart.slice(chart.lastIndexOf('/') + 1), () => {
    test('null for a text, a number or a switch means its default', async () => {
      const values = await given();
      const plain = unset(values).filter(({ value, words }) => !isMap(value) && !words.includes('`null`'));
      assert.ok(plain.length > 20);
      assert.deepEqual(await outcome(setAll(values, plain, () => null)), await outcome(values));
    });

    test('null for a list or a map means an empty one', async () => {
      const values = await given();
      const filled = unset(values).filter((one) => isMap(one.value) && !isKept(one));
      assert.ok(filled.length > 10);
      // An empty map keeps the default of a chart. Only null removes a key.
      const emptied = setAll(values, filled, ({ value }) =>
        Array.isArray(value) ? [] : Object.fromEntries(Object.keys(Object(value)).map((key) => [key, null])),
      );
      const found = await outcome(setAll(values, filled, () => null));
      assert.ok(Array.isArray(found), String(found));
      assert.deepEqual(found, await outcome(emptied));
    });

    test('null for a section means its defaults', async () => {
      const values = await given();
      const sections = paths.filter(({ isSection }) => isSection).map(({ path }) => path);
      for (const top of sections.filter(({ length }) => length === 1)) {
        const nested = sections.filter((path) => path.length > 1 && path[0] === top[0]);
        for (const chosen of nested.length === 0 ? [[top]] : [[top], nested]) {
          const wanted = await outcomeOnce(chosen.reduce<object>(withoutValue, values));
          const nulls = chosen.toReversed().reduce((all, path) => withValue(all, path, null), values);
          assert.deepEqual(await outcome(nulls), wanted, chosen.join(' '));
          assert.doesNotMatch(String(wanted), /nil pointer|wrong type|invalid value/);
        }
      }
    });

    test('nothing but what is needed has to be in the values', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'older-chart-'));
      try {
        await cp(chart, folder, { recursive: true });
        await writeFile(join(folder, 'values.yaml'), '{}\n');
        const ids = async (from: string): Promise<readonly string[]> =>
          z
            .array(z.unknown())
            .parse(await outcome(needed, from))
            .map((json) => new RenderedObject(json).id);
        assert.deepEqual(await ids(folder), await ids(chart));
      } finally {
        await rm(folder, { recursive: true });
      }
    });
  });
}

test('a value by the name that an older chart had counts, unless its present name is set', async () => {
  const timeout = async (server: object): Promise<string | undefined> => {
    const objects = await renderChart(site.chart, {
      files: [site.fixture('existing-secret')],
      values: { server },
    });
    const args = site.workload(objects).textsAt('spec.template.spec.containers.0.args');
    return args.find((flag) => flag.startsWith('--startup-timeout='))?.split('=')[1];
  };
  assert.equal(await timeout({ patience: '7s' }), '7s');
  assert.equal(await timeout({ patience: '7s', startupTimeout: null }), '7s');
  assert.equal(await timeout({ patience: '7s', startupTimeout: '9s' }), '9s');
  const rule = { linkLifeLeftPercent: 7 };
  const values = { monitoring: { kinds: 'always', prometheusRule: rule } };
  const objects = await renderChart(operator.chart, { files: [operator.fixture('vendor')], values });
  const rendered = objects.find((one) => one.at('kind') === 'PrometheusRule');
  assert.match(JSON.stringify(rendered?.json), /< 0\.07/);
});

test('null for a field of a StaticExport leaves it out', async () => {
  const schema = record.parse(JSON.parse(await readFile(join(site.chart, 'values.schema.json'), 'utf8')));
  const below = (of: unknown): object => record.catch({}).parse(record.catch({}).parse(of)['properties']);
  const nulls = (of: unknown): unknown => {
    const fields = Object.entries(below(of)).map(([name, one]) => [name, nulls(one)]);
    return fields.length === 0 ? null : Object.fromEntries(fields);
  };
  const api = { keySecretRef: { name: 'k' } };
  const all = record.parse(nulls(record.parse(below(schema))['export']));
  assert.ok(Object.keys(all).length > 10);
  for (const fields of [all, Object.fromEntries(Object.keys(all).map((name) => [name, null]))]) {
    const values = { export: { ...fields, create: true, domain: 'd.example', api } };
    const objects = await renderChart(site.chart, { values });
    const spec = { domain: 'd.example', api, promotion: { maxBundleSize: '1Gi' } };
    assert.deepEqual(site.one(objects, 'StaticExport').at('spec'), spec);
  }
});
