// What is read of pods and Deployments: the objects that a pod uses, why it does not run, the flags of its programs.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { managedDataKeys } from '#cli/cluster/object-metadata.ts';
import { readLeaseKey, readOperator } from '#cli/cluster/operators.ts';
import { serverOf } from '#cli/cluster/servers.ts';
import { flagOf, readDeployment, readPod, tagOf } from '#cli/cluster/workloads.ts';
import type { StaticExportObject } from '#platform/wire/cluster.ts';

function object(spec: unknown, status: unknown = undefined): StaticExportObject {
  const names = { namespace: 'docs', name: 'docs-0', uid: 'u', resourceVersion: '1' };
  return { metadata: { ...names, annotations: {}, labels: {}, ownerReferences: [] }, spec, status };
}

test('a pod uses what it mounts, also by a projected volume, and what its environment names', () => {
  const { secrets, configMaps } = readPod(
    object({
      containers: [
        {
          name: 'a',
          env: [{ name: 'V', valueFrom: { secretKeyRef: { name: 'by-variable', key: 'k' } } }],
          envFrom: [{ configMapRef: { name: 'by-env' } }],
        },
      ],
      volumes: [
        { name: 'a', secret: { secretName: 'mounted' } },
        { name: 'b', projected: { sources: [{ secret: { name: 'projected' } }] } },
        { name: 'c', configMap: { name: 'values' } },
        { name: 'd', emptyDir: {} },
      ],
    }),
  );
  assert.deepEqual([...secrets], ['mounted', 'projected', 'by-variable']);
  assert.deepEqual([...configMaps], ['values', 'by-env']);
});

test('a pod whose container crashes names that, and not that it runs', () => {
  const statuses = [{ restartCount: 4, state: { waiting: { reason: 'CrashLoopBackOff' } } }];
  const pod = readPod(object({ containers: [] }, { phase: 'Running', containerStatuses: statuses }));
  assert.deepEqual([pod.state, pod.restarts, pod.isReady], ['CrashLoopBackOff', 4, false]);
});

test('a container that does not run is named with its reason, sidecars included', () => {
  const state = (reason: string) => ({ waiting: { reason } });
  const pod = readPod(
    object(
      { containers: [] },
      {
        phase: 'Running',
        containerStatuses: [
          { name: 'app', state: state('CrashLoopBackOff') },
          { name: 'web', state: { running: {} } },
        ],
        initContainerStatuses: [{ name: 'server', state: { terminated: { reason: 'Error' } } }],
      },
    ),
  );
  assert.equal(pod.phase, 'Running');
  assert.deepEqual(
    [...pod.stopped],
    [
      ['app', 'CrashLoopBackOff'],
      ['server', 'Error'],
    ],
  );
});

const expression = (key: string, operator: string, values?: readonly string[]) => ({ key, operator, values });
const selectors = [
  ['labels', { matchLabels: { app: 'sx', tier: 'x' } }, 'app=sx,tier=x'],
  [
    'expressions',
    {
      matchExpressions: [
        expression('app', 'In', ['a', 'b']),
        expression('tier', 'NotIn', ['x']),
        expression('live', 'Exists'),
        expression('old', 'DoesNotExist'),
      ],
    },
    'app in (a,b),tier notin (x),live,!old',
  ],
  ['both', { matchLabels: { app: 'sx' }, matchExpressions: [expression('live', 'Exists')] }, 'app=sx,live'],
  ['neither', {}, undefined],
  ['no selector', undefined, undefined],
  [
    'an unknown operator',
    { matchLabels: { app: 'sx' }, matchExpressions: [expression('a', 'Gt')] },
    undefined,
  ],
] as const;
for (const [name, selector, expected] of selectors) {
  test(`a Deployment whose selector has ${name} ${expected ? 'selects its own pods' : 'is left out'}`, () => {
    assert.equal(readDeployment(object({ selector }))?.selector, expected);
  });
}

