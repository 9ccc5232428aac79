// What the charts ask a cluster for, as the tables in their READMEs state it for a default installation.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { z } from 'zod';
import * as operator from './operator-chart.ts';
import { type RenderedObject, renderChart } from './rendered-chart.ts';
import * as site from './site-chart.ts';

const quantities = z.record(z.string(), z.string());
const containers = z.array(
  z.looseObject({ resources: z.object({ requests: quantities, limits: quantities }) }),
);
const templates = ['spec.template.spec', 'spec.jobTemplate.spec.template.spec', 'spec'];

/** The pods of a workload, and the requests of its largest container: the others of a run are alike, one after the other. */
function rowOf(name: string, workload: RenderedObject, claim: unknown): string {
  const pod = templates.find((path) => Array.isArray(workload.at(`${path}.containers`)));
  const [{ resources } = { resources: undefined }] = containers.parse(workload.at(`${pod}.containers`));
  assert.ok(resources !== undefined);
  const { requests, limits } = resources;
  const storage = requests['ephemeral-storage'] ?? 'none';
  const cells = [
    workload.at('spec.replicas') ?? 1,
    requests['cpu'],
    requests['memory'],
    limits['memory'],
    storage,
  ];
  return `| ${[name, ...cells, claim ?? 'none'].join(' | ')} |`;
}

const size = (objects: readonly RenderedObject[], name: string): unknown =>
  operator.pick(objects, `PersistentVolumeClaim/${name}`).at('spec.resources.requests.storage');

test("the operator's README states what a default installation requests", async () => {
  const objects = await renderChart(operator.chart, {
    kubeVersion: '1.33.0',
    values: {
      exportService: { enabled: true, keys: { existingSecret: 'keys' } },
      webhook: { enabled: true, secretNames: ['hook'] },
    },
  });
  const full = 'docs-static-export-operator';
  const pick = (suffix: string): RenderedObject => operator.pick(objects, `Deployment/${full}${suffix}`);
  const readme = await readFile(join(operator.chart, 'README.md'), 'utf8');
  for (const row of [
    rowOf('operator', pick(''), undefined),
    rowOf('`exportService.enabled`', pick('-export-service'), size(objects, `${full}-export-service`)),
    rowOf('`webhook.enabled`', pick('-webhook'), undefined),
    rowOf('`helm test`, while it runs', operator.pick(objects, `Pod/${full}-test`), undefined),
  ])
    assert.ok(readme.includes(`\n${row}\n`), `the table lacks ${row}`);
});

test("the site's README states what a default installation requests", async () => {
  const values = {
    staticExport: { existingSecret: 'docs-bundle' },
    conversations: {
      ...{ enabled: true, project: 'docs', apiBaseUrl: 'https://export.example.com' },
      ...{ keySecretRef: { name: 'key' }, report: { enabled: false } },
    },
  };
  const objects = await renderChart(site.chart, { values });
  const volumes = await renderChart(site.chart, { values: { ...values, persistence: { enabled: true } } });
  const run = `${site.full}-conversations`;
  const stateful = operator.pick(volumes, `StatefulSet/${site.full}`);
  const readme = await readFile(join(site.chart, 'README.md'), 'utf8');
  for (const row of [
    rowOf('servers', operator.pick(objects, `Deployment/${site.full}`), undefined),
    rowOf(
      'servers with `persistence.enabled`',
      stateful,
      `${stateful.at('spec.volumeClaimTemplates.0.spec.resources.requests.storage')} each`,
    ),
    rowOf(
      '`conversations.enabled`, during a run',
      operator.pick(objects, `CronJob/${run}`),
      size(objects, run),
    ),
    rowOf('`helm test`, while it runs', operator.pick(objects, `Pod/${site.full}-test`), undefined),
  ])
    assert.ok(readme.includes(`\n${row}\n`), `the table lacks ${row}`);
});
