// The export service of the operator's chart: what the operator is told of it, where keys may go, what it keeps.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exportServiceProgram } from '#export-service/program.ts';
import { operatorProgram } from '#operator/flags.ts';
import { allowedHosts } from '#operator/loop/allowed-host.ts';
import { readInvocation } from '#platform/runtime/flags/flags.ts';
import { version } from '#platform/runtime/version.ts';
import { argsOf, chart, full, pick, render } from './operator-chart.ts';
import { type RenderedObject, renderChart } from './rendered-chart.ts';

const service = `${full}-export-service`;

test('with the export service the operator uses it, and its links may lead into the cluster', async () => {
  const objects = await render('self-contained');
  const args = argsOf(objects, full);
  const url = `http://${service}.ops.svc`;
  assert.ok(args.includes(`--api-base-url=${url}`), args.join(' '));
  assert.ok(args.includes('--allow-private-links'));
  assert.ok(args.every((flag) => !flag.startsWith('--allowed-api-hosts')));
  const own = argsOf(objects, service);
  assert.ok(own.includes(`--public-url=${url}`));
  assert.ok(own.includes('--origin=docs.example.com=http://origin.docs.svc'));
  assert.equal(pick(objects, `Service/${service}`).at('spec.ports.0.targetPort'), 'http');
});

const apiFlags = async (values: object): Promise<readonly string[]> => {
  const objects = await renderChart(chart, { release: 'ops', namespace: 'ops', values });
  return argsOf(objects, full).filter((flag) => /^--(api|allow)/.test(flag));
};
const withService = { exportService: { enabled: true, keys: { existingSecret: 'k' } } };

for (const [words, values, flags] of [
  ['nothing is said', {}, []],
  ['the hosts of an earlier file are taken back, with null', { allowedApiHosts: null }, []],
  ['an API is named', { apiBaseUrl: 'https://a.example/x' }, ['--api-base-url=https://a.example/x']],
  [
    'hosts are named, those as well',
    { apiBaseUrl: 'https://a.example', allowedApiHosts: ['a.example', 'b.example'] },
    ['--api-base-url=https://a.example', '--allowed-api-hosts=a.example,b.example'],
  ],
  [
    'an API is named beside the export service, both',
    { ...withService, apiBaseUrl: 'https://a.example:8443' },
    [
      '--api-base-url=https://a.example:8443',
      `--allowed-api-hosts=http://${service}.ops.svc`,
      '--allow-private-links',
    ],
  ],
  [
    'an API and a host are named beside the export service, all three',
    { ...withService, apiBaseUrl: 'https://a.example', allowedApiHosts: ['b.example'] },
    [
      '--api-base-url=https://a.example',
      `--allowed-api-hosts=b.example,http://${service}.ops.svc`,
      '--allow-private-links',
    ],
  ],
  [
    'private links are forbidden all the same',
    { ...withService, allowPrivateLinks: false },
    [`--api-base-url=http://${service}.ops.svc`],
  ],
] as const) {
  test(`hosts that may receive a key: ${words}`, async () => {
    assert.deepEqual(await apiFlags(values), flags);
  });
}

test('an allowed host does not remove the hosts of the API and of the export service', async () => {
  const hostsOf = async (values: object): Promise<readonly string[]> => {
    const invocation = readInvocation(operatorProgram, version, await apiFlags(values), {});
    assert.ok(invocation.outcome === 'run');
    return allowedHosts(invocation.values);
  };
  const base = { apiBaseUrl: 'https://a.example/x' };
  const own = `http://${service}.ops.svc`;
  for (const [values, hosts] of [
    [base, ['a.example']],
    [withService, [own]],
    [{ ...base, ...withService }, ['a.example', own]],
  ] as const) {
    assert.deepEqual([...(await hostsOf(values))].sort(), hosts);
    const more = await hostsOf({ ...values, allowedApiHosts: ['b.example'] });
    assert.deepEqual([...more].sort(), [...hosts, 'b.example'].sort());
  }
});