test('a spec of another shape reads as an empty pod', () => {
  for (const spec of [undefined, {}, { containers: 'x', volumes: 3 }]) {
    assert.deepEqual(readPod(object(spec)).containers, []);
  }
  const labels = { matchLabels: { app: 'sx' } };
  assert.equal(readDeployment(object({ replicas: 'many', selector: labels }))?.wantedReplicas, 1);
});

const servers = [
  ['the image of this project', { name: 's', args: ['bundle-server', '--store=/s'] }, 9090],
  ['a named port', { name: 's', args: ['bundle-server'], ports: [{ name: 'admin', containerPort: 7 }] }, 7],
  ['a flag', { name: 's', args: ['bundle-server', '--admin-listen', '[::]:8081'] }, 8081],
  ['its own program', { name: 's', command: ['node', '/app/bundle-server.mjs'] }, 9090],
] as const;
for (const [name, container, port] of servers) {
  test(`a bundle server is recognised by ${name}`, () => {
    assert.equal(serverOf(readPod(object({ containers: [{ name: 'web' }, container] })))?.adminPort, port);
  });
}

test('a bundle server that is a sidecar among the init containers is recognised, and nginx is not', () => {
  const sidecar = { name: 's', args: ['bundle-server'], restartPolicy: 'Always' };
  assert.ok(serverOf(readPod(object({ containers: [{ name: 'web' }], initContainers: [sidecar] }))));
  assert.equal(
    serverOf(readPod(object({ containers: [{ name: 'nginx', image: 'nginx:1.29.0' }] }))),
    undefined,
  );
});

test("an operator's scope and lease are those of its flags", () => {
  const args = ['operator', '--lease-name=sx', '--watch-namespaces=a, b', '--instance', 'blue'];
  const container = { name: 'operator', image: 'r:5000/sx:0.2.0@sha256:00', args };
  const selector = { matchLabels: { app: 'sx' } };
  const deployment = readDeployment(object({ selector, template: { spec: { containers: [container] } } }));
  assert.ok(deployment !== undefined);
  const [found] = readOperator(deployment);
  assert.deepEqual(
    [found?.lease, found?.watchNamespaces, found?.instance, found?.version],
    [{ namespace: 'docs', name: 'sx' }, ['a', 'b'], 'blue', '0.2.0'],
  );
});

test('the last value of a flag counts', () => {
  assert.equal(flagOf(['--a=1', '--a=2=3'], 'a'), '2=3');
  assert.equal(flagOf(['--ab=1'], 'a'), undefined);
  assert.equal(flagOf(['--a'], 'a'), undefined);
});

test('a version is read from a tag, never from a port, a digest or a word', () => {
  assert.equal(tagOf('localhost:5000/x:v1.2.3'), '1.2.3');
  for (const image of ['localhost:5000/x', 'x:latest', 'x@sha256:0123', '']) {
    assert.equal(tagOf(image), undefined, image);
  }
});

test('managed fields name the keys of a Secret without its data', () => {
  const entry = (fields: object) => ({ manager: 'm', fieldsV1: fields });
  const managed = (...entries: readonly object[]) => ({ metadata: { managedFields: entries } });
  const two = managed(entry({ 'f:data': { '.': {}, 'f:apiKey': {} } }), entry({ 'f:data': { 'f:b': {} } }));
  assert.deepEqual(managedDataKeys(two), ['apiKey', 'b']);
  assert.deepEqual(managedDataKeys(managed(entry({ 'f:stringData': { 'f:apiKey': {} } }))), ['apiKey']);
  assert.equal(managedDataKeys(managed({}, entry({ 'f:type': {} }))), undefined);
  assert.equal(managedDataKeys('text'), undefined);
});

test('a lease of a status that is not namespace and name is not read', () => {
  assert.deepEqual(readLeaseKey('ns/name'), { namespace: 'ns', name: 'name' });
  for (const text of [undefined, '', 'x', 'a/', '/b', 'a/b/c']) assert.equal(readLeaseKey(text), undefined);
});
