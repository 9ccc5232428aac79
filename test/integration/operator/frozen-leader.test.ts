// A leader frozen during three reconciles, for longer than its lease, while the other replica continues its work. The
// awaited answers are there when it wakes: a stored start record, a started job, an issued link. It must exit without
// a request to the cluster or to the export API.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { eventually } from '../../support/eventually.ts';
import { type ChartedCluster, startChartedCluster } from './charted-cluster.ts';
import { leads, type OperatorProcess, startOperator } from './operator-process.ts';
import { type Relay, startRelay } from './relay.ts';
import { createReader } from './resource-reader.ts';
import { goodKey, type ScriptedVendor, startVendor } from './scripted-vendor.ts';

const namespace = 'frozen-leader';
const names = ['marked', 'started', 'issued'];
const domainOf = (name: string): string => `${name}.example.com`;
let world: ChartedCluster;
let vendor: ScriptedVendor;
let toVendor: Relay;
/** Of the frozen leader only. */
let toCluster: Relay;
let frozen: OperatorProcess;
let other: OperatorProcess;
let reader: ReturnType<typeof createReader>;

/** The operator's own permissions, through a relay. */
async function relayCluster(): Promise<string> {
  const { clusters, users } = JSON.parse(readFileSync(world.kubeconfig, 'utf8'));
  const { server, 'certificate-authority-data': ca } = clusters[0].cluster;
  toCluster = await startRelay(server, Buffer.from(ca, 'base64').toString());
  const kubeconfig = join(world.folder, 'relayed.kubeconfig');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'relayed',
    clusters: [{ name: 'relayed', cluster: { server: toCluster.url, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'operator', user: users[0].user }],
    contexts: [{ name: 'relayed', context: { cluster: 'relayed', user: 'operator' } }],
  };
  writeFileSync(kubeconfig, JSON.stringify(config), { mode: 0o600 });
  return kubeconfig;
}

const start = (kubeconfig: string) =>
  startOperator({ ...world, kubeconfig }, [
    `--api-base-url=${toVendor.url}/api`,
    '--allow-private-links',
    `--watch-namespaces=${namespace}`,
    // The awaited requests have not timed out when it wakes, and no other replica sends an unconfirmed start again.
    '--cluster-timeout=10m',
    '--request-timeout=5m',
  ]);

before(async () => {
  vendor = await startVendor();
  toVendor = await startRelay(new URL(vendor.url).origin);
  world = await startChartedCluster({ namespaces: [namespace], watchNamespaces: [namespace] });
  reader = createReader(world, namespace);
  frozen = await start(await relayCluster());
  await eventually('a leader', async () => ((await leads(frozen)) ? true : undefined));
  other = await start(world.kubeconfig);
});

after(async () => {
  await frozen?.child.stop('SIGKILL');
  await other?.child.stop();
  await toCluster?.close();
  await toVendor?.close();
  await vendor?.close();
  await world?.stop();
});

const apply = () =>
  world.apply(
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'export-api', namespace },
      stringData: { apiKey: goodKey },
    },
    ...names.map((name) => ({
      apiVersion: 'staticexport.dev/v1alpha1',
      kind: 'StaticExport',
      metadata: { name, namespace },
      spec: { domain: domainOf(name), api: { keySecretRef: { name: 'export-api' } } },
    })),
  );

test('a leader that was frozen during a reconcile exits without another write', async () => {
  toCluster.hold = ({ method, path, body }) =>
    method === 'PATCH' && path.includes('/staticexports/marked/status') && body.includes('"attempts":1');
  toVendor.hold = ({ method, path, body }) =>
    method === 'POST' && (path.endsWith('/bundle') || body.includes(domainOf('started')));
  await apply();
  await eventually('a pass that waits in each of three places', () => {
    const waiting = toCluster.held.length + toVendor.held.length;
    return waiting === names.length ? true : undefined;
  });

  process.kill(frozen.child.pid, 'SIGSTOP');
  toCluster.hold = () => false;
  toVendor.hold = () => false;
  toCluster.release();
  toVendor.release();
  await eventually('the other to lead', async () => (await leads(other)) || undefined, { timeoutMs: 90_000 });
  await reader.awaitCondition('issued', 'Ready', 'True', 'Published');
  const published = (await reader.readOutput('issued')).text('bundle.json');
  const before = { cluster: toCluster.requests.length, vendor: toVendor.requests.length };

  process.kill(frozen.child.pid, 'SIGCONT');
  assert.equal(await frozen.child.exited, 1);
  assert.match(frozen.child.tail(), /LeadershipLost/);
  const written = (relay: Relay, from: number) =>
    relay.requests.slice(from).filter(({ method }) => method !== 'GET');
  assert.deepEqual(written(toCluster, before.cluster), []);
  assert.deepEqual(written(toVendor, before.vendor), []);

  assert.equal(await leads(other), true);
  assert.equal((await reader.readOutput('issued')).text('bundle.json'), published);
  assert.deepEqual(
    vendor.starts(domainOf('marked')),
    [],
    "sent, although the mark was another one's by then",
  );
  assert.equal(vendor.starts(domainOf('started')).length, 1);
  for (const name of ['marked', 'started']) {
    const { start, job, failures } = (await reader.read('sx', name)).status;
    assert.deepEqual([start?.attempts, job, failures], [1, undefined, undefined], name);
  }
  reader.assertRulesKept();
});
