// `doctor` on a real API server with the real operator: a healthy cluster, and the same cluster broken in one way after the
// other. The tests run in this order, because the last ones take the operator and the CRD away.

import assert from 'node:assert/strict';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { eventually } from '../../support/eventually.ts';
import { readBytes } from '../../support/read-archive.ts';
import { seeText } from '../../support/secret-watch.ts';
import {
  machineAddress,
  namespace,
  type ServedCluster,
  serverPod,
  startServedCluster,
  staticExport,
  targetNamespace,
  writeStatus,
} from './environment/served-cluster.ts';

interface Finding {
  readonly code: string;
  readonly state: string;
  readonly subject?: string;
  readonly message: string;
  readonly remedy?: string;
}

let world: ServedCluster;
before(async () => {
  world = await startServedCluster();
});
after(async () => {
  await world?.stop();
});

async function doctor(exitCode: number, ...args: readonly string[]): Promise<readonly Finding[]> {
  const { code, stdout, stderr } = await world.run('doctor', '-n', namespace, '-o', 'json', ...args);
  assert.equal(code, exitCode, stdout + stderr);
  const { kind, passed, checks } = JSON.parse(stdout);
  assert.deepEqual([kind, passed], ['DoctorReport', exitCode === 0]);
  return checks;
}

const errors = (checks: readonly Finding[]): readonly string[] =>
  checks.filter(({ state }) => state === 'error').map(({ code, message }) => `${code}: ${message}`);
const of = (checks: readonly Finding[], code: string): Finding | undefined =>
  checks.find((check) => check.code === code);

test('a healthy cluster passes, and the server that is behind is a warning', async () => {
  const checks = await doctor(0, 'docs');
  assert.deepEqual(
    checks.filter(({ state }) => state !== 'ok').map(({ code, state }) => `${code} ${state}`),
    machineAddress === undefined ? ['Server skipped'] : ['Server warning'],
  );
  assert.match(
    of(checks, 'OperatorLease')?.message ?? '',
    /holds the lease static-export\/.*renewed \d s ago/,
  );
  assert.match(of(checks, 'KeySecret')?.message ?? '', /has the key apiKey/);
  assert.match(of(checks, 'ApiServer')?.message ?? '', /knows you as admin/);
});

test('a report holds the facts of the cluster, and no key and no link', async () => {
  const file = join(world.cluster.folder, 'report.zip');
  await doctor(0, 'docs', '--report', file);
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  const { contents } = await readBytes(await readFile(file));
  assert.match(contents['staticexports.json'] ?? '', /docs\.example\.com/);
  assert.match(contents['operators.json'] ?? '', /--lease-name=/);
  assert.match(contents['events.json'] ?? '', /Promoted/);
  for (const [name, text] of Object.entries(contents)) seeText(name, text);
  const again = await world.run('doctor', '-n', namespace, '--report', file);
  assert.equal(again.code, 2, again.stderr);
});

test('an installation finds the operator and the CRD that are there', async () => {
  const checks = await doctor(0, '--pre');
  assert.match(of(checks, 'InstallPermissions')?.message ?? '', /^You have the \d+ permissions/);
  assert.equal(checks.filter(({ code }) => code === 'InstallConflict').length, 2);
});

test('an API server that cannot be reached, and a kubeconfig without it, are results', async () => {
  const text = (await world.cluster.kubectl(['config', 'view', '--raw'])).stdout;
  const closed = join(world.cluster.folder, 'closed');
  await writeFile(closed, text.replace(/server: https:\/\/\S+/, 'server: https://127.0.0.1:1'), {
    mode: 0o600,
  });
  const found = await doctor(1, '--kubeconfig', closed, '--cluster-timeout', '15s');
  assert.match(errors(found).join(), /^ApiServer: .*ECONNREFUSED/);
  assert.match(errors(await doctor(1, '--context', 'gone')).join(), /^ApiServer: .*no context "gone"/);
});

