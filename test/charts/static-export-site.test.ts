// The site's chart under many values: what is rendered, how large the store is, and what leads where.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { parse } from 'yaml';
import { z } from 'zod';
import { specSchema } from '#operator/staticexport/schema.ts';
import { words } from '../support/words.ts';
import { renderChart, runHelm } from './rendered-chart.ts';
import { chart, fixture, fixtureNames, full, one, render, workload } from './site-chart.ts';

const monitored = ['monitoring.coreos.com/v1/ServiceMonitor', 'monitoring.coreos.com/v1/PrometheusRule'];
const always = [
  `Pod/${full}-test`,
  `PodDisruptionBudget/${full}`,
  `Service/${full}`,
  `Service/${full}-admin`,
  `Service/${full}-peers`,
  `ServiceAccount/${full}`,
];

const rendered: Readonly<Record<string, readonly string[]>> = {
  'plain-link': [...always, `Deployment/${full}`, `Secret/${full}-link`],
  'existing-secret': [...always, `Deployment/${full}`],
  export: [...always, `Deployment/${full}`, 'StaticExport/docs'],
  persistent: [...always, `StatefulSet/${full}`],
  'shared-claim': [...always, `StatefulSet/${full}`],
  'air-gapped': [...always, `Deployment/${full}`, `Secret/${full}-link`],
  mirror: [...always, `Deployment/${full}`, `Secret/${full}-link`],
  conversations: [
    ...always,
    `CronJob/${full}-conversations`,
    `Deployment/${full}`,
    `NetworkPolicy/${full}-conversations`,
    `PersistentVolumeClaim/${full}-conversations`,
  ],
  everything: words(`
    ConfigMap/docs-extra ConfigMap/site-extra CronJob/site-conversations Deployment/site HTTPRoute/site
    Ingress/site NetworkPolicy/site NetworkPolicy/site-conversations
    PersistentVolumeClaim/site-conversations Pod/site-test PodDisruptionBudget/site PrometheusRule/site
    Service/site Service/site-admin Service/site-peers ServiceAccount/docs-site ServiceMonitor/site
  `),
};

test('every values file has its row in the table', () => {
  assert.deepEqual(Object.keys(rendered).sort(), [...fixtureNames].sort());
});

test('helm finds nothing wrong with the chart', async () => {
  for (const name of Object.keys(rendered)) {
    const { code, stdout, stderr } = await runHelm(['lint', '--strict', chart, '--values', fixture(name)]);
    assert.equal(code, 0, `${name}: ${stdout}${stderr}`);
  }
});

for (const [name, expected] of Object.entries(rendered)) {
  test(`${name} renders its objects in the release's namespace, and the same objects twice`, async () => {
    const objects = await render(name, { apiVersions: name === 'everything' ? monitored : [] });
    assert.deepEqual(objects.map(({ id }) => id).sort(), [...expected].sort());
    for (const object of objects.filter(({ id }) => !id.endsWith('-extra'))) {
      assert.equal(object.at('metadata.namespace'), 'docs', object.id);
      assert.equal(object.at('metadata.labels.app~kubernetes~io/instance'), 'docs', object.id);
    }
    const again = await render(name, { apiVersions: name === 'everything' ? monitored : [] });
    assert.deepEqual(
      again.map(({ json }) => json),
      objects.map(({ json }) => json),
    );
  });
}

test('the chart or an autoscaler sets the number of pods', async () => {
  assert.equal(workload(await render('existing-secret')).at('spec.replicas'), 2);
  assert.equal(workload(await render('everything')).at('spec.replicas'), undefined);
});

const sizes: readonly (readonly [number, string, string])[] = [
  [2, '1Gi', '5Gi'],
  [1, '512Mi', '2048Mi'],
  [3, '512Mi', '3072Mi'],
  [10, '2Gi', '26Gi'],
];
for (const [keep, maxBundleSize, store] of sizes) {
  test(`${keep} versions of at most ${maxBundleSize} get a store of ${store}, as folder and as claim`, async () => {
    const values = { server: { keep, maxBundleSize } };
    const folder = workload(await render('existing-secret', { values }));
    assert.equal(folder.at('spec.template.spec.volumes.1.emptyDir.sizeLimit'), store);
    const claim = workload(await render('persistent', { values }));
    assert.equal(claim.at('spec.volumeClaimTemplates.0.spec.resources.requests.storage'), store);
    const args = folder.textsAt('spec.template.spec.containers.0.args');
    assert.ok(
      args.includes(`--max-bundle-size=${maxBundleSize}B`) &&
        args.includes(`--max-archive-size=${maxBundleSize}B`),
    );
  });
}

