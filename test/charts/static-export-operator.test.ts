// The operator's chart under many values: what is rendered, who may do what, and what leads where.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { words } from '../support/words.ts';
import { chart, fixture, fixtureNames, full, pick, render } from './operator-chart.ts';
import { RenderedObject, runHelm } from './rendered-chart.ts';

const crd = 'CustomResourceDefinition/staticexports.staticexport.dev';
const ownAlways = (name: string): readonly string[] => [
  `Deployment/${name}`,
  `Pod/${name}-test`,
  `PodDisruptionBudget/${name}`,
  `Role/${name}-lease`,
  `Role/${name}-test`,
  `RoleBinding/${name}-lease`,
  `RoleBinding/${name}-test`,
  `Service/${name}-admin`,
  `ServiceAccount/${name}-test`,
];
const wholeCluster = (name: string): readonly string[] => [
  ...['', '-edit', '-view'].map((suffix) => `ClusterRole/${name}${suffix}`),
  `ClusterRoleBinding/${name}`,
  ...['', 'Binding'].map((suffix) => `ValidatingAdmissionPolicy${suffix}/ops-${name}`),
];
const twice = (id: string): readonly string[] => [id, id];

const rendered: Readonly<Record<string, readonly string[]>> = {
  vendor: [crd, ...ownAlways(full), ...wholeCluster(full), `ServiceAccount/${full}`],
  namespaces: [
    ...[crd, ...ownAlways(full), `ServiceAccount/${full}`],
    ...twice(`Role/${full}`),
    ...twice(`RoleBinding/${full}`),
    ...[`Role/${full}-targets`, `RoleBinding/${full}-targets`],
  ],
  'self-contained': [
    ...[crd, ...ownAlways(full), ...wholeCluster(full), `ServiceAccount/${full}`],
    ...[`Deployment/${full}-export-service`, `Service/${full}-export-service`],
    `Service/${full}-export-admin`,
    ...[`NetworkPolicy/${full}`, `NetworkPolicy/${full}-export-service`],
  ],
  webhook: [
    ...[crd, ...ownAlways(full), `ServiceAccount/${full}`],
    ...twice(`Role/${full}`),
    ...twice(`RoleBinding/${full}`),
    ...twice(`Role/${full}-webhook`),
    ...twice(`RoleBinding/${full}-webhook`),
    ...[`NetworkPolicy/${full}`, `ServiceMonitor/${full}`, `Service/${full}-webhook-admin`],
    ...['Deployment', 'HTTPRoute', 'Ingress', 'NetworkPolicy', 'PodDisruptionBudget', 'Service'].map(
      (kind) => `${kind}/${full}-webhook`,
    ),
    ...[`ServiceAccount/${full}-webhook`, `ServiceMonitor/${full}-webhook`],
    ...['', 'Binding'].map((suffix) => `ValidatingAdmissionPolicy${suffix}/ops-${full}-webhook`),
  ],
  mirror: [
    ...[crd, ...ownAlways(full), ...wholeCluster(full), `ServiceAccount/${full}`],
    `NetworkPolicy/${full}`,
  ],
  everything: [
    ...[crd, ...ownAlways('exporter'), ...wholeCluster('exporter'), 'ServiceAccount/exporter'],
    ...['Deployment', 'NetworkPolicy', 'PersistentVolumeClaim', 'Service'].map(
      (kind) => `${kind}/exporter-export-service`,
    ),
    ...['ConfigMap/exporter-dashboard', 'ConfigMap/from-a-map', 'ConfigMap/ops-from-text'],
    ...['NetworkPolicy/exporter', 'PrometheusRule/exporter', 'Secret/exporter-export-service-keys'],
    ...['ServiceMonitor/exporter', 'ServiceMonitor/exporter-export-service'],
    'Service/exporter-export-admin',
  ],
};

