// The site's chart under many values: what is rendered, what stays the same when content changes, and whether the
// program takes every argument that it is given.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseServedBundle } from '../../../src/bundle/published-bundle.ts';
import { readInvocation } from '../../../src/runtime/flags.ts';
import { version } from '../../../src/runtime/version.ts';
import { bundleServer } from '../../../src/site/server-flags.ts';
import { runCommand } from '../../support/command.ts';
import {
  chartsFolder,
  fixturesFolder,
  type RenderedObject,
  type RenderOptions,
  renderChart,
  runHelm,
} from './rendered-chart.ts';

const chart = join(chartsFolder, 'static-export-site');
const fixture = (name: string): string => join(fixturesFolder, 'static-export-site', `${name}.yaml`);
const render = (name: string, options: RenderOptions = {}): Promise<readonly RenderedObject[]> =>
  renderChart(chart, { files: [fixture(name)], ...options });

const monitored = ['monitoring.coreos.com/v1/ServiceMonitor', 'monitoring.coreos.com/v1/PrometheusRule'];
const full = 'docs-static-export-site';
const always = [
  `Pod/${full}-test`,
  `PodDisruptionBudget/${full}`,
  `Service/${full}`,
  `Service/${full}-admin`,
  `ServiceAccount/${full}`,
];

const rendered: Readonly<Record<string, readonly string[]>> = {
  'plain-link': [...always, `Deployment/${full}`, `Secret/${full}-link`],
  'existing-secret': [...always, `Deployment/${full}`],
  export: [...always, `Deployment/${full}`, 'StaticExport/docs'],
  persistent: [...always, `StatefulSet/${full}`, `Service/${full}-peers`],
  'shared-claim': [...always, `StatefulSet/${full}`, `Service/${full}-peers`],
  'air-gapped': [...always, `Deployment/${full}`, `Secret/${full}-link`],
  everything: [
    'ConfigMap/docs-extra',
    'ConfigMap/site-extra',
    'Deployment/site',
    'HTTPRoute/site',
    'Ingress/site',
    'NetworkPolicy/site',
    'Pod/site-test',
    'PodDisruptionBudget/site',
    'PrometheusRule/site',
    'Service/site',
    'Service/site-admin',
    'ServiceAccount/docs-site',
    'ServiceMonitor/site',
  ],
};

function one(objects: readonly RenderedObject[], kind: string): RenderedObject {
  const found = objects.filter((object) => object.at('kind') === kind);
  assert.equal(found.length, 1, `${found.length} objects of kind ${kind}`);
  const [object] = found;
  assert.ok(object !== undefined);
  return object;
}

const workload = (objects: readonly RenderedObject[]): RenderedObject => {
  const found = objects.find((object) => object.at('spec.template') !== undefined);
  assert.ok(found !== undefined);
  return found;
};

test('helm finds nothing wrong with the chart', async () => {
  for (const name of Object.keys(rendered)) {
    const { code, stdout, stderr } = await runHelm(['lint', '--strict', chart, '--values', fixture(name)]);
    assert.equal(code, 0, `${name}: ${stdout}${stderr}`);
  }
});

