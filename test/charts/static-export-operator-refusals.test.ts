// What the operator's chart refuses at install time, in which words, and what it says afterwards. No key is in them.

import assert from 'node:assert/strict';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { parseStaticExport } from '#operator/staticexport/parse.ts';
import { chart } from './operator-chart.ts';
import { notesOf, refusalOf, renderChart } from './rendered-chart.ts';
import { type ValueRow, valueRows } from './value-rows.ts';

const defaultMirror = { address: 'oci://a.example/docs/{namespace}/{name}' };

const refused: readonly ValueRow[] = [
  ...valueRows(
    String.raw`
    a mistyped value | watchNamespace: [docs] | additional properties 'watchNamespace' not allowed
    a mistyped value below | crds: {kepp: true} | '\/crds': additional properties 'kepp'
    an API of another kind | apiBaseUrl: ftp://a.example | '\/apiBaseUrl'
    an API with a query | apiBaseUrl: https://a.example/?key=1 | '\/apiBaseUrl'
    a host with a path | allowedApiHosts: [https://a.example/x] | '\/allowedApiHosts\/0'
    a host of another scheme | allowedApiHosts: [ftp://a.example] | '\/allowedApiHosts\/0'
    a wildcard for hosts | allowedApiHosts: ['*.example'] | '\/allowedApiHosts\/0'
    a namespace that is none | watchNamespaces: [Docs] | '\/watchNamespaces\/0'
    too short a grace period | terminationGracePeriodSeconds: 5 | minimum: got 5, want 30
    a duration without unit | requestTimeout: '30' | '\/requestTimeout'
    a flag that is none | extraArgs: [reconcile-timeout=2m] | '\/extraArgs\/0'
    an export service without keys | exportService: {enabled: true} | exportService\.keys\.existingSecret .*kubectl create secret generic
    an export service with two kinds of keys | exportService: {enabled: true, keys: {existingSecret: k, inline: [svc_5ec2e7]}}
      | existingSecret and exportService\.keys\.inline exclude each other
    two places of authorities | extraCa: {configMap: a, secret: b} | extraCa\.configMap and extraCa\.secret exclude each other
    rights for a target where they are there already | watchNamespaces: [docs], targets: {values: [{namespace: docs, configMaps: [v]}]}
      | namespace docs, which the operator watches
    rights for targets with the whole cluster watched | targets: {values: [{namespace: apps, configMaps: [v]}]}
      | namespace apps, which the operator watches
    rights for targets on nothing | watchNamespaces: [docs], targets: {values: [{namespace: apps}]} | names no object: list configMaps or secrets
    a label of the pods that selectors go by | podLabels: {app.kubernetes.io/instance: a} | podLabels must not set app\.kubernetes\.io\/instance
    a label of all objects that selectors go by | commonLabels: {app.kubernetes.io/component: a}
      | commonLabels must not set app\.kubernetes\.io\/component
    a label of the export service’s pod that selectors go by | exportService: {podLabels: {app.kubernetes.io/name: a}}
      | exportService\.podLabels must not set app\.kubernetes\.io\/name
    a scratch folder that no large archive fits into | scratchSizeLimit: 1023Mi
      | scratchSizeLimit=1023Mi has no room for one archive of inspection\.maxArchiveSize, which is 1Gi\. Raise the first to 1Gi
    a scratch folder that copies for mirrors do not fit into | allowedMirrorHosts: [a.example], scratchSizeLimit: 6143Mi
      | scratchSizeLimit=6143Mi has no room for what inspections with mirrors may write, .*, which is 6Gi\. Raise the first to 6Gi
    a limit of the disk that copies for mirrors do not fit into | defaultMirror: $defaultMirror, resources: {limits: {ephemeral-storage: 6G}}
      | resources\.limits\.ephemeral-storage=6G has no room .*, which is 6Gi
    a limit of the disk, in bytes, that no large archive fits into | resources: {limits: {ephemeral-storage: 1000000000}}
      | resources\.limits\.ephemeral-storage=1000000000 has no room for one archive .*, which is 1Gi
    a mirror with a path | allowedMirrorHosts: [a.example/docs] | '\/allowedMirrorHosts\/0'
    a mirror of another scheme | allowedMirrorHosts: [oci://a.example] | '\/allowedMirrorHosts\/0'
    a default mirror with credentials in its address | defaultMirror: {address: 'oci://user:svc_5ec2e7@a.example/{namespace}/{name}'}
      | defaultMirror\.address must be oci:\/\/HOST\/PATH\/\{namespace\}\/\{name\} or s3:
    a default mirror of another kind | defaultMirror: {address: 'https://a.example/{namespace}/{name}'}
      | defaultMirror\.address must be oci:\/\/HOST\/PATH\/\{namespace\}\/\{name\} or s3:
    a default mirror whose placeholders are no whole parts of the path | defaultMirror: {address: 'oci://a.example/{namespace}-{name}'}
      | defaultMirror\.address must be oci:\/\/HOST\/PATH\/\{namespace\}\/\{name\} or s3:
    a default mirror with a placeholder too many | defaultMirror: {address: 'oci://a.example/{name}/{namespace}/{name}'}
      | needs \{namespace\} and \{name\} once each
    a default mirror that all StaticExports of a namespace share | defaultMirror: {address: 's3://docs-bundles/{namespace}'}
      | defaultMirror\.address=s3:\/\/docs-bundles\/\{namespace\} needs \{namespace\} and \{name\}
    credentials of no default mirror | defaultMirror: {credentialsSecret: writer}
      | defaultMirror\.credentialsSecret has no effect without defaultMirror\.address
    a region of a registry | defaultMirror: {<<: $defaultMirror, region: eu-west-1} | defaultMirror\.region is for s3:\/\/ only
    a bucket without TLS that the values do not allow | defaultMirror: {address: 's3://docs/{namespace}/{name}', endpoint: http://minio.storage:9000}
      | defaultMirror\.endpoint begins with http:\/\/.*defaultMirror\.allowHttp=true
    a lease that cannot be renewed in time | leaderElection: {leaseDuration: 2999ms} | leaderElection\.leaseDuration=2999ms is too short .*at least 3s
    no time for a request | requestTimeout: 0s | requestTimeout=0s is too short\. Set a duration such as 30s
    no time for an archive | inspection: {timeout: 0.00m} | inspection\.timeout=0\.00m is too short\. Set a duration such as 30s
    no time once it is rounded | requestTimeout: 0.499ms | requestTimeout=0\.499ms is too short
    an alert that is none | monitoring: {prometheusRule: {disabledAlerts: [StaticExportDown]}}
      | \/disabledAlerts\/0': value must be one of 'StaticExportOperatorAbsent'
    no account | serviceAccount: {create: false} | serviceAccount\.name is required
  `,
    { defaultMirror },
  ),
  ...[
    ['--inspect-concurrency=64', 'inspection.concurrency'],
    ['--max-archive-size=9GiB', 'inspection.maxArchiveSize'],
    ['--max-bundle-size=9GiB', 'inspection.maxBundleSize'],
    ['--allowed-mirror-hosts=a.example', 'allowedMirrorHosts'],
    ['--default-mirror=oci://a.example/{namespace}/{name}', 'defaultMirror.address'],
  ].map(
    ([flag = '', value = '']) =>
      [
        `a flag that the size of the scratch folder follows from: ${flag}`,
        { extraArgs: [flag] },
        new RegExp(`extraArgs sets ${flag.split('=')[0]}, .* set ${value} instead`),
      ] as const,
  ),
];