test('every values file has its list of objects', () => {
  assert.deepEqual(Object.keys(rendered).sort(), [...fixtureNames].sort());
});

for (const [name, ids] of Object.entries(rendered)) {
  test(`${name} renders its objects, the same every time, and passes lint`, async () => {
    const [once, again] = await Promise.all([render(name), render(name)]);
    assert.deepEqual(once.map(({ id }) => id).sort(), [...ids].sort());
    assert.deepEqual(
      once.map(({ json }) => json),
      again.map(({ json }) => json),
    );
    const { code, stdout } = await runHelm(['lint', '--strict', chart, `--values=${fixture(name)}`]);
    assert.equal(code, 0, stdout);
  });
}

test('no pod sets a user, every pod meets the restricted standard, and only two have a token', async () => {
  const pods = (await render('everything')).flatMap((object) => {
    const template = object.at('kind') === 'Pod' ? object.json : object.at('spec.template');
    return template === undefined ? [] : [new RenderedObject(template)];
  });
  assert.equal(pods.length, 3);
  for (const pod of pods) {
    assert.doesNotMatch(JSON.stringify(pod.json), /runAsUser|runAsGroup|hostPath|hostNetwork/);
    assert.equal(pod.at('spec.securityContext.runAsNonRoot'), true);
    assert.equal(pod.at('spec.securityContext.seccompProfile.type'), 'RuntimeDefault');
    assert.deepEqual(pod.at('spec.containers.0.securityContext'), {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    assert.equal(typeof pod.at('spec.containers.0.resources.limits.memory'), 'string');
  }
  const tokens = pods.map((pod) => pod.at('spec.automountServiceAccountToken'));
  assert.deepEqual(tokens.sort(), [false, true, true]);
});

test('a new version of the chart alone restarts no pod', async () => {
  for (const object of await render('everything')) {
    const template = object.at('spec.template');
    if (template === undefined) continue;
    assert.doesNotMatch(JSON.stringify(template), /helm\.sh\/chart|kubernetes\.io\/version/);
  }
});

test('each selector of the release matches only its own pods', async () => {
  const objects = await render('everything');
  const podLabels = objects.flatMap((object) => {
    const path = object.at('kind') === 'Pod' ? 'metadata.labels' : 'spec.template.metadata.labels';
    const labels = object.at(path);
    return labels === undefined ? [] : [{ id: object.id, labels: new Map(Object.entries(Object(labels))) }];
  });
  for (const object of objects) {
    const selector = ['Service', 'ServiceMonitor'].includes(String(object.at('kind')))
      ? object.at('spec.selector')
      : (object.at('spec.selector.matchLabels') ?? object.at('spec.podSelector.matchLabels'));
    if (selector === undefined || object.at('kind') === 'ServiceMonitor') continue;
    const taken = podLabels.filter(({ labels }) =>
      Object.entries(Object(selector)).every(([label, value]) => labels.get(label) === value),
    );
    assert.equal(taken.length, 1, `${object.id} takes ${taken.map(({ id }) => id).join(' and ')}`);
  }
});

test('two replicas run on different nodes and zones, and are drained one at a time', async () => {
  const objects = await render('vendor');
  const pod = pick(objects, `Deployment/${full}`);
  assert.equal(pod.at('spec.replicas'), 2);
  const affinity = 'spec.template.spec.affinity.podAntiAffinity';
  const preferred = `${affinity}.preferredDuringSchedulingIgnoredDuringExecution.0.podAffinityTerm`;
  const selector = { matchLabels: pod.at('spec.selector.matchLabels') };
  assert.deepEqual(pod.at(`${preferred}.labelSelector`), selector);
  assert.deepEqual(pod.at('spec.template.spec.topologySpreadConstraints.0.labelSelector'), selector);
  assert.deepEqual(pod.at('spec.strategy.rollingUpdate'), { maxSurge: 1, maxUnavailable: 0 });
  const hard = pick(await render('everything'), 'Deployment/exporter');
  assert.equal(Array.isArray(hard.at(`${affinity}.requiredDuringSchedulingIgnoredDuringExecution`)), true);
  assert.deepEqual(hard.at('spec.strategy.rollingUpdate'), { maxSurge: 0, maxUnavailable: 1 });
  const budget = pick(objects, `PodDisruptionBudget/${full}`);
  assert.equal(budget.at('spec.maxUnavailable'), 1);
  assert.deepEqual(budget.at('spec.selector'), selector);
});

test('the operator requests disk for one archive unless the values set another size', async () => {
  const asked = async (values: object): Promise<unknown> =>
    pick(await render('vendor', { values }), `Deployment/${full}`).at(
      'spec.template.spec.containers.0.resources.requests.ephemeral-storage',
    );
  assert.equal(await asked({}), '1Gi');
  assert.equal(await asked({ inspection: { maxArchiveSize: '512MiB' } }), '512Mi');
  assert.equal(await asked({ resources: { requests: { 'ephemeral-storage': '0' } } }), '0');
  assert.equal(await asked({ resources: { limits: { 'ephemeral-storage': '4Gi' } } }), undefined);
});

test('targets outside the watched namespaces get permissions for the named objects only', async () => {
  const objects = await render('namespaces');
  const role = pick(objects, `Role/${full}-targets`);
  assert.equal(role.at('metadata.namespace'), 'apps');
  assert.deepEqual(role.at('rules'), [
    { apiGroups: [''], resources: ['configmaps'], resourceNames: ['docs-values'], verbs: ['get', 'patch'] },
    { apiGroups: [''], resources: ['secrets'], resourceNames: ['docs-link'], verbs: ['get', 'patch'] },
  ]);
  const values = [
    { namespace: 'apps', configMaps: ['a', 'b'] },
    { namespace: 'web', secrets: ['d'] },
    { namespace: 'apps', configMaps: ['b'], secrets: ['c'] },
  ];
  const parted = await render('namespaces', { values: { targets: { values } } });
  const found = (kind: string) => parted.filter(({ id }) => id === `${kind}/${full}-targets`);
  const places = found('RoleBinding').map((one) => one.at('metadata.namespace'));
  assert.deepEqual(places, ['apps', 'web'], 'a second one of the same name would be the only one');
  assert.deepEqual(
    found('Role').map((one) => [
      one.at('metadata.namespace'),
      one.at('rules.0.resourceNames'),
      one.at('rules.1.resourceNames'),
    ]),
    [
      ['apps', ['a', 'b'], ['c']],
      ['web', ['d'], undefined],
    ],
  );
  const without = await render('namespaces', { values: { targets: { values: [] } } });
  assert.ok(without.every(({ id }) => !id.includes('targets')));
});

test('each kind of target gets permissions for its named objects, and none by default', async () => {
  const targets = {
    helmReleases: [{ namespace: 'apps', names: ['docs'] }],
    applications: [{ namespace: 'argocd', names: ['docs'] }],
    workloads: [{ namespace: 'apps', deployments: ['web'], daemonSets: ['edge'] }],
  };
  const objects = await render('vendor', { values: { targets } });
  const rulesIn = (namespace: string) =>
    objects
      .find((one) => one.id === `Role/${full}-targets` && one.at('metadata.namespace') === namespace)
      ?.at('rules');
  const named = (group: string, resource: string, name: string) => ({
    apiGroups: [group],
    resources: [resource],
    resourceNames: [name],
    verbs: ['get', 'patch'],
  });
  assert.deepEqual(rulesIn('apps'), [
    named('apps', 'deployments', 'web'),
    named('apps', 'daemonsets', 'edge'),
    named('helm.toolkit.fluxcd.io', 'helmreleases', 'docs'),
  ]);
  assert.deepEqual(rulesIn('argocd'), [
    named('argoproj.io', 'applications', 'docs'),
    { apiGroups: ['argoproj.io'], resources: ['applications', 'applicationsets'], verbs: ['get'] },
  ]);
  const none = await render('vendor');
  assert.ok(none.every(({ id }) => !id.includes('targets')));
});

test('with watched namespaces only the CRD is cluster-wide', async () => {
  for (const object of await render('namespaces')) {
    if (object.id === crd) continue;
    assert.doesNotMatch(object.id, /^Cluster/);
    assert.match(String(object.at('metadata.namespace')), /^(ops|docs|team-b|apps)$/);
  }
  const bare = await render('namespaces', { values: { crds: { install: false } } });
  assert.ok(bare.every(({ id }) => id !== crd));
});

test('view and edit include StaticExports, without writes of status', async () => {
  const objects = await render('vendor');
  for (const [role, verbs, labels] of [
    ['view', ['get', 'list', 'watch'], ['admin', 'edit', 'view']],
    ['edit', ['create', 'delete', 'deletecollection', 'patch', 'update'], ['admin', 'edit']],
  ] as const) {
    const found = pick(objects, `ClusterRole/${full}-${role}`);
    assert.deepEqual(found.at('rules'), [
      { apiGroups: ['staticexport.dev'], resources: ['staticexports'], verbs: [...verbs] },
    ]);
    const aggregated = Object.keys(Object(found.at('metadata.labels'))).flatMap(
      (label) => /aggregate-to-(\w+)$/.exec(label)?.[1] ?? [],
    );
    assert.deepEqual(aggregated.sort(), [...labels]);
  }
});

test('the CRD keeps its generated text, and gains annotations only', async () => {
  const generated: { spec: object } = parse(
    await readFile(join(chart, 'files/staticexports.staticexport.dev.yaml'), 'utf8'),
  );
  const found = pick(await render('everything'), crd);
  assert.deepEqual(found.at('spec'), generated.spec);
  assert.deepEqual(found.at('metadata.annotations'), {
    'helm.sh/resource-policy': 'keep',
    team: 'docs',
  });
});

test('monitors are rendered if the cluster has their kind, and the dashboard if it is enabled', async () => {
  const kinds = ['monitoring.coreos.com/v1/ServiceMonitor', 'monitoring.coreos.com/v1/PrometheusRule'];
  const found = await render('vendor', { apiVersions: kinds });
  const monitor = pick(found, `ServiceMonitor/${full}`);
  assert.equal(monitor.at('spec.endpoints.0.honorLabels'), true);
  const [source, targetLabel] = ['__meta_kubernetes_namespace', 'operator_namespace'];
  assert.deepEqual(monitor.at('spec.endpoints.0.relabelings'), [
    { action: 'replace', sourceLabels: [source], targetLabel },
  ]);
  const admin = pick(found, `Service/${full}-admin`);
  const labels = new Map(Object.entries(Object(admin.at('metadata.labels'))));
  for (const [label, value] of Object.entries(Object(monitor.at('spec.selector.matchLabels')))) {
    assert.equal(labels.get(label), value);
  }
  pick(found, `PrometheusRule/${full}`);
  const dashboard = pick(await render('everything'), 'ConfigMap/exporter-dashboard');
  assert.equal(dashboard.at('metadata.labels.grafana_dashboard'), '1');
  assert.equal(dashboard.at('metadata.annotations.folder'), 'Docs');
});

const egressOf = (objects: readonly RenderedObject[], name: string): readonly unknown[] => {
  const egress = pick(objects, `NetworkPolicy/${name}`).at('spec.egress');
  assert.ok(Array.isArray(egress));
  return egress;
};

test('the operator may reach the Kubernetes API server, DNS, the export API and the listed rules, nothing else', async () => {
  const tcp = (...ports: readonly number[]): object[] => ports.map((port) => ({ port, protocol: 'TCP' }));
  assert.deepEqual(egressOf(await render('everything'), 'exporter'), [
    { ports: tcp(6443), to: [{ ipBlock: { cidr: '10.0.0.1/32' } }] },
    {
      ports: [...tcp(53), { port: 53, protocol: 'UDP' }],
      to: [{ namespaceSelector: { matchLabels: { name: 'kube-system' } } }],
    },
    { ports: tcp(443, 8443), to: [{ ipBlock: { cidr: '203.0.113.0/24' } }] },
    {
      ports: [{ port: 'http', protocol: 'TCP' }],
      to: [
        {
          podSelector: {
            matchLabels: {
              'app.kubernetes.io/name': 'static-export-operator-export-service',
              'app.kubernetes.io/instance': 'ops',
            },
          },
        },
      ],
    },
    { ports: tcp(3128) },
  ]);
});

test("a sub-chart's values may hold keys of a parent, and template names have the chart's prefix", async () => {
  const values = { global: { x: 1 }, enabled: true, tags: { docs: true }, 'x-anchors': {} };
  assert.ok((await render('vendor', { values })).length > 10);
  for (const file of words(`
    _names.tpl _api.tpl _mirror.tpl _pod.tpl _alerts.tpl admission-policy.yaml rbac.yaml
    networkpolicy.yaml
  `)) {
    const text = await readFile(join(chart, 'templates', file), 'utf8');
    for (const [, name = ''] of text.matchAll(/define "([^"]+)"/g)) {
      assert.match(name, /^static-export-operator\./);
    }
  }
});

test("labels and annotations of the user replace the chart's, each once", async () => {
  const values = {
    commonLabels: { 'app.kubernetes.io/part-of': 'portal', team: 'docs' },
    podLabels: { tier: 'tools' },
    podAnnotations: { 'kubectl.kubernetes.io/default-container': 'sidecar' },
    monitoring: { kinds: 'always', serviceMonitor: { labels: { team: 'watchers' } } },
  };
  const objects = await render('vendor', { values });
  for (const object of objects.filter(({ id }) => id !== crd)) {
    assert.equal(object.at('metadata.labels.app~kubernetes~io/part-of'), 'portal', object.id);
    assert.equal(
      object.at('metadata.labels.team'),
      object.id === `ServiceMonitor/${full}` ? 'watchers' : 'docs',
      object.id,
    );
  }
  const metadata = 'spec.template.metadata';
  const pod = pick(objects, `Deployment/${full}`);
  assert.equal(pod.at(`${metadata}.labels.tier`), 'tools');
  assert.equal(pod.at(`${metadata}.annotations.kubectl~kubernetes~io/default-container`), 'sidecar');
});

test("the operator's admission policy is made where the cluster has it and all namespaces are watched, or as told", async () => {
  const policies = async (rbac: object, more: object = {}, kubeVersion = '1.30.0') =>
    (await render('vendor', { values: { rbac, ...more }, kubeVersion }))
      .map(({ id }) => id)
      .filter((id) => id.startsWith('ValidatingAdmissionPolicy'));
  const both = [
    'ValidatingAdmissionPolicy/ops-ops-static-export-operator',
    'ValidatingAdmissionPolicyBinding/ops-ops-static-export-operator',
  ];
  const narrow = { watchNamespaces: ['docs'] };
  assert.deepEqual(await policies({}), both);
  assert.deepEqual(await policies({}, {}, '1.29.0'), []);
  assert.deepEqual(await policies({}, narrow), []);
  assert.deepEqual(await policies({ admissionPolicy: 'always' }, narrow), both);
  assert.deepEqual(await policies({ admissionPolicy: 'never' }), []);
  const account = { serviceAccount: { name: 'own' } };
  const [policy] = (await render('vendor', { values: account })).filter(({ id }) => id === both[0]);
  assert.match(JSON.stringify(policy?.at('spec.matchConditions')), /'system:serviceaccount:ops:own'/);
});
