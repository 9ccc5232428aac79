// The site's alerts: on metrics that the program really has, each with words for the person on call.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { chartsFolder, disabledNames, renderChart } from './rendered-chart.ts';
import { serverMetrics } from './server-metrics.ts';

const everyKind = ['ServiceMonitor', 'PrometheusRule'] as const;
const values = {
  staticExport: { existingSecret: 'docs-bundle' },
  conversations: {
    enabled: true,
    apiBaseUrl: 'https://export.example.com',
    project: 'docs',
    keySecretRef: { name: 'docs-conversations' },
  },
  monitoring: { prometheusRule: { alertLabels: { team: 'docs' }, labels: { release: 'prometheus' } } },
};

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

const chart = join(chartsFolder, 'static-export-site');

async function readAlerts(): Promise<readonly Alert[]> {
  const apiVersions = ['monitoring.coreos.com/v1/PrometheusRule'];
  const objects = await renderChart(chart, { values, apiVersions });
  const rule = objects.find((object) => object.at('kind') === 'PrometheusRule');
  assert.equal(rule?.at('metadata.labels.release'), 'prometheus');
  const rules = rule?.at('spec.groups.0.rules');
  assert.ok(Array.isArray(rules) && rules.length >= 7);
  return rules;
}

test('every metric and label of an alert exists in the program', async () => {
  const exposed = await serverMetrics();
  for (const { alert, expr } of await readAlerts()) {
    const used = [...expr.matchAll(/\bbundle_server_\w+/g)].map(([name]) => name);
    for (const name of used) assert.match(exposed, new RegExp(`^${name}[{ ]`, 'm'), `${alert}: ${name}`);
    for (const [, label, value] of expr.matchAll(/,(code|outcome)="([^"]+)"/g)) {
      assert.match(exposed, new RegExp(`${label}="${value}"`), `${alert}: ${label}`);
    }
  }
});

test('every alert selects this site alone, and says what it means and what to do', async () => {
  for (const { alert, expr, labels, annotations } of await readAlerts()) {
    const selectors = [...expr.matchAll(/\{([^}]*)\}/g)].map(([, inner]) => inner ?? '');
    assert.ok(selectors.length > 0, alert);
    for (const inner of selectors) {
      assert.match(
        inner,
        /^namespace="docs",(job="docs-static-export-site-admin"|cronjob="docs-static-export-site-conversations")/,
        alert,
      );
    }
    assert.match(labels['severity'] ?? '', /^(critical|warning)$/, alert);
    assert.equal(labels['team'], 'docs', alert);
    assert.ok((annotations['summary'] ?? '').includes('docs/docs-static-export-site'), alert);
    assert.ok((annotations['description'] ?? '').length > 40, alert);
    assert.ok((annotations['runbook'] ?? '').length > 100, alert);
  }
});

test('if an alert names a pod, its runbook asks that pod, with and without a NetworkPolicy', async () => {
  const named = (await readAlerts()).filter(({ annotations }) =>
    annotations['description']?.includes('{{ $labels.pod }}'),
  );
  assert.ok(named.length >= 3);
  for (const { alert, annotations } of named) {
    const runbook = annotations['runbook'] ?? '';
    assert.ok(runbook.includes('/api/v1/namespaces/docs/pods/{{ $labels.pod }}:9090/proxy/status'), alert);
    assert.ok(runbook.includes('kubectl --namespace docs port-forward pod/{{ $labels.pod }} 9090'), alert);
  }
});

test("disabled alerts are not rendered, and the user's labels replace the chart's", async () => {
  const prometheusRule = {
    alertLabels: { severity: 'page' },
    disabledAlerts: ['StaticExportSiteErrors'],
  };
  const objects = await renderChart(chart, {
    values: { ...values, monitoring: { kinds: 'always', prometheusRule } },
  });
  const kinds = objects.map((object) => object.at('kind'));
  for (const kind of everyKind) assert.ok(kinds.includes(kind), kind);
  const rules = objects.find((object) => object.at('kind') === 'PrometheusRule')?.at('spec.groups.0.rules');
  assert.ok(Array.isArray(rules));
  const all = (await readAlerts()).map(({ alert }) => alert);
  assert.deepEqual(
    rules.map((rule) => Reflect.get(rule, 'alert')),
    all.filter((alert) => alert !== 'StaticExportSiteErrors'),
  );
  for (const rule of rules) assert.deepEqual(Reflect.get(rule, 'labels'), { severity: 'page' });
});

test('the values know the name of every alert, and of no other', async () => {
  const names = (await readAlerts()).map(({ alert }) => alert);
  assert.deepEqual([...(await disabledNames(chart))].sort(), [...names].sort());
});

test('the runbooks have an entry for each alert, and for no other', async () => {
  const runbooks = await readFile(join(chart, 'docs/runbooks.md'), 'utf8');
  const titles = [...runbooks.matchAll(/^## (StaticExport\w+)$/gm)].map(([, title]) => title);
  const names = (await readAlerts()).map(({ alert }) => alert);
  assert.deepEqual([...titles].sort(), [...names].sort());
});

test('every metric and outcome that the runbooks name exists in the program', async () => {
  const runbooks = await readFile(join(chart, 'docs/runbooks.md'), 'utf8');
  const exposed = await serverMetrics();
  const names = new Set([...runbooks.matchAll(/\bbundle_server_\w+/g)].map(([name]) => name));
  assert.ok(names.size >= 4);
  for (const name of names) assert.match(exposed, new RegExp(`^${name}[{ ]`, 'm'), name);
  for (const [, outcome] of runbooks.matchAll(/\boutcome="([^"]+)"/g)) {
    assert.match(exposed, new RegExp(`outcome="${outcome}"`));
  }
});
