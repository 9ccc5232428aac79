// The webhook receiver of the operator's chart: its pod, what it may read and write, who may reach it, and what is refused
// at render.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { webhookReceiverProgram } from '#operator/webhook/program.ts';
import { readInvocation } from '#platform/runtime/flags/flags.ts';
import { version } from '#platform/runtime/version.ts';
import { argsOf, chart, full, pick, render } from './operator-chart.ts';
import { RenderedObject, renderChart, runHelm } from './rendered-chart.ts';

const name = `${full}-webhook`;

test('without webhook.enabled nothing of the receiver is rendered', async () => {
  for (const objects of [await render('vendor'), await render('everything')])
    assert.deepEqual(
      objects.filter(({ id }) => id.includes('webhook')).map(({ id }) => id),
      [],
    );
});

test('its program understands the flags of the chart', async () => {
  const own = argsOf(await render('webhook'), name).filter((flag) => !flag.startsWith('--log-level='));
  assert.equal(own[0], 'webhook-receiver');
  const invocation = readInvocation(webhookReceiverProgram, version, own.slice(1), {});
  assert.ok(invocation.outcome === 'run', invocation.outcome === 'run' ? '' : invocation.text);
  const { clientRate, maxBody, trustedProxies, maxConcurrent } = invocation.values;
  assert.deepEqual([clientRate, maxBody, maxConcurrent], [300, 1024 ** 2, 10]);
  assert.deepEqual(trustedProxies, ['10.0.0.0/8', 'fd00::/8']);
});

test('its pods meet the restricted standard, and its probes use the admin port', async () => {
  const deployment = pick(await render('webhook'), `Deployment/${name}`);
  const pod = new RenderedObject(deployment.at('spec.template'));
  assert.equal(pod.at('spec.securityContext.runAsNonRoot'), true);
  assert.equal(pod.at('spec.securityContext.seccompProfile.type'), 'RuntimeDefault');
  assert.deepEqual(pod.at('spec.containers.0.securityContext'), {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  });
  assert.deepEqual(pod.at('spec.containers.0.readinessProbe.httpGet'), { path: '/readyz', port: 'admin' });
  assert.deepEqual(pod.at('spec.containers.0.ports'), [
    { name: 'http', containerPort: 8580 },
    { name: 'admin', containerPort: 8581 },
  ]);
  assert.equal(pod.at('spec.serviceAccountName'), name);
  assert.equal(pod.at('metadata.labels.tier'), 'hooks');
  assert.equal(pod.at('metadata.annotations.note'), 'receiver');
  assert.doesNotMatch(JSON.stringify(pod.json), /helm\.sh\/chart|app\.kubernetes\.io\/version/);
});

test('it may get and patch StaticExports, and get the named Secrets, in the watched namespaces', async () => {
  const wanted = [
    { apiGroups: ['staticexport.dev'], resources: ['staticexports'], verbs: ['get', 'patch'] },
    { apiGroups: [''], resources: ['secrets'], resourceNames: ['docs-hook', 'portal-hook'], verbs: ['get'] },
  ];
  const roles = (await render('webhook')).filter(({ id }) => id === `Role/${name}`);
  assert.deepEqual(
    roles.map((role) => role.at('metadata.namespace')),
    ['docs', 'team-b'],
  );
  for (const role of roles) assert.deepEqual(role.at('rules'), wanted);
  const everywhere = await render('webhook', { values: { watchNamespaces: [] } });
  assert.deepEqual(pick(everywhere, `ClusterRole/${name}`).at('rules'), wanted);
  assert.deepEqual(pick(everywhere, `ClusterRoleBinding/${name}`).at('subjects'), [
    { kind: 'ServiceAccount', name, namespace: 'ops' },
  ]);
  const own = await render('webhook', { values: { rbac: { create: false } } });
  assert.deepEqual(own.filter(({ id }) => /^(Cluster)?Role.*webhook/.test(id)).length, 0);
});