test('with volumes each pod has its own, and a shared claim gives each pod a folder', async () => {
  const own = workload(await render('persistent'));
  assert.equal(own.at('spec.volumeClaimTemplates.0.spec.storageClassName'), 'fast');
  assert.deepEqual(own.at('spec.persistentVolumeClaimRetentionPolicy'), {
    whenDeleted: 'Delete',
    whenScaled: 'Retain',
  });
  const shared = workload(await render('shared-claim'));
  assert.equal(shared.at('spec.volumeClaimTemplates'), undefined);
  assert.ok(
    shared
      .textsAt('spec.template.spec.containers.0.args')
      .includes('--store=/var/lib/static-export/$(POD_NAME)'),
  );
  assert.equal(shared.at('spec.template.spec.containers.0.env.0.name'), 'POD_NAME');
});

test('a volume gets a group that may write to it, except on OpenShift; no pod sets a user', async () => {
  const fsGroup = async (apiVersions: readonly string[]): Promise<unknown> =>
    workload(await render('persistent', { apiVersions })).at('spec.template.spec.securityContext.fsGroup');
  const none = { values: { persistence: { fsGroup: null } } };
  const left = workload(await render('persistent', none)).at('spec.template.spec.securityContext.fsGroup');
  assert.equal(left, undefined, 'the way out for helm template, which sees no cluster');
  assert.equal(await fsGroup([]), 65532);
  assert.equal(await fsGroup(['security.openshift.io/v1']), undefined);
  for (const name of Object.keys(rendered)) {
    assert.doesNotMatch(JSON.stringify((await render(name)).map(({ json }) => json)), /runAsUser|runAsGroup/);
  }
});

test('a StaticExport has every field of the values, and no empty field', async () => {
  const spec = one(await render('export'), 'StaticExport').at('spec');
  assert.deepEqual(spec, {
    domain: 'docs.example.com',
    api: {
      ...{ baseUrl: 'https://export.example.com/api', keySecretRef: { name: 'export-api' } },
      ...{ projectId: '5f0c9a7e', basePath: '/docs' },
    },
    schedule: '0 3 * * *',
    timeZone: 'Europe/Berlin',
    jobTimeout: '2h',
    linkRefresh: { atPercent: 50, minInterval: '1m' },
    promotion: {
      ...{ inspect: 'Always', minPages: 10, requireHomePage: false, maxShrinkPercent: 0 },
      ...{ maxBundleSize: '512Mi', mode: 'Manual' },
    },
    pin: { jobId: '007' },
    historyLimit: 7,
    suspend: false,
    output: { name: 'published', link: 'Never' },
    transform: {
      repair: {
        rules: [{ name: 'canonical', mode: 'Set', host: 'docs.example.com' }, { name: 'sitemap' }],
      },
      search: 'Enabled',
    },
    mirror: {
      s3: {
        ...{ endpoint: 'https://s3.example.com', region: 'eu-west-1', bucket: 'docs-bundles' },
        ...{ prefix: 'docs/site', secretRef: { name: 'docs-mirror' }, pathStyle: false },
      },
      ...{ policy: 'Required', compression: 'Gzip', retention: { unlisted: '48h' } },
    },
    trigger: { webhook: { secretRef: { name: 'docs-hook', key: 'secret' } }, quietPeriod: '2m' },
    notify: [{ name: 'chat', format: 'Slack', secretRef: { name: 'docs-chat' }, events: ['Held', 'Failed'] }],
    targets: [
      {
        name: 'portal',
        type: 'Values',
        write: ['version'],
        values: { kind: 'ConfigMap', name: 'portal-values' },
      },
    ],
  });
});

test('the values file of the StaticExport leaves out no field of its spec', async () => {
  const { export: given } = z
    .object({ export: z.record(z.string(), z.unknown()) })
    .parse(parse(await readFile(fixture('export'), 'utf8')));
  const missing = Object.keys(specSchema.shape).filter((field) => given[field] === undefined);
  assert.deepEqual(missing, []);
});

