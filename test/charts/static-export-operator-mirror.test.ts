// Mirrors in the operator's chart: flags only where values are set, the Secret of the default mirror, disk for the copies,
// and the network. No further permission.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { mirrorFlags } from '#operator/mirror-flags.ts';
import { mirrorReasons } from '#operator/staticexport/reasons.ts';
import { argsOf, chart, full, pick, render } from './operator-chart.ts';
import type { RenderedObject } from './rendered-chart.ts';

const deployment = (objects: readonly RenderedObject[]): RenderedObject =>
  pick(objects, `Deployment/${full}`);
const flagsOf = (objects: readonly RenderedObject[]): readonly string[] =>
  argsOf(objects, full).filter((flag) => flag.includes('mirror'));
const address = 'oci://registry.example.com:5000/docs/{namespace}/{name}';

test('values of mirrors become every flag of mirrors, and without them there is none', async () => {
  const all = flagsOf(await render('mirror'));
  assert.equal(all.length, Object.keys(mirrorFlags).length);
  assert.deepEqual(all, [
    '--allowed-mirror-hosts=registry.example.com,registry.example.org:5000,http://minio.storage:9000',
    '--allow-private-mirror-hosts',
    '--default-mirror=s3://docs-bundles/{namespace}/{name}',
    '--default-mirror-credentials=/etc/static-export-mirror',
    '--default-mirror-endpoint=http://minio.storage:9000',
    '--default-mirror-region=local',
    '--default-mirror-path-style',
    '--allow-http-default-mirror',
  ]);
  assert.deepEqual(flagsOf(await render('vendor')), []);
  const values = { allowedMirrorHosts: null, defaultMirror: { address } };
  assert.deepEqual(flagsOf(await render('vendor', { values })), [`--default-mirror=${address}`]);
});

test('the Secret of the default mirror is mounted whole and read-only, and the operator starts without it', async () => {
  const pod = deployment(await render('mirror'));
  const list = (path: string): readonly { readonly name: string }[] => Object(pod.at(path));
  const named = (path: string) => list(path).find(({ name }) => name === 'default-mirror');
  assert.deepEqual(named('spec.template.spec.volumes'), {
    name: 'default-mirror',
    secret: { secretName: 'mirror-writer', optional: true },
  });
  assert.deepEqual(named('spec.template.spec.containers.0.volumeMounts'), {
    name: 'default-mirror',
    mountPath: '/etc/static-export-mirror',
    readOnly: true,
  });
  const without = deployment(await render('vendor', { values: { defaultMirror: { address } } }));
  assert.doesNotMatch(JSON.stringify(without.json), /static-export-mirror/);
});

test('the scratch folder has room for every copy that is made at the same time', async () => {
  const sizesOf = async (values: object): Promise<readonly unknown[]> => {
    const pod = deployment(await render('vendor', { values })).at('spec.template.spec');
    const { volumes, containers } = Object(pod);
    return [volumes[0].emptyDir.sizeLimit, containers[0].resources.requests['ephemeral-storage']];
  };
  const allowed = { allowedMirrorHosts: ['registry.example.com'] };
  assert.deepEqual(await sizesOf({}), [undefined, '1Gi'], 'without mirrors no archive but a zip is on disk');
  assert.deepEqual(await sizesOf(allowed), ['6Gi', '6Gi'], '2 × (1 + 2 × 1)');
  assert.deepEqual(await sizesOf({ defaultMirror: { address } }), ['6Gi', '6Gi']);
  for (const [inspection, size] of [
    [{ concurrency: 4, maxArchiveSize: '1GiB', maxBundleSize: '2GiB' }, '20Gi'],
    [{ concurrency: 3, maxArchiveSize: '200MiB', maxBundleSize: '300MiB' }, '2400Mi'],
    [{ concurrency: 1, maxArchiveSize: '1KiB', maxBundleSize: '1GiB' }, '2049Mi'],
  ] as const) {
    assert.deepEqual(await sizesOf({ ...allowed, inspection }), [size, size]);
  }
  assert.deepEqual(await sizesOf({ ...allowed, scratchSizeLimit: '6Gi' }), ['6Gi', '6Gi']);
  assert.deepEqual(await sizesOf({ ...allowed, scratchSizeLimit: '1Ti' }), ['1Ti', '6Gi']);
  const resources = { requests: { 'ephemeral-storage': '0' } };
  assert.deepEqual(await sizesOf({ ...allowed, resources }), ['6Gi', '0']);
  const limits = { 'ephemeral-storage': '6Gi' };
  assert.deepEqual(await sizesOf({ ...allowed, resources: { limits } }), ['6Gi', undefined]);
});

