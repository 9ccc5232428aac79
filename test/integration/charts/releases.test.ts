// Releases over time, on a real API server with its controllers: both charts from packages of an older version to what
// they are now, with a live StaticExport and pods that serve; and both below one parent chart. The packages are
// earlier charts of this project, with another CRD, packed as version 0.0.9; they are never made anew.

import assert from 'node:assert/strict';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { parse } from 'yaml';
import { version } from '#platform/runtime/version.ts';
import { type CommandResult, startControlPlane, type TestCluster } from '../../support/cluster.ts';
import { eventually } from '../../support/eventually.ts';

const root = join(import.meta.dirname, '../../..');
const current = (chart: string): string => join(root, 'charts', chart);
const older = (chart: string): string => join(root, 'test/fixtures/charts-0.0.9', `${chart}-0.0.9.tgz`);
const operatorChart = 'static-export-operator';
const siteChart = 'static-export-site';
const crd = 'crd/staticexports.staticexport.dev';
const site = 'docs-static-export-site';
const key = { keySecretRef: { name: 'export-api' } };
const operatorValues = { apiBaseUrl: 'https://export.example.com' };
const siteValues = { export: { create: true, domain: 'docs.example.com', api: key } };
let cluster: TestCluster;

async function must(result: Promise<CommandResult>): Promise<string> {
  const { code, stdout, stderr } = await result;
  assert.equal(code, 0, stderr);
  return stdout;
}

const helm = (namespace: string, args: readonly string[], values: object = {}): Promise<CommandResult> =>
  cluster.helm([...args, `--namespace=${namespace}`, '--values=-'], { input: JSON.stringify(values) });
const kubectl = (namespace: string, args: readonly string[]): Promise<string> =>
  must(cluster.kubectl([`--namespace=${namespace}`, ...args]));
const read = (namespace: string, object: string, path: string): Promise<string> =>
  kubectl(namespace, ['get', object, `--output=jsonpath={${path}}`]);

/** Kinds of what a site's release makes, and of what controllers make of it. */
const kinds =
  'deployments,replicasets,statefulsets,pods,services,secrets,poddisruptionbudgets,staticexports.staticexport.dev';
const eachOne =
  '{range .items[*]}{.kind}/{.metadata.name} {.metadata.uid} {.metadata.generation}{"\\n"}{end}';
const stateOf = (namespace: string): Promise<string> =>
  kubectl(namespace, ['get', kinds, `--output=jsonpath=${eachOne}`]);
const podsOf = (namespace: string): Promise<string> =>
  kubectl(namespace, ['get', 'pods', '--output=jsonpath={.items[*].metadata.uid}']);

before(async () => {
  cluster = await startControlPlane({ controllerManager: true });
  for (const name of ['ops', 'hasty', 'docs', 'volumes', 'portal'])
    await kubectl('default', ['create', 'namespace', name]);
});
after(() => cluster.stop());

test('an upgrade of a site before its operator fails with the field that the CRD lacks, and its StaticExport stays', async () => {
  await must(helm('ops', ['install', 'ops', older(operatorChart)], operatorValues));
  await must(helm('hasty', ['install', 'docs', older(siteChart)], siteValues));
  const before = await read('hasty', `staticexport/${site}`, '.metadata.resourceVersion');
  const { code, stderr } = await helm('hasty', ['upgrade', 'docs', current(siteChart)], siteValues);
  assert.notEqual(code, 0);
  assert.match(stderr, /\.spec\.promotion\.maxBundleSize: field not declared in schema/);
  assert.equal(await read('hasty', `staticexport/${site}`, '.metadata.resourceVersion'), before);
});

test('an upgrade of an older operator under a live site changes the CRD and no other object', async () => {
  await must(helm('docs', ['install', 'docs', older(siteChart)], siteValues));
  await must(
    helm('volumes', ['install', 'docs', older(siteChart)], {
      ...{ staticExport: { existingSecret: 'docs-bundle' }, persistence: { enabled: true } },
    }),
  );
  const [served, kept] = [
    await eventually('two pods', async () =>
      (await podsOf('docs')).split(' ').length === 2 ? stateOf('docs') : undefined,
    ),
    await eventually('two pods', async () =>
      (await podsOf('volumes')).split(' ').length === 2 ? stateOf('volumes') : undefined,
    ),
  ];
  assert.match(served, /^StaticExport\/docs-static-export-site /m);
  const before = parse(await kubectl('ops', ['get', crd, '--output=yaml']));

  await must(helm('ops', ['upgrade', 'ops', current(operatorChart)], operatorValues));
  const after = parse(await kubectl('ops', ['get', crd, '--output=yaml']));
  const text = await readFile(join(root, 'crds/staticexports.staticexport.dev.yaml'), 'utf8');
  const columns = (one: unknown): unknown => Object(one).spec.versions[0].additionalPrinterColumns;
  assert.notDeepEqual(columns(before), columns(after), 'the older CRD is another one');
  assert.deepEqual(columns(after), columns(parse(text)));
  assert.equal(after.metadata.uid, before.metadata.uid, 'the CRD is the same object');
  assert.equal(
    await read('ops', 'deployment/ops-static-export-operator', '.metadata.labels.helm\\.sh/chart'),
    `${operatorChart}-${version}`,
  );
  assert.equal(await stateOf('docs'), served);
  assert.equal(await stateOf('volumes'), kept);
});

