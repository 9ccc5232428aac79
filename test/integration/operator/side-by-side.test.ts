// Two operators in one cluster, each with permissions in one namespace and its own name. They share no resource, and
// a resource moved to the other operator continues there with its job and version. A third operator whose scope
// overlaps is reported, and its changes to status are repaired.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../../support/eventually.ts';
import { startEnvironment } from './operator-environment.ts';
import type { OperatorProcess } from './operator-process.ts';

const namespace = 'side-by-side';

const instance = (name: string) => ({ labels: { 'staticexport.dev/instance': name } });
const shows = async (operator: OperatorProcess, name: string): Promise<boolean> =>
  (await operator.get('/metrics')).text.includes(
    `staticexport_ready{namespace="${namespace}",name="${name}"}`,
  );

const { world, vendor, reader, staticExport, start } = await startEnvironment({
  namespaces: [namespace, 'side-by-side-b'],
  watchNamespaces: [namespace],
});
const rbac = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'other-leases' };
const apiVersion = `${rbac.apiGroup}/v1`;
const metadata = { name: rbac.name, namespace: world.operatorNamespace };
const ofLeases = { apiGroups: ['coordination.k8s.io'], resources: ['leases'] };
await world.apply(
  // The objects that other releases of the chart have for their leases.
  {
    ...{ apiVersion, kind: 'Role', metadata },
    rules: [{ ...ofLeases, resourceNames: ['blue', 'stray'], verbs: ['get', 'update'] }],
  },
  {
    ...{ apiVersion, kind: 'RoleBinding', metadata, roleRef: rbac },
    subjects: [{ kind: 'ServiceAccount', name: world.leaseName, namespace: world.operatorNamespace }],
  },
  staticExport('unnamed'),
  staticExport('named', {}, instance('blue')),
  staticExport('orphan', {}, instance('nobody')),
);
const [plain, blue] = await Promise.all([start(), start(['--instance=blue'], {}, { leaseName: 'blue' })]);

test('the permissions end at the watched namespace', async () => {
  const account = `--as=system:serviceaccount:${world.operatorNamespace}:${world.leaseName}`;
  const can = async (...what: readonly string[]): Promise<string> =>
    (await world.kubectl(['auth', 'can-i', ...what, account]).catch(() => ({ stdout: 'no' }))).stdout.trim();
  assert.equal(await can('list', 'staticexports.staticexport.dev', '-n', namespace), 'yes');
  assert.equal(await can('list', 'staticexports.staticexport.dev', '-n', 'side-by-side-b'), 'no');
  assert.equal(await can('list', 'staticexports.staticexport.dev', '-A'), 'no');
  assert.equal(await can('list', 'secrets', '-n', namespace), 'no');
});

test('each operator manages its own resources, and none manages a label that no operator has', async () => {
  for (const name of ['unnamed', 'named']) await reader.awaitCondition(name, 'Ready', 'True', 'Published');
  assert.deepEqual([await shows(plain, 'unnamed'), await shows(plain, 'named')], [true, false]);
  assert.deepEqual([await shows(blue, 'unnamed'), await shows(blue, 'named')], [false, true]);
  // No state is kept of resources that other operators manage.
  for (const { get } of [plain, blue]) {
    assert.match((await get('/metrics')).text, /^staticexport_resources 1$/m);
  }
  assert.equal((await reader.read('sx', 'orphan')).status.conditions, undefined);
  assert.deepEqual(vendor.starts('orphan.example.com'), []);
});

test('a resource moved to the other operator continues there: same job, same version, no write of the first', async () => {
  const before = await reader.readOutput('unnamed');
  await world.kubectl(['label', 'sx', 'unnamed', '-n', namespace, 'staticexport.dev/instance=blue']);
  await eventually('the first to forget it', async () =>
    (await shows(plain, 'unnamed')) ? undefined : true,
  );
  await eventually('the other to look after it', async () =>
    (await shows(blue, 'unnamed')) ? true : undefined,
  );
  await reader.request('unnamed', 'from blue');
  await reader.awaitCondition('unnamed', 'Exported', 'True', 'Unchanged');
  assert.equal((await reader.readOutput('unnamed')).published.version, before.published.version);
  assert.equal(vendor.jobs('unnamed.example.com').length, 2);
  assert.equal(await shows(plain, 'unnamed'), false);
  reader.assertRulesKept();
});