test('with a NetworkPolicy the operator may reach the ports of its mirrors', async () => {
  const mirrorRule = async (name: string, values: object): Promise<unknown> => {
    const policy = pick(await render(name, { values }), `NetworkPolicy/${full}`);
    assert.equal(policy.textsAt('spec.egress').length, 4);
    return policy.at('spec.egress.3');
  };
  const tcp = (...ports: readonly number[]): object[] => ports.map((port) => ({ port, protocol: 'TCP' }));
  assert.deepEqual(await mirrorRule('mirror', {}), {
    ports: tcp(443, 5000, 9000),
    to: [{ ipBlock: { cidr: '10.0.7.0/24' } }],
  });
  const networkPolicy = { enabled: true, mirrors: { ports: [8443] } };
  const rule = (values: object) => mirrorRule('vendor', { networkPolicy, ...values });
  assert.deepEqual(await rule({ defaultMirror: { address } }), { ports: tcp(8443, 5000) });
  const plain = { address: 'oci://registry/{namespace}/{name}', allowHttp: true };
  assert.deepEqual(await rule({ allowedMirrorHosts: ['a.example:8443'], defaultMirror: plain }), {
    ports: tcp(8443, 80),
  });
  const none = pick(await render('vendor', { values: { networkPolicy } }), `NetworkPolicy/${full}`);
  assert.equal(none.textsAt('spec.egress').length, 3, 'no rule without mirrors');
});

test('mirrors need no further permission: the operator gets Secrets by name already', async () => {
  const rulesOf = async (name: string): Promise<unknown> =>
    pick(await render(name), `ClusterRole/${full}`).at('rules');
  assert.deepEqual(await rulesOf('mirror'), await rulesOf('vendor'));
  const secrets = Object(await rulesOf('mirror')).find(({ resources }: { readonly resources: string[] }) =>
    resources.includes('secrets'),
  );
  assert.deepEqual(secrets.verbs, ['get', 'create', 'patch']);
});

test("the README's default mirror in a bucket needs no Secret, and its service account names the role", async () => {
  const readme = await readFile(join(chart, 'README.md'), 'utf8');
  const [text = ''] = /^ {2}serviceAccount:\n[^`]*role-arn[^`]*/m.exec(readme) ?? [];
  const objects = await render('vendor', { values: parse(text) });
  const annotations = Object(pick(objects, `ServiceAccount/${full}`).at('metadata.annotations'));
  assert.match(annotations['eks.amazonaws.com/role-arn'], /^arn:aws:iam::/);
  assert.deepEqual(flagsOf(objects), [
    '--default-mirror=s3://docs-bundles/{namespace}/{name}',
    '--default-mirror-region=eu-west-1',
  ]);
  assert.doesNotMatch(JSON.stringify(deployment(objects).json), /static-export-mirror/);
});

test('the alert of a failing mirror and its runbook have a remedy for each reason of Mirrored that is a failure', async () => {
  const apiVersions = ['monitoring.coreos.com/v1/PrometheusRule'];
  const rule = pick(await render('mirror', { apiVersions }), `PrometheusRule/${full}`);
  const alert = (name: string) =>
    Object(rule.at('spec.groups.0.rules')).find((one: { readonly alert: string }) => one.alert === name);
  const { expr, annotations } = alert('StaticExportMirrorFailing');
  const silent = /reason!~"([^"]*)"/.exec(expr)?.[1]?.split('|') ?? [];
  const failures = Object.keys(mirrorReasons).filter(
    (one) => !/^(?:Copied|RetentionFailed)$/.test(one) && !silent.includes(one),
  );
  assert.ok(failures.length >= 10, failures.join());
  const runbooks = await readFile(join(chart, 'docs/runbooks.md'), 'utf8');
  const [, section = ''] = /^## StaticExportMirrorFailing\n(.*?)^## /ms.exec(runbooks) ?? [];
  for (const words of [String(annotations.runbook), section]) {
    for (const reason of failures) assert.match(words, new RegExp(`\\b${reason}\\b`));
  }
  assert.match(alert('StaticExportFailing').annotations.runbook, /\bMirrorFailed: .*BestEffort/);
});
