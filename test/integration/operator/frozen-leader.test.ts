// A leader frozen during three reconciles, for longer than its lease, while the other replica continues its work. The
// awaited answers are there when it wakes: a stored start record, a started job, an issued link. It must exit without
// a request to the cluster or to the export API.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { eventually } from '../../support/eventually.ts';
import { startEnvironment } from './operator-environment.ts';
import { leads } from './operator-process.ts';
import { type Relay, startRelay } from './relay.ts';

const names = ['marked', 'started', 'issued'];
const domainOf = (name: string): string => `${name}.example.com`;

/** The operator's own permissions, through a relay. */
async function relayCluster(): Promise<{ readonly toCluster: Relay; readonly kubeconfig: string }> {
  const { clusters, users } = JSON.parse(readFileSync(world.kubeconfig, 'utf8'));
  const { server, 'certificate-authority-data': ca } = clusters[0].cluster;
  const toCluster = await startRelay(server, Buffer.from(ca, 'base64').toString());
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
  return { toCluster, kubeconfig };
}

const start = (kubeconfig: string) =>
  startOne(
    // The awaited requests have not timed out when it wakes, and no other replica sends an unconfirmed start again.
    [`--api-base-url=${toVendor.url}/api`, '--cluster-timeout=10m', '--request-timeout=5m'],
    {},
    { kubeconfig },
  );

const {
  world,
  vendor,
  reader,
  staticExport,
  start: startOne,
} = await startEnvironment({
  namespaces: ['frozen-leader'],
  stopSignal: 'SIGKILL',
});
const toVendor = await startRelay(new URL(vendor.url).origin);
const { toCluster, kubeconfig } = await relayCluster();
const frozen = await start(kubeconfig);
await eventually('a leader', async () => ((await leads(frozen)) ? true : undefined));
const other = await start(world.kubeconfig);

after(() => Promise.all([toCluster.close(), toVendor.close()]));

test('a leader that was frozen during a reconcile exits without another write', async () => {
  toCluster.hold = ({ method, path, body }) =>
    method === 'PATCH' && path.includes('/staticexports/marked/status') && body.includes('"attempts":1');
  toVendor.hold = ({ method, path, body }) =>
    method === 'POST' && (path.endsWith('/bundle') || body.includes(domainOf('started')));
  await world.apply(...names.map((name) => staticExport(name)));
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