test('the cluster roles view, edit and admin include StaticExports of the namespace', async () => {
  const may = async (user: string, verb: string, namespace: string): Promise<string> => {
    const asked = ['auth', 'can-i', verb, 'staticexports.staticexport.dev', `--as=${user}`];
    return (await cluster.kubectl([`--namespace=${namespace}`, ...asked])).stdout.trim();
  };
  for (const role of ['view', 'edit', 'admin']) {
    const bind = ['create', 'rolebinding', role, `--clusterrole=${role}`, `--user=of-${role}`];
    await kubectl('docs', bind);
  }
  for (const [role, rights] of [
    ['view', ['yes', 'no', 'no']],
    ['edit', ['yes', 'yes', 'yes']],
    ['admin', ['yes', 'yes', 'yes']],
  ] as const) {
    const verbs = ['watch', 'patch', 'delete'];
    const ask = () => Promise.all(verbs.map((verb) => may(`of-${role}`, verb, 'docs')));
    // Each role is aggregated on its own.
    await eventually(`${role} is aggregated`, async () => {
      const found = await ask();
      return rights.every((right, at) => right === 'no' || found[at] === right) || undefined;
    });
    assert.deepEqual(await ask(), rights, role);
    assert.equal(await may(`of-${role}`, 'get', 'portal'), 'no', 'in the namespace alone');
  }
});

test('an upgrade of the site keeps its StaticExport, Services and Deployment, and restarts its pods', async () => {
  const uids = async (): Promise<readonly string[]> =>
    Promise.all(
      [`staticexport/${site}`, `deployment/${site}`, `service/${site}`, `service/${site}-admin`].map(
        (object) => read('docs', object, '.metadata.uid'),
      ),
    );
  // What an export is of: a change of it would start one.
  const inputs = (): Promise<string> => read('docs', `staticexport/${site}`, '.spec.domain}{.spec.api');
  const [before, exported] = [await uids(), await inputs()];
  await must(helm('docs', ['upgrade', 'docs', current(siteChart)], siteValues));
  assert.deepEqual(await uids(), before);
  assert.equal(await inputs(), exported);
  assert.equal(await read('docs', `staticexport/${site}`, '.spec.promotion.maxBundleSize'), '1Gi');
  const image = '.spec.template.spec.containers[0].image';
  assert.match(await read('docs', `deployment/${site}`, image), /:0\.1\.0$/);
});

test('an upgrade to another volume size names a remedy, which works while the pods stay', async () => {
  const values = { staticExport: { existingSecret: 'docs-bundle' }, persistence: { enabled: true } };
  const { code, stderr } = await helm('volumes', ['upgrade', 'docs', current(siteChart)], values);
  assert.notEqual(code, 0);
  const [, recipe = ''] = /or run: kubectl (.*--cascade=orphan)/.exec(stderr) ?? [];
  const pods = await podsOf('volumes');
  await must(cluster.kubectl(recipe.split(' ')));
  assert.equal(await podsOf('volumes'), pods, 'the pods stay while the StatefulSet is away');
  await must(helm('volumes', ['upgrade', 'docs', current(siteChart)], values));
  const size = '.spec.volumeClaimTemplates[0].spec.resources.requests.storage';
  assert.equal(await read('volumes', `statefulset/${site}`, size), '5Gi');
});

test('one parent chart installs both by the two steps of the README, and fails in one step', async () => {
  await must(cluster.helm(['uninstall', 'docs', '--namespace=docs']));
  await must(cluster.helm(['uninstall', 'ops', '--namespace=ops']));
  await kubectl('ops', ['delete', crd]);
  const parent = join(cluster.folder, 'portal');
  await mkdir(parent);
  await writeFile(join(parent, 'Chart.yaml'), 'apiVersion: v2\nname: portal\nversion: 1.0.0\n');
  for (const chart of [operatorChart, siteChart]) {
    await cp(current(chart), join(parent, 'charts', chart), { recursive: true });
  }
  const values = (site: object): object => ({ [operatorChart]: operatorValues, [siteChart]: site });
  const install = ['upgrade', '--install', 'portal', parent];
  const atOnce = await helm('portal', install, values(siteValues));
  assert.notEqual(atOnce.code, 0);
  assert.match(atOnce.stderr, /no matches for kind "StaticExport"/);

  const first = { export: { create: false }, staticExport: { enabled: false } };
  await must(helm('portal', install, values(first)));
  await kubectl('portal', ['wait', '--for=condition=Established', crd, '--timeout=30s']);
  await must(helm('portal', install, values(siteValues)));
  const made = await kubectl('portal', ['get', 'staticexports,deployments', '--output=name']);
  assert.match(made, /staticexport\S*\/portal-static-export-site\n/);
  assert.match(made, /deployment\S*\/portal-static-export-operator\n/);
  assert.match(made, /deployment\S*\/portal-static-export-site\n/);
});
