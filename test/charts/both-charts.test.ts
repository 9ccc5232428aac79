// What holds for both charts alike: probes that lead somewhere, pods that go where the values say, and what a hub of
// charts shows of them.

import assert from 'node:assert/strict';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { z } from 'zod';
import { apiVersion, apiVersionName, group, plural, resourceKind } from '#operator/staticexport/names.ts';
import { parseStaticExport } from '#operator/staticexport/parse.ts';
import { version } from '#platform/runtime/version.ts';
import { withRepository } from '../../packaging/release/chart-text.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import * as operator from './operator-chart.ts';
import { chartsFolder, notesOf, RenderedObject, renderChart } from './rendered-chart.ts';
import * as site from './site-chart.ts';
import { readValuePaths, withValue } from './value-paths.ts';

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

test('commonLabels are on every object and pod, and each pod takes labels and annotations of its own', async () => {
  for (const { chart, fixture } of [operator, site]) {
    const own = readValuePaths(chart).filter(({ path }) =>
      /^pod(Labels|Annotations)$/.test(path.at(-1) ?? ''),
    );
    assert.ok(own.length >= 4);
    const mesh = { 'sidecar.istio.io/inject': 'false' };
    const values = own.reduce<object>((all, { path }) => withValue(all, path, mesh), {
      ...{ commonLabels: { 'example.com/owner': '1234' }, monitoring: { kinds: 'always' }, extraObjects: [] },
      ...(chart === operator.chart ? { webhook: { enabled: true, secretNames: ['hook'] } } : {}),
    });
    const objects = await renderChart(chart, {
      files: [fixture('everything')],
      values,
      kubeVersion: '1.33.0',
    });
    const labelled = (object: RenderedObject, path: string): unknown =>
      object.at(`${path}.labels.example~com/owner`);
    assert.deepEqual(
      objects.filter((one) => labelled(one, 'metadata') !== '1234').map(({ id }) => id),
      [],
    );
    const pods = objects.flatMap((object) => {
      const places = [
        'spec.template',
        'spec.jobTemplate.spec.template',
        ...(object.at('kind') === 'Pod' ? [''] : []),
      ];
      return places.map((place) => (place === '' ? object : new RenderedObject(object.at(place))));
    });
    const found = pods.filter((pod) => pod.at('spec.containers') !== undefined);
    assert.equal(found.length, own.length / 2, chart);
    for (const pod of found) {
      assert.equal(labelled(pod, 'metadata'), '1234');
      for (const field of ['labels', 'annotations'])
        assert.equal(pod.at(`metadata.${field}.sidecar~istio~io/inject`), 'false', JSON.stringify(pod.json));
    }
  }
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
  assert.deepEqual([crd.kind, crd.version, crd.name], [resourceKind, apiVersionName, `${plural}.${group}`]);
  const [example] = parse(annotations['artifacthub.io/crdsExamples'] ?? '');
  assert.equal(example.apiVersion, apiVersion);
  assert.ok(parseStaticExport({ spec: example.spec, status: undefined }).spec !== undefined);
});

test('the notes warn of an image name without a registry, and not in charts of a release that names one', async (t) => {
  const exported = { create: true, domain: 'docs.example.com', api: { keySecretRef: { name: 'k' } } };
  for (const [chart, key, values] of [
    [site.chart, 'server.image.repository', { export: exported }],
    [operator.chart, 'image.repository', { apiBaseUrl: 'https://export.example.com' }],
  ] as const) {
    const warning = /WARNING: the image name (\S+) has no registry\. [\s\S]*, and set (\S+)\./;
    const [, image, named] = warning.exec(await notesOf(chart, { values })) ?? [];
    assert.deepEqual([image, named], [`static-export-operator:${version}`, key]);
    const pulled = { ...values, global: { imageRegistry: 'registry.example.com' } };
    assert.doesNotMatch(await notesOf(chart, { values: pulled }), warning);
    const released = join(temporaryFolder(t), basename(chart));
    await cp(chart, released, { recursive: true });
    const file = join(released, 'values.yaml');
    await writeFile(file, withRepository(await readFile(file, 'utf8'), 'registry.example.com/p/x'));
    assert.doesNotMatch(await notesOf(released, { values }), warning);
  }
});
