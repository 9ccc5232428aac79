// `tree` and `report` on a real API server with the real operator: the pods' own answers through the API server, and what a user
// without permissions still sees.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  machineAddress,
  namespace,
  type ServedCluster,
  startServedCluster,
} from './environment/served-cluster.ts';

let world: ServedCluster;
before(async () => {
  world = await startServedCluster();
});
after(async () => {
  await world?.stop();
});

async function tree(...args: readonly string[]) {
  const { code, stdout, stderr } = await world.run('tree', 'docs', '-n', namespace, '-o', 'json', ...args);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout);
}

test('tree shows the key, the outputs and the targets of a StaticExport', async () => {
  const { objects, version, notReadable } = await tree();
  assert.deepEqual(
    objects.map(({ role, kind, namespace: of, name, state }: Record<string, string>) =>
      [role, kind, of, name, state].join(' '),
    ),
    [
      `Key Secret ${namespace} export-api Present`,
      `Output Secret ${namespace} docs-bundle Present`,
      `Output ConfigMap ${namespace} docs-bundle Present`,
      'Target ConfigMap apps docs-values Present',
    ],
  );
  assert.deepEqual([objects[3].synced, objects[3].version], [true, version]);
  assert.deepEqual(notReadable, []);
});

test('tree shows which pod is behind, by the answers of the bundle servers', async (context) => {
  if (machineAddress === undefined) return context.skip('this machine has only loopback addresses');
  const { objects, digest } = await tree();
  const [behind, inStep] = objects[1].pods;
  assert.deepEqual([behind.name, behind.state], ['site-behind', 'Behind']);
  assert.notEqual(behind.digest, digest);
  assert.deepEqual([inStep.name, inStep.state, inStep.digest], ['site-in-step', 'InStep', digest]);
  assert.match(inStep.serverVersion, /^\d+\.\d+\.\d+$/);
});

test('report reads what readers do not find from all pods, and the published site by its link', async (context) => {
  if (machineAddress === undefined) return context.skip('this machine has only loopback addresses');
  const flags = ['--bundle', 'sx/docs', '--allow-private-links', '-n', namespace, '-o', 'json'];
  const { code, stdout, stderr } = await world.run('report', 'docs', ...flags);
  assert.equal(code, 0, stderr);
  const { servers, bundle, missingAddresses } = JSON.parse(stdout);
  assert.deepEqual(
    servers.map(({ server, state }: Record<string, string>) => `${server} ${state}`),
    [`${namespace}/site-behind Read`, `${namespace}/site-in-step Read`],
  );
  assert.equal(bundle.digest, (await tree()).digest);
  assert.deepEqual([missingAddresses.requests, missingAddresses.entries], [0, []]);
});

test('what a user may not read is a line, and never a failure', async () => {
  const rule = { apiGroups: ['staticexport.dev'], resources: ['staticexports'], verbs: ['get'] };
  const kubeconfig = await world.kubeconfigWith('reader', [rule]);
  const { objects, notReadable } = await tree('--kubeconfig', kubeconfig);
  assert.deepEqual(
    objects.map(({ state }: { state: string }) => state),
    ['NotReadable', 'NotReadable', 'NotReadable', 'NotReadable'],
  );
  assert.match(objects[0].message, /^you have no permission to get secrets "export-api" in namespace team-a/);
  assert.equal(notReadable.length, 2);
  const refused = await world.run('report', 'docs', '-n', namespace, '--kubeconfig', kubeconfig);
  assert.equal(refused.code, 8);
  assert.match(
    refused.stderr,
    /no server could be read\. pods of namespace \S+: you have no permission to list pods/,
  );
  const { code, stdout } = await world.run('tree', 'docs', '-n', namespace, '--kubeconfig', kubeconfig);
  assert.equal(code, 0);
  assert.match(stdout, /Secret docs-bundle: not readable: you have no permission/);
  assert.match(stdout, /Pods of namespace apps: not readable:/);
});

test('tree in a pipe has a line for each object', async () => {
  const { stdout } = await world.run('tree', 'docs', '-n', namespace);
  const lines = stdout.trimEnd().split('\n');
  assert.match(lines[0] ?? '', /^StaticExport team-a\/docs: Published, \d{8}-/);
  for (const line of lines.slice(1)) assert.match(line, /^(?:[│ ] {2})*[├└]─ \S/);
});
