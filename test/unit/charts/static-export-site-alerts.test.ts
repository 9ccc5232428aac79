// The site's alerts: on metrics that the program really has, each with words for the person on call.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { createSiteMetrics } from '../../../src/site/site-metrics.ts';
import { chartsFolder, renderChart } from './rendered-chart.ts';

const values = {
  staticExport: { existingSecret: 'docs-bundle' },
  monitoring: { prometheusRule: { alertLabels: { team: 'docs' }, labels: { release: 'prometheus' } } },
};

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

async function readAlerts(): Promise<readonly Alert[]> {
  const apiVersions = ['monitoring.coreos.com/v1/PrometheusRule'];
  const objects = await renderChart(join(chartsFolder, 'static-export-site'), { values, apiVersions });
  const rule = objects.find((object) => object.at('kind') === 'PrometheusRule');
  assert.equal(rule?.at('metadata.labels.release'), 'prometheus');
  const rules = rule?.at('spec.groups.0.rules');
  assert.ok(Array.isArray(rules) && rules.length >= 7);
  return rules;
}

test('every metric and label that an alert looks at is one of the program’s', async () => {
  const none = {
    active: undefined,
    swaps: 0,
    cachedBytes: 0,
    variants: { counts: { br: 0, gzip: 0 }, sizeBytes: 0 },
    storeBytes: 0,
    activatedAt: 0,
    linkIssuedAt: 0,
    linkExpiresAt: 0,
    sourceState: 'in-sync',
  } as const;
  const metrics = createSiteMetrics(() => ({ ...none, active: { version: 'v', digest: 'd', files: 1 } }));
  const exposed = await metrics.registry.metrics();
  for (const { alert, expr } of await readAlerts()) {
    const used = [...expr.matchAll(/\bbundle_server_\w+/g)].map(([name]) => name);
    for (const name of used) assert.match(exposed, new RegExp(`^${name}[{ ]`, 'm'), `${alert}: ${name}`);
    for (const [, label, value] of expr.matchAll(/,(code|outcome)="([^"]+)"/g)) {
      assert.match(exposed, new RegExp(`${label}="${value}"`), `${alert}: ${label}`);
    }
  }
});

test('every alert looks at this site alone, and says what it means and what to do', async () => {
  for (const { alert, expr, labels, annotations } of await readAlerts()) {
    const selectors = [...expr.matchAll(/\{([^}]*)\}/g)].map(([, inner]) => inner ?? '');
    assert.ok(selectors.length > 0, alert);
    for (const inner of selectors) {
      assert.match(inner, /^namespace="docs",job="docs-static-export-site-admin"/, alert);
    }
    assert.match(labels['severity'] ?? '', /^(critical|warning)$/, alert);
    assert.equal(labels['team'], 'docs', alert);
    assert.ok((annotations['summary'] ?? '').includes('docs/docs-static-export-site'), alert);
    assert.ok((annotations['description'] ?? '').length > 40, alert);
    assert.ok((annotations['runbook'] ?? '').length > 100, alert);
  }
});