test('keys of the export service come from an existing Secret, or from one of the chart', async () => {
  const volume = (objects: readonly RenderedObject[], name: string): unknown =>
    pick(objects, `Deployment/${name}`).at('spec.template.spec.volumes.0.secret.secretName');
  assert.equal(volume(await render('self-contained'), service), 'export-service-keys');
  const everything = await render('everything');
  const secret = pick(everything, 'Secret/exporter-export-service-keys');
  assert.equal(Buffer.from(String(secret.at('data.keys~txt')), 'base64').toString(), 'svc_first\nsvc_second');
  assert.equal(volume(everything, 'exporter-export-service'), 'exporter-export-service-keys');
  const others = everything.filter((object) => object !== secret).map(({ json }) => JSON.stringify(json));
  assert.doesNotMatch(others.join(), /svc_first/);
});

test('the export service keeps its volume, and has one process at a time', async () => {
  const objects = await render('everything');
  const claim = pick(objects, 'PersistentVolumeClaim/exporter-export-service');
  assert.deepEqual(claim.at('metadata.annotations'), { backup: 'daily', 'helm.sh/resource-policy': 'keep' });
  assert.equal(claim.at('spec.resources.requests.storage'), '20Gi');
  const workload = pick(objects, 'Deployment/exporter-export-service');
  assert.equal(workload.at('spec.replicas'), 1);
  assert.equal(workload.at('spec.strategy.type'), 'Recreate');
  assert.equal(workload.at('spec.template.spec.securityContext.fsGroup'), 65532);
  const openShift = await render('everything', { apiVersions: ['security.openshift.io/v1'] });
  const there = pick(openShift, 'Deployment/exporter-export-service');
  assert.equal(there.at('spec.template.spec.securityContext.fsGroup'), undefined);
  const own = { exportService: { persistence: { existingClaim: 'mine' } } };
  const claimed = await render('everything', { values: own });
  assert.ok(claimed.every(({ id }) => !id.startsWith('PersistentVolumeClaim/')));
});

test('its disk is divided: half for archives, a quarter for a crawl, a quarter for its archive', async () => {
  const flags = async (size: string): Promise<readonly string[]> => {
    const values = { exportService: { persistence: { size } } };
    return argsOf(await render('everything', { values }), 'exporter-export-service');
  };
  for (const [size, kib] of [
    ['10Gi', 10 * 1024 ** 2],
    ['512Mi', 512 * 1024],
    ['1Ti', 1024 ** 3],
  ] as const) {
    const own = (await flags(size)).filter((flag) => !flag.startsWith('--log-level=')).slice(1);
    const invocation = readInvocation(exportServiceProgram, version, own, {});
    assert.ok(invocation.outcome === 'run', invocation.outcome === 'run' ? '' : invocation.text);
    const { keepBytes, maxBytes } = invocation.values;
    assert.equal(keepBytes + 2 * maxBytes, kib * 1024);
    assert.equal(keepBytes, 2 * maxBytes);
  }
});

test('without a volume its pod requests the size of its emptyDir', async () => {
  const asked = async (enabled: boolean): Promise<unknown> => {
    const values = { exportService: { persistence: { enabled } } };
    const workload = pick(await render('everything', { values }), 'Deployment/exporter-export-service');
    return workload.at('spec.template.spec.containers.0.resources.requests.ephemeral-storage');
  };
  assert.equal(await asked(false), '20Gi');
  assert.equal(await asked(true), undefined);
});

test("its metrics have a Service and a monitor, and its pod has the user's labels and annotations", async () => {
  const objects = await render('everything');
  const admin = pick(objects, 'Service/exporter-export-admin');
  assert.equal(admin.at('spec.type'), 'ClusterIP');
  assert.equal(admin.at('spec.ports.0.targetPort'), 'admin');
  const monitor = pick(objects, 'ServiceMonitor/exporter-export-service');
  const labels = new Map(Object.entries(Object(admin.at('metadata.labels'))));
  for (const [label, value] of Object.entries(Object(monitor.at('spec.selector.matchLabels')))) {
    assert.equal(labels.get(label), value);
  }
  assert.equal(monitor.at('metadata.labels.release'), 'prometheus');
  const api = pick(objects, 'Service/exporter-export-service');
  assert.equal(api.at('metadata.labels.app~kubernetes~io/component'), undefined, 'no monitor takes the API');
  assert.equal(api.at('spec.ports.0.appProtocol'), undefined);
  const pod = pick(objects, 'Deployment/exporter-export-service');
  assert.equal(pod.at('spec.template.spec.priorityClassName'), 'system-node-critical');
  assert.equal(pod.at('spec.template.metadata.labels.tier'), 'exports');
  assert.equal(pod.at('spec.template.metadata.annotations.note'), 'export service');
});