for (const [name, expected] of Object.entries(rendered)) {
  test(`${name} renders its objects, all in the release’s namespace, and the same twice`, async () => {
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

for (const name of Object.keys(rendered)) {
  test(`the program takes every argument of ${name}`, async () => {
    const [programName, ...args] = workload(await render(name)).textsAt(
      'spec.template.spec.containers.0.args',
    );
    assert.equal(programName, bundleServer.name);
    const own = args.filter((flag) => !flag.startsWith('--log-level='));
    const invocation = readInvocation(bundleServer, version, own, {});
    assert.equal(invocation.outcome, 'run', invocation.outcome === 'run' ? '' : invocation.text);
  });
}

test('every flag in use stands in the program’s own help', async () => {
  const { stdout } = await runCommand([
    process.execPath,
    join(chartsFolder, '../src/bin/bundle-server.ts'),
    '--help',
  ]);
  const known = new Set([...stdout.matchAll(/^ {2}(--[a-z-]+)/gm)].map(([, flag]) => flag));
  const used = new Set<string>();
  for (const name of Object.keys(rendered)) {
    const args = workload(await render(name)).textsAt('spec.template.spec.containers.0.args');
    for (const flag of args.slice(1)) used.add(flag.split('=')[0] ?? '');
  }
  assert.ok(used.size >= 18, `only ${[...used].join(' ')}`);
  assert.deepEqual(
    [...used].filter((flag) => !known.has(flag)),
    [],
  );
});

test('a plain link is in a Secret of the chart, as a document that a server takes', async () => {
  const objects = await render('plain-link');
  const secret = one(objects, 'Secret');
  const served = parseServedBundle(Buffer.from(String(secret.at('data.bundle~json')), 'base64').toString());
  assert.equal(served.version, '20261121');
  assert.match(served.bundleUrl.reveal(), /^https:.*7\.tar\.gz\?X-Amz-Signature=5ec2e7&X-Amz-Expires=900$/);
  const elsewhere = objects.filter((object) => object !== secret).map(({ json }) => JSON.stringify(json));
  assert.doesNotMatch(elsewhere.join(), /storage\.example\.com|5ec2e7/);
});

test('the Secret is mounted whole, may be missing, and is no variable', async () => {
  for (const [name, secretName] of [
    ['plain-link', `${full}-link`],
    ['existing-secret', 'docs-bundle'],
    ['export', 'published'],
  ] as const) {
    const pod = workload(await render(name));
    assert.deepEqual(pod.at('spec.template.spec.volumes.0'), {
      name: 'source',
      secret: { secretName, optional: true },
    });
    assert.deepEqual(pod.at('spec.template.spec.containers.0.volumeMounts.0'), {
      name: 'source',
      mountPath: '/etc/static-export',
      readOnly: true,
    });
    assert.doesNotMatch(JSON.stringify(pod.json), /subPath|secretKeyRef|secretRef|checksum/);
  }
});

const link = (signature: string): object => ({
  staticExport: { bundleUrl: `https://s.example/a?sig=${signature}` },
});
const template = async (values: object): Promise<unknown> =>
  workload(await render('plain-link', { values })).at('spec.template');

test('another link changes the Secret and nothing else, whatever the rollout', async () => {
  for (const rollout of ['Swap', 'Restart']) {
    const before = await render('plain-link', { values: { rollout, ...link('one') } });
    const after = await render('plain-link', { values: { rollout, ...link('two') } });
    const changed = before.filter(
      (object, at) => JSON.stringify(object.json) !== JSON.stringify(after[at]?.json),
    );
    assert.deepEqual(
      changed.map(({ id }) => id),
      [`Secret/${full}-link`],
    );
  }
});

test('another version reaches the pod template under Restart only', async () => {
  const swap = [{ version: 'v1' }, { version: 'v2' }].map((staticExport) => template({ staticExport }));
  assert.deepEqual(await swap[0], await swap[1]);
  const restart = await template({ rollout: 'Restart', staticExport: { version: 'v2' } });
  const withVersion = { annotations: { 'staticexport.dev/version': 'v2' } };
  assert.deepEqual(restart, mergeMetadata(await swap[0], withVersion));
});

function mergeMetadata(pod: unknown, metadata: object): unknown {
  assert.ok(typeof pod === 'object' && pod !== null && 'metadata' in pod);
  return { ...pod, metadata: { ...Object(pod.metadata), ...metadata } };
}

test('a new version of the chart alone rolls no pod', async () => {
  const pod = await template({ server: { image: { tag: 'x' } } });
  assert.doesNotMatch(JSON.stringify(pod), /helm\.sh\/chart|kubernetes\.io\/version/);
});

const sizes: readonly (readonly [number, string, string])[] = [
  [2, '1Gi', '4Gi'],
  [1, '512Mi', '1536Mi'],
  [3, '512Mi', '2560Mi'],
  [10, '2Gi', '24Gi'],
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

test('a volume gets a group that may write to it, except on OpenShift; a user is pinned nowhere', async () => {
  const fsGroup = async (apiVersions: readonly string[]): Promise<unknown> =>
    workload(await render('persistent', { apiVersions })).at('spec.template.spec.securityContext.fsGroup');
  assert.equal(await fsGroup([]), 65532);
  assert.equal(await fsGroup(['security.openshift.io/v1']), undefined);
  for (const name of Object.keys(rendered)) {
    assert.doesNotMatch(JSON.stringify((await render(name)).map(({ json }) => json)), /runAsUser|runAsGroup/);
  }
});

test('a StaticExport has the whole spec that was given, and nothing that was left empty', async () => {
  const spec = one(await render('export'), 'StaticExport').at('spec');
  assert.deepEqual(spec, {
    domain: 'docs.example.com',
    api: { baseUrl: 'https://export.example.com/api', keySecretRef: { name: 'export-api' } },
    schedule: '0 3 * * *',
    timeZone: 'Europe/Berlin',
    jobTimeout: '2h',
    linkRefresh: { atPercent: 50, minInterval: '1m' },
    promotion: { inspect: 'Always', minPages: 10, maxShrinkPercent: 0, mode: 'Manual' },
    pin: { jobId: '007' },
    historyLimit: 7,
    suspend: false,
    output: { name: 'published' },
    targets: [{ kind: 'values', write: ['version'], values: { kind: 'ConfigMap', name: 'portal-values' } }],
  });
});

test('with nothing but its two required values a StaticExport is named like the release', async () => {
  const values = { export: { create: true, domain: 'd.example', api: { keySecretRef: { name: 'key' } } } };
  const objects = await renderChart(chart, { values });
  const made = one(objects, 'StaticExport');
  assert.equal(made.at('metadata.name'), full);
  assert.deepEqual(made.at('spec'), { domain: 'd.example', api: { keySecretRef: { name: 'key' } } });
  assert.equal(workload(objects).at('spec.template.spec.volumes.0.secret.secretName'), `${full}-bundle`);
});

test('switched off, nothing is served; a StaticExport stays', async () => {
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

test('monitors are there only where their kinds are', async () => {
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
  assert.deepEqual(route.at('spec.rules.0.backendRefs.0'), { name: 'site', port: 8080 });
});

test('servers ask each other only when peers are switched on', async () => {
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
