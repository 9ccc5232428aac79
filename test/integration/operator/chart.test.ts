// The chart as helm renders it: its permissions, its CRD, its flags. Needs no cluster.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { operatorProgram } from '#operator/flags.ts';
import { readInvocation } from '#platform/runtime/flags/flags.ts';
import { findClusterTools } from '../../support/cluster-tools.ts';

const root = join(import.meta.dirname, '../../..');
const chart = join(root, 'charts/static-export-operator');
const crdName = 'staticexports.staticexport.dev.yaml';

const rule = z.object({
  apiGroups: z.array(z.string()),
  resources: z.array(z.string()),
  verbs: z.array(z.string()),
  resourceNames: z.array(z.string()).optional(),
});
const objectShape = z.looseObject({
  kind: z.string(),
  metadata: z.looseObject({
    name: z.string(),
    namespace: z.string().optional(),
    annotations: z.record(z.string(), z.string()).optional(),
  }),
  rules: z.array(rule).optional(),
});

async function helm(...set: readonly string[]): Promise<{ readonly text: string; readonly error: string }> {
  const tools = await findClusterTools();
  const args = ['template', 'test', chart, '--namespace=ns', ...set.map((one) => `--set=${one}`)];
  return new Promise((resolve) => {
    execFile(tools.helm, args, { maxBuffer: 1 << 26 }, (_error, text, error) => resolve({ text, error }));
  });
}

async function render(...set: readonly string[]) {
  const { text, error } = await helm(...set);
  assert.equal(error, '');
  return parseAllDocuments(text)
    .map((document): unknown => document.toJS())
    .filter((object) => object !== null)
    .map((object) => objectShape.parse(object));
}

/** Neither a role aggregated into those of users, nor the one of `helm test`. */
const isOperators = ({ metadata }: z.infer<typeof objectShape>): boolean =>
  !/-(view|edit|test)$/.test(metadata.name);

test('the CRD in the chart is the generated one', async () => {
  const [ours, copy] = await Promise.all(
    [join(root, 'crds', crdName), join(chart, 'files', crdName)].map((file) => readFile(file, 'utf8')),
  );
  assert.equal(copy, ours, 'run "npm run generate"');
});

test('the CRD is rendered whole, kept on uninstall, and left out when asked', async () => {
  const generated = parse(await readFile(join(root, 'crds', crdName), 'utf8'));
  const crd = (await render()).find(({ kind }) => kind === 'CustomResourceDefinition');
  assert.deepEqual(crd?.['spec'], generated.spec);
  assert.deepEqual(crd?.metadata.annotations, { 'helm.sh/resource-policy': 'keep' });
  const [bare] = (await render('crds.keep=false')).filter(({ kind }) => kind === 'CustomResourceDefinition');
  assert.equal(bare?.metadata.annotations, undefined);
  assert.ok((await render('crds.install=false')).every(({ kind }) => kind !== 'CustomResourceDefinition'));
});

test('no rule lists or watches Secrets or ConfigMaps, permits deletion, or has a wildcard', async () => {
  for (const set of [[], ['watchNamespaces={a,b}']]) {
    const rules = (await render(...set)).filter(isOperators).flatMap((object) => object.rules ?? []);
    assert.ok(rules.length > 0);
    for (const { apiGroups, resources, verbs } of rules) {
      const all = [...apiGroups, ...resources, ...verbs];
      assert.ok(!all.includes('*'), JSON.stringify(all));
      assert.ok(!verbs.some((verb) => verb.startsWith('delete')), JSON.stringify(all));
      if (resources.some((one) => ['secrets', 'configmaps'].includes(one))) {
        assert.deepEqual(verbs, ['get', 'create', 'patch']);
      }
    }
  }
});

test('with watched namespaces there is a Role in each and no ClusterRole', async () => {
  const objects = await render('watchNamespaces={a,b}');
  assert.ok(objects.every(({ kind }) => !kind.startsWith('ClusterRole')));
  const roles = objects
    .filter((object) => object.kind === 'Role' && isOperators(object))
    .map(({ metadata }) => metadata.namespace);
  assert.deepEqual(roles.sort(), ['a', 'b', 'ns']);
});

test('the operator knows every flag that the chart sets', async () => {
  const objects = await render(
    'apiBaseUrl=https://export.example.com/api',
    'allowedApiHosts={export.example.com,other.example.com}',
    'watchNamespaces={a,b}',
    'allowPrivateLinks=true',
  );
  const deployment = objects.find(({ kind }) => kind === 'Deployment');
  const container = z
    .object({
      template: z.object({
        spec: z.object({ containers: z.array(z.object({ args: z.array(z.string()) })) }),
      }),
    })
    .parse(deployment?.['spec']).template.spec.containers[0];
  const [program, ...args] = container?.args ?? [];
  assert.equal(program, 'operator');
  const own = args.filter((arg) => !arg.startsWith('--log-level'));
  const invocation = readInvocation(operatorProgram, '0', own, {});
  assert.equal(invocation.outcome, 'run', JSON.stringify(invocation));
  if (invocation.outcome !== 'run') return;
  assert.deepEqual(invocation.values.watchNamespaces, ['a', 'b']);
  assert.equal(invocation.values.leaseNamespace, 'ns');
  assert.equal(invocation.values.allowPrivateLinks, true);
});

test('the operator has permissions for the lease that it uses', async () => {
  const objects = await render();
  const rules = objects.flatMap((object) => object.rules ?? []);
  const names = rules.flatMap(({ resourceNames = [] }) => resourceNames);
  assert.match(JSON.stringify(objects), new RegExp(`--lease-name=${names[0]}"`));
});

for (const [value, message] of [
  ['nonsense=1', /additional properties 'nonsense'/],
  ['apiBaseUrl=ftp://x', /apiBaseUrl/],
  ['workers=0', /workers/],
  ['inspection.concurrency=0', /concurrency/],
] as const) {
  test(`a wrong value is refused at render: ${value}`, async () => {
    assert.match((await helm(value)).error, message);
  });
}
