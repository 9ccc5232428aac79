// `helm upgrade --reuse-values` from an older chart: its values come back, and the values that only the newer chart has are
// missing. Older charts are the packages of version 0.0.9, and charts that lack one section of today's values each.

import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import * as operator from '../../charts/operator-chart.ts';
import * as site from '../../charts/site-chart.ts';
import { readValuePaths, withoutValue } from '../../charts/value-paths.ts';
import type { ClusterAccess, CommandResult } from '../../support/cluster.ts';
import { openSharedControlPlane } from '../../support/shared-control-plane.ts';
import { readForeignKinds } from './admission.ts';

const namespace = 'reuse-values';
const packages = join(import.meta.dirname, '../../fixtures/charts-0.0.9');
let cluster: ClusterAccess;

const helm = (args: readonly string[], values: object = {}): Promise<CommandResult> =>
  cluster.helm([...args, `--namespace=${namespace}`, '--values=-'], { input: JSON.stringify(values) });

async function must(result: Promise<CommandResult>): Promise<void> {
  const { code, stderr } = await result;
  assert.equal(code, 0, stderr);
}

/** The CRD of the shared control plane belongs to no release. */
const upgrade = (release: string, chart: string): Promise<CommandResult> =>
  helm(['upgrade', release, chart, '--reuse-values', '--take-ownership', '--dry-run=server']);

before(async () => {
  cluster = await openSharedControlPlane();
  const space = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } };
  await cluster.api.apply([...(await readForeignKinds()), space]);
  await cluster.awaitDefinitions();
});
after(() => cluster.stop());

for (const { chart, name, needed } of [
  { ...operator, name: 'static-export-operator', needed: { apiBaseUrl: 'https://export.example.com' } },
  { ...site, name: 'static-export-site', needed: { staticExport: { existingSecret: 'docs-bundle' } } },
]) {
  const sections = readValuePaths(chart).filter(({ isSection, path }) => isSection && path.length <= 2);
  const defaults = Object.fromEntries(
    readValuePaths(chart).flatMap(({ path: [key = '', ...below], value }) =>
      below.length === 0 ? [[key, value]] : [],
    ),
  );

  /** A release of a chart that lacks these sections, with an object of its own only. */
  async function installOlder(release: string, missing: readonly (readonly string[])[]): Promise<void> {
    const folder = join(cluster.folder, release);
    await mkdir(join(folder, 'templates'), { recursive: true });
    const values = missing.reduce<object>((all, path) => withoutValue(all, path), defaults);
    await writeFile(join(folder, 'Chart.yaml'), `apiVersion: v2\nname: ${name}\nversion: 0.0.1\n`);
    await writeFile(join(folder, 'values.yaml'), JSON.stringify(values));
    await writeFile(
      join(folder, 'templates/one.yaml'),
      'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: "{{ .Release.Name }}-older" }\n',
    );
    await must(helm(['upgrade', '--install', release, folder], needed));
  }

  test(`${name}: a section that an older chart lacks is not an obstacle`, async () => {
    const own = `${name}-older`;
    const tops = sections.filter(({ path }) => path.length === 1 && !(String(path[0]) in needed));
    assert.ok(tops.length > 8);
    for (const { path } of tops) {
      await installOlder(own, [path]);
      const { code, stderr } = await upgrade(own, chart);
      assert.equal(code, 0, `${path}: ${stderr}`);
    }
    const nested = sections.filter(({ path }) => path.length === 2).map(({ path }) => path);
    for (const missing of [nested, tops.map(({ path }) => path)]) {
      await installOlder(own, missing);
      await must(upgrade(own, chart));
    }
  });

  test(`${name}: a null of an earlier release stays a null`, async () => {
    const own = `${name}-null`;
    await installOlder(own, []);
    await must(
      helm(['upgrade', own, join(cluster.folder, own)], { ...needed, commonLabels: null, podLabels: null }),
    );
    await must(upgrade(own, chart));
  });

  test(`${name}: values of version 0.0.9 are enough`, async () => {
    const own = `${name}-009`;
    const values = { ...needed, ...(name === 'static-export-operator' ? { crds: { install: false } } : {}) };
    await must(helm(['install', own, join(packages, `${name}-0.0.9.tgz`)], values));
    await must(upgrade(own, chart));
  });
}