for (const [words, values, message] of refused) {
  test(`a wrong value fails the installation: ${words}`, async () => {
    const refusal = await refusalOf(chart, { values });
    assert.match(refusal, message);
    assert.doesNotMatch(refusal, /svc_5ec2e7/);
  });
}

test('an error about a key with a space does not repeat the key', async () => {
  const values = { exportService: { enabled: true, keys: { inline: ['a b'] } } };
  assert.match(await refusalOf(chart, { values }), /'\/exportService\/keys\/inline\/0'/);
});

const service = { exportService: { enabled: true, keys: { existingSecret: 'k' } } };
const api = { apiBaseUrl: 'https://a.example' };

for (const [words, values, expected] of valueRows(
  String.raw`
    no API at all |  | WARNING: neither apiBaseUrl nor allowedApiHosts is set
    the whole cluster | <<: $api | StaticExports in all namespaces
    some namespaces | <<: $api, watchNamespaces: [a, b] | StaticExports in a, b
    an instance | <<: $api, instance: blue | staticexport\.dev\/instance=blue
    one replica | <<: $api, replicas: 1 | NOTE: replicas is 1
    archives that servers may refuse | <<: $api, inspection: {maxBundleSize: 1025MiB}
      | servers with the default server\.maxBundleSize=1Gi reject them[\s\S]*spec\.promotion\.maxBundleSize
    a CRD that helm uninstall deletes | <<: $api, crds: {keep: false} | deletes the CRD and every StaticExport
    an additional operator | <<: $api, crds: {install: false} | A StaticExport must have one operator only
    the export service | <<: $service | server\.allowPrivateLinks=true[\s\S]*allow port 8480
    an export service that forgets | exportService: {<<: $keys, persistence: {enabled: false}}
      | WARNING: jobs, archives and the secret that signs links are in an emptyDir
    the default mirror | <<: $api, defaultMirror: {<<: $defaultMirror, credentialsSecret: writer}
      | copied to oci:\/\/a\.example\/docs\/\{namespace\}\/\{name\}\nwith the credentials in Secret writer of namespace docs
    a registry that must accept copies without credentials | <<: $api, defaultMirror: $defaultMirror | NOTE: defaultMirror\.credentialsSecret is empty
    a default mirror without TLS | <<: $api, defaultMirror: {<<: $defaultMirror, allowHttp: true} | WARNING: defaultMirror\.allowHttp
    keys in values | exportService: {enabled: true, keys: {inline: [svc_5ec2e7]}} | WARNING: exportService\.keys\.inline stays in the release's values
  `,
  { api, service, keys: service.exportService, defaultMirror },
)) {
  test(`the notes mention ${words}`, async () => {
    const notes = await notesOf(chart, { values });
    assert.match(notes, expected);
    assert.doesNotMatch(notes, /svc_5ec2e7/);
  });
}