test('a user with few permissions learns which are missing, and what the operator reports', async () => {
  const rule = { apiGroups: ['staticexport.dev'], resources: ['staticexports'], verbs: ['get', 'list'] };
  const kubeconfig = await world.kubeconfigWith('viewer', [rule]);
  const checks = await doctor(0, 'docs', '--kubeconfig', kubeconfig);
  const missing = checks.filter(({ code, state }) => code === 'Permissions' && state === 'warning');
  assert.ok(
    missing.some(({ message }) =>
      /may not patch staticexports\.staticexport\.dev in namespace team-a/.test(message),
    ),
  );
  assert.ok(missing.some(({ message }) => /may not get pods\/proxy in namespace team-a/.test(message)));
  for (const code of ['CrdSchema', 'Operator', 'OperatorLease', 'KeySecret', 'Server']) {
    assert.equal(of(checks, code)?.state, 'skipped', code);
  }
  assert.equal(of(checks, 'TargetConsent')?.state, 'ok');
  const before = await doctor(1, '--pre', '--kubeconfig', kubeconfig);
  assert.match(errors(before).join(), /InstallPermissions: You may not create customresourcedefinitions/);
});

test('a kubeconfig without credentials passes nothing', async () => {
  const config = JSON.parse((await world.cluster.kubectl(['config', 'view', '--raw', '-o', 'json'])).stdout);
  const anonymous = join(world.cluster.folder, 'anonymous');
  const users = config.users.map(({ name }: { readonly name: string }) => ({ name, user: {} }));
  await writeFile(anonymous, JSON.stringify({ ...config, users }), { mode: 0o600 });
  assert.match(errors(await doctor(1, '--kubeconfig', anonymous)).join(), /^Permissions: .* are not known: /);
  const before = await doctor(1, '--pre', '--kubeconfig', anonymous);
  assert.match(errors(before).join(), /^InstallPermissions: .* are not known: /);
});

test('a role that names its objects is enough, and a StaticExport that it does not name is an error', async () => {
  const rule = (
    apiGroup: string,
    resource: string,
    verbs: readonly string[],
    ...names: readonly string[]
  ) => ({
    apiGroups: [apiGroup],
    resources: [resource],
    verbs,
    ...(names.length > 0 && { resourceNames: names }),
  });
  const kubeconfig = await world.kubeconfigWith('named', [
    rule('staticexport.dev', 'staticexports', ['get', 'patch'], 'docs'),
    rule('', 'secrets', ['get'], 'export-api'),
  ]);
  const checks = await doctor(0, 'docs', '--kubeconfig', kubeconfig);
  const missing = checks.filter(({ code, state }) => code === 'Permissions' && state === 'warning');
  const messages = missing.map(({ message }) => message.replace(/;.*/, ''));
  assert.deepEqual(
    messages.filter((message) => / (?:get|patch) (?:staticexports|secrets)/.test(message)),
    [`You may not get secrets "docs-bundle" in namespace ${namespace}`],
  );
  const other = await doctor(1, 'other', '--kubeconfig', kubeconfig);
  assert.match(
    errors(other).join('\n'),
    /^StaticExport: team-a\/other is not readable: you have no permission/m,
  );
});

test('an evicted pod is no finding, and tree says that it has ended', async () => {
  const { kubectl, apply } = world.cluster;
  await apply(serverPod('site-evicted', 9090));
  await writeStatus(world.cluster, 'pod', namespace, 'site-evicted', { phase: 'Failed', reason: 'Evicted' });
  const checks = await doctor(0, 'docs');
  assert.equal(checks.filter(({ message }) => message.includes('site-evicted')).length, 0);
  const { stdout } = await world.run('tree', 'docs', '-n', namespace);
  assert.match(stdout, /Pod site-evicted: ended\. The pod has ended \(Evicted\)\./);
  await kubectl(['delete', 'pod', 'site-evicted', '-n', namespace, '--force', '--grace-period=0']);
});

test('a target without consent is an error with the command that gives it', async () => {
  const { kubectl } = world.cluster;
  const annotation = 'staticexport.dev/allow-from';
  await kubectl(['annotate', 'configmap', 'docs-values', '-n', targetNamespace, `${annotation}-`]);
  const checks = await doctor(1, 'docs');
  assert.match(errors(checks).join(), /^TargetConsent: .*has no annotation/);
  const command = of(checks, 'TargetConsent')?.remedy?.match(/Run: kubectl (.*)$/)?.[1] ?? '';
  await kubectl(command.split(' '));
  await doctor(0, 'docs');
});