test('the status of each resource names the lease of the operator that wrote it', async () => {
  const leaseOf = async (name: string) => (await reader.read('sx', name)).status.operatorLease;
  assert.equal(await leaseOf('named'), `${world.operatorNamespace}/blue`);
  assert.equal(await leaseOf('orphan'), undefined);
});

test('an overlapping operator is reported at each resource, and its changes to status are repaired after it stopped', async () => {
  const names = ['first', 'second', 'third'];
  await world.apply(...names.map((name) => staticExport(name)));
  for (const name of names) await reader.awaitCondition(name, 'Ready', 'True', 'Published');
  const before = await Promise.all(names.map((name) => reader.readOutput(name)));
  const jobs = names.map((name) => vendor.jobs(`${name}.example.com`).length);
  const [own, strays] = [world.leaseName, 'stray'].map((lease) => `${world.operatorNamespace}/${lease}`);

  // The same scope as the first operator, and an export API that does not answer.
  const stray = await start(['--api-base-url=http://127.0.0.1:9'], {}, { leaseName: 'stray' });
  try {
    for (const name of names) await awaitOverlap(name, `(lease ${strays}) also writes this status`);
    await eventually('the metric', async () => {
      const { text } = await plain.get('/metrics');
      const line = (name: string) =>
        `staticexport_operators_overlap{namespace="${namespace}",name="${name}",operator_lease="${strays}"} 1`;
      return names.every((name) => text.includes(line(name))) ? true : undefined;
    });
  } finally {
    await stray.child.stop('SIGKILL');
  }

  for (const [index, name] of names.entries()) {
    await eventually(
      `${name} as it was`,
      async () => {
        const { status } = await reader.read('sx', name);
        assert.equal(status.operatorLease, own);
        const ready = (await reader.condition(name, 'Ready')) ?? assert.fail();
        return ready.status === 'True' && ready.reason === 'Published' ? true : undefined;
      },
      { timeoutMs: 90_000 },
    );
    const { published } = await reader.readOutput(name);
    assert.equal(published.version, before[index]?.published.version);
  }
  assert.deepEqual(
    names.map((name) => vendor.jobs(`${name}.example.com`).length),
    jobs,
  );
  const warnings = plain.log.filter((line) => line.includes('another operator writes'));
  assert.equal(warnings.length, 1, warnings.join('\n'));
  reader.assertRulesKept();
});

const awaitOverlap = (name: string, words: string) =>
  eventually(
    `an event of the overlap at ${name}`,
    async () => {
      const events = await reader.eventsOf(name);
      const told = events.filter(({ reason }) => reason === 'OperatorsOverlap');
      return told.some(({ type, note }) => type === 'Warning' && note.includes(words)) ? true : undefined;
    },
    { timeoutMs: 90_000 },
  );

test('the log names the scope and the lease at its start, and the release of the lease at its end', async () => {
  await blue.child.stop();
  const lines: readonly Readonly<Record<string, unknown>>[] = blue.log.map((line) => JSON.parse(line));
  const told = lines.filter(({ level }) => level === 'info').map(({ msg }) => msg);
  assert.equal(told[0], 'operator started');
  assert.deepEqual(told.slice(-3), ['stopping', 'lease released', 'stopped']);
  const [started] = lines;
  assert.equal(started?.['lease'], `${world.operatorNamespace}/blue`);
  assert.equal(started['instance'], 'blue');
  assert.deepEqual(started['namespaces'], [namespace]);
  assert.equal(started['apiBaseUrl'], vendor.url);
});