test('with an API, two replicas and a volume the notes have no warning', async () => {
  const pushed = { ...api, image: { repository: 'registry.example.com/static-export-operator' } };
  assert.doesNotMatch(await notesOf(chart, { values: pushed }), /WARNING|NOTE:/);
  const further = { ...pushed, allowedApiHosts: ['b.example'] };
  assert.doesNotMatch(await notesOf(chart, { values: further }), /WARNING|NOTE:/);
  assert.doesNotMatch(await notesOf(chart, { values: { ...pushed, ...service } }), /WARNING|NOTE:/);
  const bucket = { address: 's3://docs-bundles/{namespace}/{name}' };
  for (const mirror of [bucket, { ...defaultMirror, credentialsSecret: 'writer' }]) {
    const values = { ...pushed, defaultMirror: mirror };
    assert.doesNotMatch(await notesOf(chart, { values }), /WARNING|NOTE:/);
  }
});

test('this operator manages the first StaticExport of the notes', async () => {
  for (const [values, metadata, flag] of [
    [api, { name: 'docs' }, ''],
    [
      { ...api, watchNamespaces: ['team-a', 'team-b'] },
      { name: 'docs', namespace: 'team-a' },
      ' --namespace team-a',
    ],
    [
      { ...api, instance: '7', watchNamespaces: ['12'] },
      { name: 'docs', namespace: '12', labels: { 'staticexport.dev/instance': '7' } },
      ' --namespace 12',
    ],
  ] as const) {
    const notes = await notesOf(chart, { values });
    const [, text = ''] = /<<END\n([\s\S]*?)\n {2}END\n/.exec(notes) ?? [];
    const { metadata: own, spec } = parse(text);
    assert.deepEqual(own, metadata);
    assert.ok(parseStaticExport({ spec, status: undefined }).spec !== undefined);
    assert.ok(notes.includes(`create secret generic export-api${flag} --from-literal`));
    assert.ok(notes.includes(`kubectl get staticexports${flag} --watch`));
  }
});

test('the README has a health check for clusters with a NetworkPolicy', async () => {
  const readme = await readFile(join(chart, 'README.md'), 'utf8');
  const [, section = ''] = readme.split('## Health\n');
  const [text = ''] = section.split('\n## ');
  assert.match(
    text,
    /networkPolicy\.enabled` [^`]*`kubectl [^`]*port-forward deployment\/static-export-operator 8081`/,
  );
  const objects = await renderChart(chart, { release: 'static-export-operator', values: api });
  const deployment = objects.find(({ id }) => id === 'Deployment/static-export-operator');
  assert.equal(deployment?.at('spec.template.spec.containers.0.ports.0.containerPort'), 8081);
});

test('the shortest valid lease duration is accepted, in any unit', async () => {
  for (const leaseDuration of ['3s', '3000ms', '0.05m', '1h']) {
    assert.ok(
      (await renderChart(chart, { values: { ...api, leaderElection: { leaseDuration } } })).length > 0,
    );
  }
});

test('the shortest valid durations are accepted', async () => {
  for (const requestTimeout of ['0.5ms', '0.001s', '60s']) {
    const values = { ...api, requestTimeout, inspection: { timeout: requestTimeout } };
    assert.ok((await renderChart(chart, { values })).length > 0);
  }
});

test('as a sub-chart it accepts a condition, globals and an alias', async () => {
  const parent = await mkdtemp(join(tmpdir(), 'parent-chart-'));
  try {
    await cp(chart, join(parent, 'charts/static-export-operator'), { recursive: true });
    const dependency = {
      name: 'static-export-operator',
      version: '>=0.1.0',
      alias: 'exporter',
      condition: 'exporter.enabled',
    };
    const manifest = { apiVersion: 'v2', name: 'parent', version: '1.0.0', dependencies: [dependency] };
    await writeFile(join(parent, 'Chart.yaml'), JSON.stringify(manifest));
    const values = (enabled: boolean): object => ({ global: { a: 1 }, exporter: { enabled, ...api } });
    const objects = await renderChart(parent, { values: values(true) });
    assert.ok(
      objects.some(({ id }) => id === 'Deployment/docs-exporter'),
      objects.map(({ id }) => id).join(),
    );
    assert.deepEqual(await renderChart(parent, { values: values(false) }), []);
  } finally {
    await rm(parent, { recursive: true });
  }
});
