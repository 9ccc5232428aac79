// `events` and `logs` on a real API server with the real operator. A kubelet is scripted: it serves what the operator really
// wrote. Invariant: neither shows lines about another object.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { runInProcess } from '../../support/cli-in-process.ts';
import type { CommandResult } from '../../support/command.ts';
import { eventually } from '../../support/eventually.ts';
import { createAuthority } from '../../support/pki.ts';
import { programFile } from '../../support/program-file.ts';
import { startEnvironment } from '../operator/operator-environment.ts';
import { writeStatus } from './environment/served-cluster.ts';

const namespace = 'cli-logs';
let kubelet: Server;
const asked: URL[] = [];
/** What the kubelet sent last: the operator may log more since. */
let sent: readonly string[] = [];
/** As the log of a container that runs. */
let staysOpen = false;

const { world: cluster, reader, staticExport, start } = await startEnvironment({ namespaces: [namespace] });
// The library of Kubernetes reads it from this process itself.
process.env['KUBECONFIG'] = cluster.controlPlane.kubeconfig;
await cluster.apply(staticExport('docs'), staticExport('other'));
const operator = await start();
await reader.awaitCondition('docs', 'Ready', 'True', 'Published');
await reader.awaitCondition('other', 'Ready', 'True', 'Published');
await startKubelet();
after(() => kubelet.close());

/** A node, and a pod of the operator's Deployment on it. */
async function startKubelet(): Promise<void> {
  const { certificatePem, keyPem } = await (await createAuthority()).issueServer({
    dns: ['node'],
    ips: ['127.0.0.1'],
  });
  kubelet = createServer({ cert: certificatePem, key: keyPem }, (request, response) => {
    asked.push(new URL(request.url ?? '/', 'https://node'));
    sent = [...operator.log, 'a line of Node'];
    response.write(sent.map((line) => `${line}\n`).join(''));
    if (!staysOpen) response.end();
  });
  await new Promise<void>((resolve) => kubelet.listen(0, '127.0.0.1', resolve));
  const { port } = kubelet.address() as AddressInfo;
  const { api, apply, operatorNamespace } = cluster;
  await apply({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'node' } });
  const endpoints = {
    addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
    daemonEndpoints: { kubeletEndpoint: { Port: port } },
  };
  await api.patch('node', 'node', { status: endpoints }, { subresource: 'status' });
  const [deployment] = await api.list('deployment', operatorNamespace);
  const { labels } = deployment.spec.template.metadata;
  const [{ name, image }] = deployment.spec.template.spec.containers;
  await apply(
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace: operatorNamespace } },
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'operator-0', namespace: operatorNamespace, labels },
      spec: { nodeName: 'node', automountServiceAccountToken: false, containers: [{ name, image }] },
    },
  );
  await writeStatus(cluster, 'pod', operatorNamespace, 'operator-0', { phase: 'Running' });
}

const run = (...args: readonly string[]): Promise<CommandResult> => runInProcess([...args, '-n', namespace]);

test('events shows those of one StaticExport, the newest last', async () => {
  // The operator may write events after it reports Ready.
  const { code, stdout, stderr } = await eventually('both events are there', async () => {
    const result = await run('events', 'docs', '-o', 'json');
    return result.code !== 0 || JSON.parse(result.stdout).events.length >= 2 ? result : undefined;
  });
  assert.equal(code, 0, stderr);
  const { events } = JSON.parse(stdout);
  const reasons = events.map(({ reason }: { reason: string }) => reason);
  assert.deepEqual(reasons, ['ExportStarted', 'Promoted']);
  assert.ok(events.every(({ message }: { message: string }) => !message.includes('other')));
  assert.match(
    (await run('events', 'docs')).stdout,
    /^Normal {3}ExportStarted {2}\d{4}-\S+Z \((?:now|\d+ \S+ ago)\)\n {2}Export job/,
  );
  await cluster.apply(staticExport('quiet', { suspend: true }));
  assert.match((await run('events', 'quiet')).stdout, /^There are no events\./);
});