test("with only its two required values a StaticExport has the release's name", async () => {
  const values = { export: { create: true, domain: 'd.example', api: { keySecretRef: { name: 'key' } } } };
  const objects = await renderChart(chart, { values });
  const made = one(objects, 'StaticExport');
  assert.equal(made.at('metadata.name'), full);
  assert.deepEqual(made.at('spec'), {
    ...{ domain: 'd.example', api: { keySecretRef: { name: 'key' } } },
    promotion: { maxBundleSize: '1Gi' },
  });
  assert.equal(workload(objects).at('spec.template.spec.volumes.0.secret.secretName'), `${full}-bundle`);
});

test('with staticExport.enabled=false no server runs, and a StaticExport stays', async () => {
  assert.deepEqual(await renderChart(chart, { values: { staticExport: { enabled: false } } }), []);
  const objects = await render('export', { values: { staticExport: { enabled: false } } });
  assert.deepEqual(
    objects.map(({ id }) => id),
    ['StaticExport/docs'],
  );
});

test('the grace period is longer than the drain', async () => {
  const pod = workload(await render('everything'));
  assert.equal(pod.at('spec.template.spec.terminationGracePeriodSeconds'), 15 + 60 + 10);
});

test('monitors are rendered only if the cluster has their kinds', async () => {
  const kinds = (await render('everything')).map((object) => object.at('kind'));
  assert.ok(!kinds.includes('ServiceMonitor') && !kinds.includes('PrometheusRule'));
});

test('the site’s Service leads to the site and never to the admin port', async () => {
  const [site, admin] = (await render('everything')).filter((object) => object.at('kind') === 'Service');
  assert.deepEqual(site?.at('spec.ports'), [
    { name: 'http', port: 8080, targetPort: 'http', appProtocol: 'http', nodePort: 30080 },
  ]);
  assert.equal(admin?.at('spec.type'), 'ClusterIP');
  assert.deepEqual(admin?.at('spec.ports'), [
    { name: 'admin', port: 9090, targetPort: 'admin', appProtocol: 'http' },
  ]);
});

test('Ingress and HTTPRoute lead the base path to the site', async () => {
  const objects = await render('everything');
  const ingress = one(objects, 'Ingress');
  assert.equal(ingress.at('spec.rules.1.host'), 'docs.example.org');
  assert.equal(ingress.at('spec.rules.1.http.paths.0.path'), '/docs');
  const route = one(objects, 'HTTPRoute');
  assert.deepEqual(route.at('spec.rules.0.matches.0.path'), { type: 'PathPrefix', value: '/docs' });
  assert.deepEqual(route.at('spec.rules.0.backendRefs.0'), {
    ...{ group: '', kind: 'Service', name: 'site' },
    ...{ port: 8080, weight: 1 },
  });
});

const ofProject = (basePath?: string): object => ({
  create: true,
  api: {
    ...{ projectId: 'p1', keySecretRef: { name: 'export-api' } },
    ...(basePath !== undefined && { basePath }),
  },
});
const withSecret = { staticExport: { existingSecret: 'docs-bundle' } };
for (const [what, values, path, flag] of [
  ['none that is named', withSecret, '/', undefined],
  ['the values', { ...withSecret, site: { basePath: '/help/' } }, '/help', '--base-path=/help/'],
  ['the values, at the root', { ...withSecret, site: { basePath: '/' } }, '/', '--base-path=/'],
  ['the StaticExport of the release', { export: ofProject('/docs') }, '/docs', undefined],
  ['its StaticExport, at the root', { export: ofProject('') }, '/', undefined],
  ['both alike', { export: ofProject('/docs'), site: { basePath: '/docs/' } }, '/docs', '--base-path=/docs/'],
  [
    'a StaticExport without one',
    { export: ofProject(), site: { basePath: '/docs' } },
    '/docs',
    '--base-path=/docs',
  ],
] as const) {
  test(`base path of ${what}: Ingress and HTTPRoute lead to it, and only site.basePath fixes it`, async () => {
    const reach = {
      ingress: { enabled: true, hosts: ['docs.example.org'] },
      httpRoute: { enabled: true, parentRefs: [{ name: 'gateway' }] },
    };
    const objects = await renderChart(chart, { values: { ...values, ...reach } });
    const paths = [
      one(objects, 'Ingress').at('spec.rules.0.http.paths.0.path'),
      one(objects, 'HTTPRoute').at('spec.rules.0.matches.0.path.value'),
    ];
    assert.deepEqual(paths, [path, path]);
    const args = z.array(z.string()).parse(workload(objects).at('spec.template.spec.containers.0.args'));
    assert.equal(
      args.find((arg) => arg.startsWith('--base-path')),
      flag,
    );
  });
}

