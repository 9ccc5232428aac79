// What holds for both charts alike: probes that lead somewhere, pods that go where the values say, and what a hub of
// charts shows of them.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { z } from 'zod';
import { version } from '../../src/runtime/version.ts';
import { apiVersion, apiVersionName, group, kind, plural } from '../../src/staticexport/names.ts';
import { parseStaticExport } from '../../src/staticexport/parse.ts';
import * as operator from './operator-chart.ts';
import { chartsFolder, RenderedObject } from './rendered-chart.ts';
import * as site from './site-chart.ts';

const container = z.looseObject({
  args: z.array(z.string()),
  ports: z.array(z.object({ name: z.string(), containerPort: z.number() })),
  livenessProbe: z.looseObject({ httpGet: z.object({ path: z.string(), port: z.string() }) }),
  readinessProbe: z.looseObject({ httpGet: z.object({ path: z.string(), port: z.string() }) }),
});

const everyPod = async (): Promise<readonly RenderedObject[]> => {
  const objects = [...(await operator.render('everything')), ...(await site.render('everything'))];
  return objects.flatMap((object) => {
    const pod = object.at('spec.template');
    return pod === undefined ? [] : [new RenderedObject(pod)];
  });
};

test('probes use the admin port that the program of that pod listens on', async () => {
  const pods = await everyPod();
  assert.equal(pods.length, 3);
  for (const pod of pods) {
    const { args, ports, livenessProbe, readinessProbe } = container.parse(pod.at('spec.containers.0'));
    assert.deepEqual(livenessProbe.httpGet, { path: '/livez', port: 'admin' });
    assert.deepEqual(readinessProbe.httpGet, { path: '/readyz', port: 'admin' });
    const listening = args.find((flag) => flag.startsWith('--admin-listen='));
    const admin = ports.find(({ name }) => name === 'admin');
    assert.match(listening ?? '', new RegExp(`:${admin?.containerPort}$`));
  }
});

test('pods have the placement, priority and credentials of the values', async () => {
  const [ops, served] = [await operator.render('everything'), site.workload(await site.render('everything'))];
  for (const [pod, fields] of [
    [
      operator.pick(ops, 'Deployment/exporter'),
      {
        priorityClassName: 'system-cluster-critical',
        nodeSelector: { pool: 'tools' },
        tolerations: [{ key: 'tools', operator: 'Exists' }],
        hostAliases: [{ ip: '10.0.0.9', hostnames: ['export.example.com'] }],
        imagePullSecrets: [{ name: 'registry' }],
      },
    ],
    [
      served,
      {
        priorityClassName: 'system-cluster-critical',
        nodeSelector: { 'kubernetes.io/os': 'linux' },
        tolerations: [{ key: 'docs', operator: 'Exists' }],
        hostAliases: [{ ip: '192.0.2.7', hostnames: ['storage.example.com'] }],
        imagePullSecrets: [{ name: 'registry' }],
      },
    ],
  ] as const) {
    for (const [field, value] of Object.entries(fields)) {
      assert.deepEqual(pod.at(`spec.template.spec.${field}`), value, `${pod.id} ${field}`);
    }
  }
});

test('disabled resources keep the request for the disk that a pod needs', async () => {
  const ops = await operator.render('self-contained', {
    values: { resources: null, exportService: { resources: null, persistence: { enabled: true } } },
  });
  const served = await site.render('existing-secret', { values: { server: { resources: null } } });
  const resources = 'spec.template.spec.containers.0.resources';
  const full = operator.full;
  assert.deepEqual(operator.pick(ops, `Deployment/${full}`).at(resources), {
    requests: { 'ephemeral-storage': '1Gi' },
  });
  assert.deepEqual(operator.pick(ops, `Deployment/${full}-export-service`).at(resources), {});
  assert.deepEqual(site.workload(served).at(resources), { requests: { 'ephemeral-storage': '5Gi' } });
});

const annotated = z.object({
  version: z.string(),
  appVersion: z.string(),
  annotations: z.record(z.string(), z.string()),
});
const readChart = async (chart: string): Promise<z.infer<typeof annotated>> =>
  annotated.parse(parse(await readFile(join(chartsFolder, chart, 'Chart.yaml'), 'utf8')));

test("Artifact Hub's annotations are true: version, image, changes, and the CRD with a valid example", async () => {
  for (const chart of ['static-export-operator', 'static-export-site']) {
    const { annotations, ...found } = await readChart(chart);
    assert.deepEqual(found, { version, appVersion: version });
    const [image] = z
      .array(z.object({ image: z.string(), platforms: z.array(z.string()) }))
      .parse(parse(annotations['artifacthub.io/images'] ?? ''));
    assert.deepEqual(image, {
      image: `static-export-operator:${version}`,
      platforms: ['linux/amd64', 'linux/arm64'],
    });
    const changes: unknown[] = parse(annotations['artifacthub.io/changes'] ?? '');
    assert.ok(changes.length > 0);
  }
  const { annotations } = await readChart('static-export-operator');
  const [crd] = parse(annotations['artifacthub.io/crds'] ?? '');
  assert.deepEqual([crd.kind, crd.version, crd.name], [kind, apiVersionName, `${plural}.${group}`]);
  const [example] = parse(annotations['artifacthub.io/crdsExamples'] ?? '');
  assert.equal(example.apiVersion, apiVersion);
  assert.ok(parseStaticExport({ spec: example.spec, status: undefined }).spec !== undefined);
});