test('the admission policy is bound, and concerns the account of the receiver alone', async () => {
  const objects = await render('webhook');
  const policy = pick(objects, `ValidatingAdmissionPolicy/ops-${name}`);
  assert.equal(
    policy.at('spec.matchConditions.0.expression'),
    `request.userInfo.username == 'system:serviceaccount:ops:${name}'`,
  );
  const binding = pick(objects, `ValidatingAdmissionPolicyBinding/ops-${name}`);
  assert.equal(binding.at('spec.policyName'), policy.at('metadata.name'));
  const without = await render('webhook', { values: { webhook: { admissionPolicy: { create: false } } } });
  assert.ok(without.every(({ id }) => !id.startsWith('ValidatingAdmission')));
});

test('Services, Ingress, HTTPRoute, monitor, policy and budget lead to its pods', async () => {
  const objects = await render('webhook');
  const labels = new Map(
    Object.entries(Object(pick(objects, `Deployment/${name}`).at('spec.template.metadata.labels'))),
  );
  const selects = (id: string, path: string): void => {
    const selector = Object.entries(Object(pick(objects, id).at(path)));
    assert.ok(selector.length > 0 && selector.every(([label, value]) => labels.get(label) === value), id);
  };
  selects(`Service/${name}`, 'spec.selector');
  selects(`Service/${name}-admin`, 'spec.selector');
  selects(`NetworkPolicy/${name}`, 'spec.podSelector.matchLabels');
  selects(`PodDisruptionBudget/${name}`, 'spec.selector.matchLabels');
  assert.deepEqual(pick(objects, `Ingress/${name}`).at('spec.rules.0.http.paths.0.backend.service'), {
    name,
    port: { name: 'http' },
  });
  assert.equal(pick(objects, `HTTPRoute/${name}`).at('spec.rules.0.backendRefs.0.port'), 8080);
  const admin = pick(objects, `Service/${name}-admin`);
  const monitored = Object.entries(
    Object(pick(objects, `ServiceMonitor/${name}`).at('spec.selector.matchLabels')),
  );
  const has = new Map(Object.entries(Object(admin.at('metadata.labels'))));
  assert.ok(monitored.every(([label, value]) => has.get(label) === value));
  const egress = JSON.stringify(pick(objects, `NetworkPolicy/${name}`).at('spec.egress'));
  assert.doesNotMatch(egress, /"port":80[^8]/, 'the receiver reaches the API server and DNS alone');
});

for (const [words, values, remedy] of [
  ['no Secret is named', { secretNames: [] }, /webhook\.secretNames is empty: name the Secrets/],
  ['an Ingress has no host', { ingress: { enabled: true, hosts: [] } }, /webhook\.ingress\.hosts is empty/],
  [
    'an HTTPRoute has no Gateway',
    { httpRoute: { parentRefs: [] } },
    /webhook\.httpRoute\.parentRefs is empty/,
  ],
  [
    'a label of the selectors is set',
    { podLabels: { 'app.kubernetes.io/name': 'x' } },
    /webhook\.podLabels must not set/,
  ],
  ['a proxy is not an address', { trustedProxies: ['proxy.example.com'] }, /trustedProxies/],
] as const) {
  test(`refused at render: ${words}`, async () => {
    await assert.rejects(render('webhook', { values: { webhook: values } }), remedy);
  });
}

test('a cluster without admission policies is refused, unless the policy is given up', async () => {
  const old = (...more: readonly string[]) =>
    runHelm([
      'template',
      'ops',
      chart,
      '--set=webhook.enabled=true,webhook.secretNames={a}',
      '--kube-version=1.29.4',
      ...more,
    ]);
  const refused = await old();
  assert.match(refused.stderr, /Kubernetes has since 1\.30/);
  assert.equal((await old('--set=webhook.admissionPolicy.create=false')).code, 0);
});

test('the defaults render with only the two required values', async () => {
  const objects = await renderChart(chart, {
    values: { webhook: { enabled: true, secretNames: ['docs-hook'] } },
  });
  assert.ok(objects.some(({ id }) => id.startsWith('Deployment/') && id.endsWith('-webhook')));
  assert.ok(objects.every(({ id }) => !/^(Ingress|HTTPRoute|NetworkPolicy)\//.test(id)));
});
