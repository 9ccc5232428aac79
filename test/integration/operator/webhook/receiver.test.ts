// The receiver as a process on a real API server, with exactly the chart's permissions and its admission policy: each
// scheme, each refusal, the limits, and what its account may change.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { eventually } from '../../../support/eventually.ts';
import { declareSecret } from '../../../support/secret-watch.ts';
import { hmacHex, signStandard } from '../../../unit/operator/webhook/signing.ts';
import { type ChartedCluster, startChartedCluster } from '../charted-cluster.ts';
import {
  type ReceiverProcess,
  receiverAccount,
  receiverKubeconfig,
  startReceiver,
} from './receiver-process.ts';

const namespace = 'receiver';
const secret = declareSecret('the secret of the hook', 'whsec_dGhlLXNoYXJlZC1zZWNyZXQtb2YtdGhlLXRlc3Q=');
const body = '{"ref":"refs/heads/main","pusher":"name-in-the-body"}';
declareSecret('the body of a hook', 'name-in-the-body');
const otherSecret = declareSecret('the other secret', 'another-secret');
const bytes = Buffer.from(body);
const key = 'staticexport.dev/hookRequestedAt';
const hook = (name: string, spec: object = {}) => ({
  apiVersion: 'staticexport.dev/v1alpha1',
  kind: 'StaticExport',
  metadata: { name, namespace, labels: { team: 'a' }, annotations: { 'example.com/note': 'kept' } },
  spec: { domain: `${name}.example.com`, api: { keySecretRef: { name: 'export-api' } }, ...spec },
});
const trigger = (name: string, ref: object = {}) => ({
  trigger: { webhook: { secretRef: { name, ...ref } } },
});
const secretObject = (name: string, data: Record<string, string>) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace },
  stringData: data,
});

let world: ChartedCluster;
let kubeconfig: string;
let receiver: ReceiverProcess;

before(async () => {
  world = await startChartedCluster({
    namespaces: [namespace, 'team-b'],
    watchNamespaces: [namespace],
    webhook: { enabled: true, secretNames: ['docs-hook', 'empty-hook', 'gone-hook'] },
  });
  await world.apply(
    ...[
      secretObject('docs-hook', { secret, other: otherSecret }),
      secretObject('empty-hook', { secret: '' }),
    ],
    ...[secretObject('unnamed-hook', { secret }), hook('docs', trigger('docs-hook')), hook('plain')],
    ...[hook('other-key', trigger('docs-hook', { key: 'other' })), hook('no-secret', trigger('gone-hook'))],
    ...[hook('empty', trigger('empty-hook')), hook('unnamed', trigger('unnamed-hook'))],
    hook('no-key', trigger('docs-hook', { key: 'absent' })),
    { ...hook('docs', trigger('docs-hook')), metadata: { name: 'docs', namespace: 'team-b' } },
  );
  kubeconfig = await receiverKubeconfig(world);
  receiver = await startReceiver(kubeconfig, ['--client-rate=100000']);
});

after(async () => {
  await receiver?.child.stop();
  await world?.stop();
});

const good = {
  'X-Hub-Signature-256': `sha256=${declareSecret('the signature of a hook', hmacHex(secret, bytes))}`,
};

async function read(name: string) {
  const { stdout } = await world.kubectl([
    'get',
    'sx',
    name,
    '-n',
    namespace,
    '-o',
    'json',
    '--show-managed-fields',
  ]);
  return JSON.parse(stdout);
}