test('a Secret of the key that is gone is an error', async () => {
  const { apply } = world.cluster;
  await apply(staticExport('keyless', { api: { keySecretRef: { name: 'absent' } } }));
  await world.reader.awaitCondition('keyless', 'Reconciling', 'True', 'KeyMissing');
  const checks = await doctor(1, 'keyless');
  assert.match(errors(checks).join(), /^KeySecret: The Secret absent does not exist\.$/);
  await world.cluster.kubectl(['delete', 'sx', 'keyless', '-n', namespace]);
});

test('a CRD that lacks a field is an error, because its operator needs the field', async () => {
  const { kubectl } = world.cluster;
  const path = '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/suspend';
  const crd = ['patch', 'crd', 'staticexports.staticexport.dev', '--type=json', '-p'];
  await kubectl([...crd, JSON.stringify([{ op: 'remove', path }])]);
  assert.match(errors(await doctor(1, 'docs')).join(), /^CrdSchema: .*it lacks the field spec\.suspend\./);
  await kubectl([...crd, JSON.stringify([{ op: 'add', path, value: { type: 'boolean' } }])]);
  await doctor(0, 'docs');
});

test('a second operator for the same namespaces is an error', async () => {
  const { kubectl, apply, operatorNamespace, leaseName } = world.cluster;
  const { stdout } = await kubectl(['get', 'deployment', leaseName, '-n', operatorNamespace, '-o', 'json']);
  const text = stdout.replaceAll(`--lease-name=${leaseName}`, '--lease-name=second');
  const { metadata, spec, ...rest } = JSON.parse(text);
  const { labels } = metadata;
  await apply({
    ...rest,
    status: undefined,
    spec,
    metadata: { name: 'second', namespace: operatorNamespace, labels },
  });
  assert.match(errors(await doctor(1, 'docs')).join(), /OperatorOverlap: .* manage the same StaticExports/);
  await kubectl(['delete', 'deployment', 'second', '-n', operatorNamespace]);
});

test('an operator that was killed leaves a stale lease', async () => {
  const { operatorNamespace, leaseName } = world.cluster;
  await world.operator.child.stop('SIGKILL');
  await writeStatus(world.cluster, 'deployment', operatorNamespace, leaseName, { readyReplicas: 0 });
  await eventually(
    'a stale lease',
    async () => (/is stale: not renewed for/.test(errors(await doctor(1, 'docs')).join()) ? true : undefined),
    { timeoutMs: 60_000, everyMs: 2_000 },
  );
  assert.match(errors(await doctor(1, 'docs')).join(), /^Operator: 0 of 2 replicas/);
});

test('a cluster without an operator, and then without the CRD, says so', async () => {
  const { kubectl, operatorNamespace, leaseName } = world.cluster;
  await kubectl(['delete', 'deployment', leaseName, '-n', operatorNamespace]);
  assert.match(errors(await doctor(1, 'docs')).join(), /^Operator: No operator is installed\./);
  await kubectl(['delete', 'crd', 'staticexports.staticexport.dev', '--wait=false']);
  await eventually('a deleted definition', async () =>
    /CrdInstalled: The CRD .* is not installed\./.test(errors(await doctor(1)).join()) ? true : undefined,
  );
  const rule = { apiGroups: ['staticexport.dev'], resources: ['staticexports'], verbs: ['get', 'list'] };
  const kubeconfig = await world.kubeconfigWith('viewer', [rule]);
  for (const name of [[], ['docs']]) {
    const found = await doctor(1, ...name, '--kubeconfig', kubeconfig);
    assert.match(errors(found).join(), /^CrdInstalled: The CRD .* is not installed\.$/);
  }
  const before = await doctor(0, '--pre');
  assert.equal(of(before, 'InstallConflict')?.message, 'The CRD is not installed yet.');
});
