// The operator as a process before an API server that answers lists, watches and the lease, and nothing else: it
// keeps the lease while every worker waits for an answer that does not come, and no worker waits for a connection.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { queueSlotsOf } from '#operator/leader.ts';
import { eventually } from '../../support/eventually.ts';
import { createAuthority } from '../../support/pki.ts';
import { type ScriptedApiServer, startScriptedApiServer } from '../../support/scripted-api-server.ts';
import { type OperatorProcess, startOperator } from './operator-process.ts';

/** More concurrent reconciles than a transport's default number of connections. */
const workers = 8;
const { total } = queueSlotsOf({ workers });
const folder = mkdtempSync(join(tmpdir(), 'lease-connection-'));
let api: ScriptedApiServer;
let operator: OperatorProcess;

before(async () => {
  const authority = await createAuthority();
  api = await startScriptedApiServer(await authority.issueServer({ dns: [], ips: ['127.0.0.1'] }));
  const cluster = {
    server: `https://127.0.0.1:${api.port}`,
    'certificate-authority-data': Buffer.from(authority.certificatePem).toString('base64'),
  };
  const kubeconfig = join(folder, 'config');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'c',
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'c', user: { token: 'token' } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'c' } }],
  };
  writeFileSync(kubeconfig, JSON.stringify(config));
  api.fault = ({ kind, path }) => kind === 'other' && !path.includes('/leases');
  // Resources of so many allowed APIs that all workers are busy.
  const hosts = Array.from({ length: 8 }, (_, index) => `api-${index}.example.com`);
  for (let index = 0; index < 40; index += 1) {
    const name = `docs-${index}`;
    const baseUrl = `http://${hosts[index % hosts.length]}`;
    api.put({
      metadata: { namespace: 'ns', name, uid: `uid-${index}`, generation: 1 },
      spec: { domain: 'docs.example.com', api: { baseUrl, keySecretRef: { name: 'key' } } },
    });
  }
  operator = await startOperator(
    { kubeconfig, operatorNamespace: 'ns', leaseName: 'lease', judgeStatuses: () => {} },
    [
      `--workers=${workers}`,
      '--cluster-timeout=10m',
      `--allowed-api-hosts=${hosts.map((host) => `http://${host}`).join(',')}`,
    ],
  );
});

after(async () => {
  await operator?.child.stop('SIGKILL');
  await api?.close();
  rmSync(folder, { recursive: true });
});

test('a leader whose calls all hang renews its lease, on a separate connection', async () => {
  const hanging = () =>
    api.requests.filter(({ kind, path }) => kind === 'other' && !path.includes('/leases'));
  const renewals = () =>
    api.requests.filter(({ method, path }) => method === 'PUT' && path.endsWith('/leases/lease'));
  await eventually(`a call of each of ${total} passes`, () => (hanging().length >= total ? true : undefined));
  const before = renewals().length;
  // Longer than the lease lasts: it is renewed every 2 s.
  await eventually('ten more renewals', () => (renewals().length >= before + 10 ? true : undefined), {
    timeoutMs: 60_000,
  });
  assert.equal(operator.child.hasExited(), false, operator.child.tail());
  assert.equal(hanging().length, total);
  const others = new Set(
    api.requests.filter(({ path }) => !path.includes('/leases')).map(({ connection }) => connection),
  );
  assert.ok(renewals().every(({ connection }) => !others.has(connection)));
});