async function accepted(name: string, headers: Record<string, string>): Promise<string> {
  const before = (await read(name)).metadata.annotations[key];
  const answer = await receiver.post(`/hooks/${namespace}/${name}`, headers, body);
  assert.deepEqual(
    [answer.status, answer.text],
    [202, '{"status":"accepted"}'],
    receiver.log.slice(-3).join('\n'),
  );
  const { metadata } = await read(name);
  assert.notEqual(metadata.annotations[key], before);
  assert.match(metadata.annotations[key], /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.equal(metadata.annotations['example.com/note'], 'kept');
  const manager = metadata.managedFields.find(
    (one: { manager: string }) => one.manager === 'static-export-webhook',
  );
  assert.deepEqual(manager.fieldsV1, { 'f:metadata': { 'f:annotations': { [`f:${key}`]: {} } } });
  return metadata.annotations[key];
}

test('each scheme is accepted, and the annotation is the only field that changes', async () => {
  await accepted('docs', good);
  await accepted('docs', { 'X-Signature': `sha256=${hmacHex(secret, bytes)}` });
  await accepted('docs', { 'X-Gitlab-Token': secret });
  await accepted('docs', signStandard(secret, bytes, { now: Date.now() }));
  await accepted('other-key', { 'X-Gitlab-Token': otherSecret });
});

test('every refused request gets the same bytes, whatever exists, and changes nothing', async () => {
  const before = await world.api.list('sx', namespace);
  const now = Date.now();
  const wrong = '0'.repeat(64);
  const cases: readonly (readonly [string, Record<string, string>])[] = [
    [`${namespace}/docs`, { 'X-Hub-Signature-256': `sha256=${wrong}` }],
    [`${namespace}/docs`, { 'X-Signature': `sha256=${hmacHex('other', bytes)}` }],
    [`${namespace}/docs`, { 'X-Gitlab-Token': `${secret}x` }],
    [`${namespace}/docs`, signStandard('whsec_b3RoZXI=', bytes, { now })],
    [`${namespace}/docs`, signStandard(secret, bytes, { now: now - 310_000 })],
    [`${namespace}/docs`, signStandard(secret, bytes, { now: now + 330_000 })],
    [`${namespace}/docs`, { 'X-Hub-Signature': `sha1=${wrong.slice(24)}` }],
    [`${namespace}/docs`, {}],
    [`${namespace}/absent`, good],
    [`${namespace}/plain`, good],
    [`${namespace}/no-secret`, good],
    [`${namespace}/no-key`, good],
    [`${namespace}/empty`, { 'X-Gitlab-Token': ' ' }],
    [`${namespace}/empty`, { 'X-Hub-Signature-256': `sha256=${hmacHex('', bytes)}` }],
    [`${namespace}/unnamed`, good],
    ['team-b/docs', good],
    ['no-such-namespace/docs', good],
    [`${namespace}/%2e%2e%2fsecrets`, good],
    [`UPPER/docs`, good],
  ];
  const seen = new Set<string>();
  for (const [path, headers] of cases) {
    const answer = await receiver.post(`/hooks/${path}`, headers, body);
    assert.equal(answer.status, 401, path);
    seen.add(JSON.stringify(answer));
  }
  assert.equal(seen.size, 1, [...seen].join('\n'));
  assert.deepEqual(await world.api.list('sx', namespace), before);
});

test('limits hold before the cluster is read: a large body, a busy client, another method', async () => {
  const limited = await startReceiver(kubeconfig, ['--client-rate=5', '--max-body=1KiB']);
  const reads = () => limited.log.filter((line) => line.includes('"unauthorized"')).length;
  assert.equal((await limited.post(`/hooks/${namespace}/docs`, good, 'x'.repeat(1025))).status, 413);
  assert.equal((await fetch(`${limited.url}/hooks/${namespace}/docs`)).status, 405);
  assert.equal(reads(), 0);
  const statuses: number[] = [];
  for (let sent = 0; sent < 8; sent += 1)
    statuses.push((await limited.post(`/hooks/${namespace}/absent`, good, body)).status);
  assert.deepEqual(statuses, [401, 401, 401, 401, 401, 429, 429, 429]);
  // A log line and a count may come after the answer.
  await eventually('the log and metrics of each request', async () => {
    assert.equal(reads(), 5);
    const metrics = await limited.metrics();
    for (const [outcome, count] of [
      ['too_large', 1],
      ['invalid', 1],
      ['unauthorized', 5],
      ['limited', 3],
    ] as const)
      assert.match(
        metrics,
        new RegExp(`webhook_receiver_requests_total\\{outcome="${outcome}"\\} ${count}\\n`),
      );
    assert.match(metrics, /webhook_receiver_request_seconds_count\{outcome="limited"\} 3/);
    return true;
  });
  await limited.child.stop();
});

test("the admission policy refuses every other change by the receiver's account", async () => {
  const patch = (change: object, ...more: readonly string[]) =>
    world.controlPlane.kubectl(
      ['patch', 'sx', 'docs', '-n', namespace, '--type=merge', '-p', JSON.stringify(change), ...more],
      { kubeconfig },
    );
  const before = await read('docs');
  for (const [change, words] of [
    [{ spec: { suspend: true } }, /must not change spec and status/],
    [{ spec: { domain: 'evil.example.com' } }, /must not change spec and status/],
    [{ metadata: { labels: { team: 'b' } } }, /must not change labels/],
    [{ metadata: { labels: null } }, /must not change labels/],
    [{ metadata: { finalizers: ['example.com/f'] } }, /must not change labels, finalizers/],
    [
      { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Secret', name: 'x', uid: '1' }] } },
      /owner references/,
    ],
    [{ metadata: { annotations: { 'staticexport.dev/requestedAt': 'now' } } }, /no annotation but/],
    [{ metadata: { annotations: { 'staticexport.dev/promote': 'v' } } }, /no annotation but/],
    [{ metadata: { annotations: { 'example.com/note': null } } }, /no annotation but/],
    [{ metadata: { annotations: { 'example.com/note': 'changed' } } }, /no annotation but/],
    [{ metadata: { annotations: null } }, /no annotation but/],
    [{ metadata: { annotations: { [key]: 'x'.repeat(65) } } }, /at most 64 characters/],
  ] as const) {
    const { code, stderr } = await patch(change);
    assert.notEqual(code, 0, JSON.stringify(change));
    assert.match(stderr, /ValidatingAdmissionPolicy|denied/, JSON.stringify(change));
    assert.match(stderr, words, JSON.stringify(change));
  }
  const status = await patch({ status: { hook: null } }, '--subresource=status');
  assert.match(status.stderr, /forbidden/i);
  for (const verb of [
    ['delete', 'sx', 'docs'],
    ['get', 'sx'],
    ['get', 'secret', 'unnamed-hook'],
    ['get', 'secrets'],
    ['get', 'configmaps'],
  ]) {
    const { code } = await world.controlPlane.kubectl([...verb, '-n', namespace], { kubeconfig });
    assert.notEqual(code, 0, verb.join(' '));
  }
  const created = JSON.stringify(hook('made', {}));
  const apply = ['apply', '--server-side', '-f', '-'];
  assert.notEqual((await world.controlPlane.kubectl(apply, { kubeconfig, input: created })).code, 0);
  assert.deepEqual((await read('docs')).metadata.resourceVersion, before.metadata.resourceVersion);
  assert.equal((await patch({ metadata: { annotations: { [key]: 'token' } } })).code, 0);
});

test('the admission policy keeps every owner of a field, and gives no field to another', async () => {
  const name = 'shared';
  const shared = hook(name, trigger('docs-hook'));
  const applyAs = (manager: string, object: object, more: object = {}) =>
    world.controlPlane.kubectl(
      ['apply', '--server-side', '--force-conflicts', `--field-manager=${manager}`, '-f', '-'],
      { input: JSON.stringify(object), ...more },
    );
  for (const manager of ['kubectl', 'gitops']) assert.equal((await applyAs(manager, shared)).code, 0);
  /** Each owner and its fields, without the annotation of the receiver. */
  const ownersOf = async () => {
    const owners: readonly object[] = (await read(name)).metadata.managedFields ?? [];
    return owners
      .map((owner) => JSON.stringify({ ...owner, time: '' }).replaceAll(`"f:${key}":{}`, ''))
      .filter((owner) => !owner.includes('"fieldsV1":{"f:metadata":{"f:annotations":{}}}'))
      .sort();
  };
  const patch = (change: object, ...more: readonly string[]) =>
    world.controlPlane.kubectl(
      ['patch', 'sx', name, '-n', namespace, '--type=merge', '-p', JSON.stringify(change), ...more],
      { kubeconfig },
    );
  const before = await ownersOf();
  assert.equal(before.length, 2);
  const [first, ...others] = (await read(name)).metadata.managedFields;
  const thief = { ...first, manager: 'thief' };
  const own = { ...first, manager: 'static-export-webhook', operation: 'Update' };
  const ofKey = { 'f:metadata': { 'f:annotations': { [`f:${key}`]: {} } } };
  const annotated = { annotations: { [key]: 'token' } };
  for (const managedFields of [[{}], [first], others, [thief, ...others], [first, ...others, own]]) {
    for (const metadata of [{ managedFields }, { managedFields, ...annotated }]) {
      const { stderr } = await patch({ metadata });
      assert.match(stderr, /must not change who owns the other fields/, JSON.stringify(managedFields));
      assert.deepEqual(await ownersOf(), before);
    }
  }
  // By this apply the manager lets go of all that another manager owns too.
  const { apiVersion, kind } = shared;
  const token = { apiVersion, kind, metadata: { name, namespace, ...annotated } };
  const applied = await applyAs('gitops', token, { kubeconfig });
  assert.match(applied.stderr, /must not change who owns the other fields/);
  // The receiver takes its annotation even from a person who owns nothing else.
  await world.kubectl(['annotate', 'sx', name, '-n', namespace, `${key}=by-hand`]);
  await accepted(name, good);
  assert.deepEqual(await ownersOf(), before);
  // Owners of the annotation alone do not count as managers that the Kubernetes API server may merge.
  const fakes = Array.from({ length: 10 }, (_one, count) => ({
    ...own,
    manager: `m${count}`,
    fieldsV1: ofKey,
  }));
  await patch({ metadata: { managedFields: [first, ...others, ...fakes], ...annotated } });
  assert.match((await patch({ metadata: { managedFields: [{}] } })).stderr, /must not change who owns/);
  assert.deepEqual(await ownersOf(), before);
});

test('an object with more managers than the Kubernetes API server keeps still takes hooks', async () => {
  const ofCrowded = ['sx', 'crowded', '-n', namespace];
  await world.apply(hook('crowded', trigger('docs-hook')));
  for (let count = 0; count < 10; count += 1) {
    await world.kubectl(['label', ...ofCrowded, `example.com/l${count}=v`, `--field-manager=m${count}`]);
  }
  await accepted('crowded', good);
  const owners: readonly { manager: string }[] = (await read('crowded')).metadata.managedFields;
  assert.ok(owners.some(({ manager }) => manager === 'ancient-changes'));
  const managedFields = owners.filter(({ manager }) => manager !== 'kubectl');
  const change = JSON.stringify({ metadata: { managedFields } });
  const patch = ['patch', ...ofCrowded, '--type=merge', '-p', change];
  const { stderr } = await world.controlPlane.kubectl(patch, { kubeconfig });
  assert.match(stderr, /must not change who owns the other fields/, 'owners by apply are never merged');
});

test('the policy does not concern other accounts', async () => {
  await world.kubectl(['label', 'sx', 'docs', '-n', namespace, '--overwrite', 'team=a2']);
  assert.equal((await read('docs')).metadata.labels.team, 'a2');
});

test('without permission even a wider role changes nothing else', async () => {
  const rules = [{ apiGroups: ['staticexport.dev'], resources: ['*'], verbs: ['*'] }];
  const api = 'rbac.authorization.k8s.io';
  await world.apply(
    { apiVersion: `${api}/v1`, kind: 'Role', metadata: { name: 'wide', namespace }, rules },
    {
      ...{ apiVersion: `${api}/v1`, kind: 'RoleBinding', metadata: { name: 'wide', namespace } },
      roleRef: { apiGroup: api, kind: 'Role', name: 'wide' },
      subjects: [
        {
          kind: 'ServiceAccount',
          name: receiverAccount(world),
          namespace: world.operatorNamespace,
        },
      ],
    },
  );
  const as = (args: readonly string[], input?: string) =>
    world.controlPlane.kubectl([...args, '-n', namespace], {
      kubeconfig,
      ...(input !== undefined && { input }),
    });
  await eventually('the wider role', async () => (await as(['get', 'sx'])).code === 0 || undefined);
  for (const [args, input] of [
    [['delete', 'sx', 'plain']],
    [
      [
        'patch',
        'sx',
        'docs',
        '--subresource=status',
        '--type=merge',
        '-p',
        '{"status":{"hook":null,"pages":7}}',
      ],
    ],
    [['apply', '--server-side', '-f', '-'], JSON.stringify(hook('made', {}))],
  ] as const) {
    const { code, stderr } = await as(args, input);
    assert.notEqual(code, 0, args.join(' '));
    assert.match(stderr, /This account may only update StaticExports/, args.join(' '));
  }
  await world.kubectl(['delete', 'rolebinding', 'wide', '-n', namespace]);
});

test('a replayed Standard Webhooks request is accepted and harmless, and one after its window is not', async () => {
  const headers = signStandard(secret, bytes, { now: Date.now() - 285_000 });
  await accepted('docs', headers);
  await eventually(
    'the end of the window',
    async () => (await receiver.post(`/hooks/${namespace}/docs`, headers, body)).status === 401 || undefined,
  );
});

test('a request for an export is logged, and hooks that cannot be verified are named once', async () => {
  await receiver.metrics();
  assert.ok(receiver.log.some((line) => line.includes('an export is requested')));
  const configured = receiver.log.filter((line) =>
    line.includes('no hook of this StaticExport can be verified'),
  );
  assert.ok(configured.length >= 3 && configured.length <= 8, configured.join('\n'));
});

test('a stopped API server is a 503 that asks for a retry, and SIGTERM ends the receiver with 0', async () => {
  const server = new URL(world.controlPlane.server).host;
  const path = join(world.folder, 'away');
  await writeFile(path, (await readFile(kubeconfig, 'utf8')).replaceAll(server, '127.0.0.1:1'));
  const away = await startReceiver(path, ['--cluster-timeout=2s']);
  const answer = await away.post(`/hooks/${namespace}/docs`, good, body);
  assert.deepEqual([answer.status, answer.text], [503, '{"error":"unavailable"}']);
  assert.match(answer.fields['retry-after'] ?? '', /^\d+$/);
  // The server has this request before the signal comes, because it asks for the body.
  const under = request(`${away.url}/hooks/${namespace}/docs`, {
    method: 'POST',
    headers: { ...good, Expect: '100-continue', 'Content-Length': bytes.length },
  });
  under.flushHeaders();
  await once(under, 'continue');
  const stopped = away.child.stop();
  under.end(body);
  const [last] = await once(under, 'response');
  last.resume();
  assert.equal(last.statusCode, 503, 'a request under way gets its answer');
  await stopped;
  assert.equal(await away.child.exited, 0);
});