test('an HTTPRoute names group and kind of its parents, by default those of a Gateway', async () => {
  const mesh = { group: '', kind: 'Service', name: 'mesh' };
  const values = { httpRoute: { enabled: true, parentRefs: [{ name: 'gateway' }, mesh] } };
  const route = one(await render('existing-secret', { values }), 'HTTPRoute');
  assert.deepEqual(route.at('spec.parentRefs'), [
    { group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'gateway' },
    mesh,
  ]);
});

test("the site's port has an appProtocol only if the values set one", async () => {
  const port = async (service: object): Promise<unknown> => {
    const objects = await render('existing-secret', { values: { service } });
    const site = objects.find(({ id }) => id === `Service/${full}`);
    assert.equal(site?.at('spec.ports.0.name'), 'http');
    return site?.at('spec.ports.0.appProtocol');
  };
  assert.equal(await port({}), undefined);
  assert.equal(await port({ appProtocol: 'kubernetes.io/ws' }), 'kubernetes.io/ws');
});

test('a pod requests the size of its emptyDir, and no disk if it has a volume', async () => {
  const asked = async (name: string, server: object = {}): Promise<unknown> => {
    const made = workload(await render(name, { values: { server } }));
    return made.at('spec.template.spec.containers.0.resources.requests.ephemeral-storage');
  };
  assert.equal(await asked('existing-secret'), '5Gi');
  assert.equal(await asked('existing-secret', { keep: 1, maxBundleSize: '512Mi' }), '2048Mi');
  assert.equal(await asked('persistent'), undefined);
  for (const own of ['0', '2Gi']) {
    const resources = { requests: { 'ephemeral-storage': own } };
    assert.equal(await asked('existing-secret', { resources }), own);
  }
  const resources = { limits: { 'ephemeral-storage': '2Gi' } };
  assert.equal(await asked('existing-secret', { resources }), undefined, 'Kubernetes takes the limit');
});

test('servers know their peers unless peers.enabled is false', async () => {
  const flags = async (enabled: boolean): Promise<readonly string[]> =>
    workload(await render('existing-secret', { values: { peers: { enabled } } })).textsAt(
      'spec.template.spec.containers.0.args',
    );
  const off = await flags(false);
  assert.deepEqual(
    (await flags(true)).filter((flag) => !off.includes(flag)),
    [`--peers=${full}-peers`],
  );
});

test("the StaticExport of a release may have labels, such as an operator's instance", async () => {
  const label = 'staticexport.dev/instance';
  const labels = { [label]: 'blue', team: 'writers' };
  const objects = await render('export', { values: { export: { labels }, commonLabels: { team: 'docs' } } });
  for (const object of objects) {
    const isExport = object.at('kind') === 'StaticExport';
    const path = 'metadata.labels';
    assert.equal(object.at(`${path}.staticexport~dev/instance`), isExport ? 'blue' : undefined, object.id);
    assert.equal(object.at(`${path}.team`), isExport ? 'writers' : 'docs', object.id);
  }
  assert.equal(one(objects, 'StaticExport').at('spec.labels'), undefined);
});

test("labels and annotations of the user replace the chart's, each once", async () => {
  const values = {
    commonLabels: { 'app.kubernetes.io/part-of': 'portal', team: 'docs' },
    server: { podLabels: { tier: 'web' } },
    monitoring: { kinds: 'always', serviceMonitor: { labels: { team: 'watchers' } } },
  };
  const objects = await render('existing-secret', { values });
  for (const object of objects) {
    assert.equal(object.at('metadata.labels.app~kubernetes~io/part-of'), 'portal', object.id);
    assert.equal(
      object.at('metadata.labels.team'),
      object.id === `ServiceMonitor/${full}` ? 'watchers' : 'docs',
      object.id,
    );
  }
  assert.equal(workload(objects).at('spec.template.metadata.labels.tier'), 'web');
});

test("a NetworkPolicy lets servers reach DNS, on OpenShift's port too", async () => {
  const policy = one(
    await render('existing-secret', { values: { networkPolicy: { enabled: true } } }),
    'NetworkPolicy',
  );
  assert.deepEqual(
    policy.at('spec.egress.1.ports'),
    [53, 5353].flatMap((port) => ['UDP', 'TCP'].map((protocol) => ({ port, protocol }))),
  );
});