test('logs shows what the operator logged about one StaticExport, and nothing of another', async () => {
  const { code, stdout, stderr } = await run('logs', 'docs', '-o', 'json');
  assert.equal(code, 0, stderr);
  const { lines } = JSON.parse(stdout);
  assert.ok(lines.some(({ message }: { message: string }) => message === 'published'));
  assert.ok(lines.every(({ object }: { object: string }) => object === `${namespace}/docs`));
  assert.equal(lines.length, sent.filter((line) => line.includes(`"${namespace}/docs"`)).length);
  assert.equal(asked[0]?.searchParams.get('sinceSeconds'), '3600');
  const text = (await run('logs', 'docs', '--tail', '1', '--since', '2h')).stdout;
  assert.match(text, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ [A-Z]+ +\S.*\n$/);
  assert.equal(asked[1]?.searchParams.get('sinceSeconds'), '7200');
});

test('logs --follow prints lines as they come, as text only', async () => {
  const { code, stdout, stderr } = await run('logs', 'docs', '--follow');
  assert.equal(code, 0, stderr);
  assert.match(stdout, / published .*version=/);
  assert.match(stderr, /The logs ended/);
  assert.equal(asked.at(-1)?.searchParams.get('follow'), 'true');
  const refused = await run('logs', 'docs', '--follow', '-o', 'json');
  assert.deepEqual([refused.code, JSON.parse(refused.stdout).code], [2, 'FollowsAsText']);
});

test('a reader that has enough of logs --follow changes no exit code', async (t) => {
  staysOpen = true;
  t.after(() => {
    staysOpen = false;
  });
  const words = [programFile('static-export'), 'logs', 'docs', '--follow', '-n', namespace];
  const env = { ...process.env, KUBECONFIG: cluster.controlPlane.kubeconfig };
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'ignore'], env });
  t.after(() => child.kill('SIGKILL'));
  const exited = once(child, 'exit');
  child.stdout.destroy();
  assert.deepEqual(await exited, [0, null]);
});

test('a user who may not read the logs is told the permission', async () => {
  const { code, stdout } = await run(
    'logs',
    'docs',
    '-o',
    'json',
    '--as',
    'system:serviceaccount:cli-logs:x',
  );
  const { code: reason, message } = JSON.parse(stdout);
  assert.deepEqual([code, reason], [8, 'Forbidden']);
  assert.match(message, /^you have no permission to get staticexports/);
});

test('text that somebody wrote into a status is escaped', async () => {
  const { conditions } = (await cluster.api.read('sx', 'docs', namespace)).status;
  const message = 'Their\u001b[2J \u202e\u009b';
  // No operator manages an object of another instance.
  const foreign = { 'staticexport.dev/instance': 'another' };
  await cluster.apply(staticExport('hostile', {}, { labels: foreign }));
  await writeStatus(cluster, 'sx', namespace, 'hostile', {
    observedGeneration: 1,
    conditions: conditions.map((one: object) => ({ ...one, message })),
    active: { version: 'v\u001b[2J', jobId: 'j' },
  });
  for (const format of ['text', 'json', 'yaml']) {
    const shown = (await run('status', 'hostile', '-o', format)).stdout;
    assert.match(shown, /Their/);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that must not be there.
    assert.doesNotMatch(shown, /[\u001b\u009b\u202e]/);
  }
});

test('a selector that is not valid and a NAME in all namespaces are wrong usage', async () => {
  for (const [words, code] of [
    [['get', '-l', 'a in (b'], 'InvalidSelector'],
    [['get', 'docs', '-A'], 'NameInAllNamespaces'],
  ] as const) {
    const found = await run(...words, '-o', 'json');
    assert.deepEqual([found.code, JSON.parse(found.stdout).code], [2, code]);
  }
});

test('get -o wide adds columns, and -o name prints what kubectl prints', async () => {
  assert.match((await run('get', '-o', 'wide')).stdout, /^NAME +READY .*JOB .*DOMAIN .*DIGEST\ndocs +True/);
  const { stdout } = await cluster.kubectl(['get', 'sx', '-n', namespace, '-o', 'name']);
  assert.equal((await run('get', '-o', 'name')).stdout, stdout);
  assert.equal((await run('suspend', 'other', '-o', 'name')).stdout, 'staticexport.staticexport.dev/other\n');
  assert.equal((await run('status', 'docs', '-o', 'name')).code, 2);
});
