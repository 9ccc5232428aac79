// The operator's alerts, dashboard and table of metrics: on metrics and reasons that the programs really have, each
// alert with words for the person on call and a runbook in docs/runbooks.md.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { z } from 'zod';
import { createReports } from '#operator/controller/reports.ts';
import { createMetrics } from '#operator/metrics.ts';
import {
  conditionTypes,
  exportedReasons,
  linkReasons,
  mirrorReasons,
  readyReasons,
  reconcilingReasons,
  stalledReasons,
  targetReasons,
} from '#operator/staticexport/reasons.ts';
import { targetTypes } from '#operator/staticexport/target-schema.ts';
import { chart, pick, render } from './operator-chart.ts';
import { disabledNames } from './rendered-chart.ts';
import { serverMetrics } from './server-metrics.ts';

const alertShape = z.object({
  alert: z.string(),
  expr: z.string(),
  for: z.string().optional(),
  labels: z.record(z.string(), z.string()),
  annotations: z.record(z.string(), z.string()),
});

async function readAlerts(name = 'everything', values: object = {}) {
  const apiVersions = ['monitoring.coreos.com/v1/PrometheusRule'];
  const objects = await render(name, { apiVersions, values });
  const rule = pick(
    objects,
    `PrometheusRule/${name === 'everything' ? 'exporter' : 'ops-static-export-operator'}`,
  );
  return z.array(alertShape).parse(rule.at('spec.groups.0.rules'));
}

/** Name → labels, of every metric of a fresh operator. */
async function exposedMetrics(): Promise<ReadonlyMap<string, { readonly type: string }>> {
  const metrics = createMetrics({
    workers: 4,
    host: '10.0.0.1',
    queue: () => ({ waiting: 0, active: 0, delayed: 0, longestActiveMs: 0, unfinishedMs: 0 }),
    reports: createReports({ get: () => undefined }, { now: () => 0 }).list,
    watch: () => ({ missedChanges: 0, silenceSeconds: 0, objects: 0, auditedAt: 0, namespaces: [] }),
    inspections: { taken: 0, waiting: 0 },
  });
  const text = await metrics.registry.metrics();
  const types = [...text.matchAll(/^# TYPE (\S+) (\w+)$/gm)];
  return new Map(types.map(([, name = '', type = '']) => [name, { type }]));
}

/** Metrics that an expression names: words with an underscore that are no function and no label. */
const metricsIn = (expr: string): readonly string[] =>
  [
    ...expr
      .replaceAll(/\{[^}]*\}|by \([^)]*\)|on \([^)]*\)|"[^"]*"/g, '')
      .matchAll(/\b[a-z]+_[a-z_]+\b(?!\s*\()/g),
  ]
    .map(([name]) => name)
    .filter((name) => !name.startsWith('label_') && !name.startsWith('__'));

const ofServers = 'bundle_server_active_bundle_info';
const servers = await serverMetrics();

function assertKnown(metrics: ReadonlyMap<string, unknown>, names: readonly string[], where: string): void {
  for (const name of names) {
    const isKnown = name.startsWith('bundle_server_')
      ? servers.includes(`# TYPE ${name} `)
      : metrics.has(name.replace(/_(bucket|sum|count)$/, '')) || metrics.has(name);
    assert.ok(isKnown, `${where}: ${name}`);
  }
}

test('every metric that an alert looks at is one of the programs’', async () => {
  const metrics = await exposedMetrics();
  const site = await readFile(join(chart, '../../src/server/site-metrics.ts'), 'utf8');
  assert.match(site, /'bundle_server_'[\s\S]*active_bundle_info/);
  const alerts = await readAlerts();
  assert.ok(alerts.length >= 12);
  for (const { alert, expr } of alerts) {
    const names = metricsIn(expr);
    assert.ok(names.length > 0 || expr.startsWith('absent(up{'), alert);
    assertKnown(metrics, names, alert);
  }
});

test('every reason, condition and operation of an alert exists', async () => {
  const groups = [
    readyReasons,
    reconcilingReasons,
    stalledReasons,
    exportedReasons,
    linkReasons,
    mirrorReasons,
    targetReasons,
  ];
  const reasons = new Set(groups.flatMap((group) => Object.keys(group)));
  const known: Readonly<Record<string, (value: string) => boolean>> = {
    type: (value) => [...conditionTypes, ...targetTypes.options].some((type) => type === value),
    reason: (value) => [...reasons].some((reason) => new RegExp(`^${value}$`).test(reason)),
    operation: (value) => ['export', 'start', 'poll', 'link', 'mirror', 'retention', 'key'].includes(value),
    status: (value) => ['True', 'False', 'Unknown'].includes(value),
  };
  let looked = 0;
  for (const { alert, expr } of await readAlerts()) {
    for (const [, label = '', values = ''] of expr.matchAll(
      /\b(type|reason|operation|status)(?:=~|!~|=)"([^"]+)"/g,
    )) {
      for (const value of values.split('|')) {
        looked += 1;
        assert.ok(known[label]?.(value), `${alert}: ${label}=${value}`);
      }
    }
  }
  assert.ok(looked >= 12);
});

test('every alert selects this operator alone, and says what it means and what to do', async () => {
  for (const { alert, expr, labels, annotations } of await readAlerts()) {
    const selectors = [...expr.matchAll(/\{([^}]*)\}/g)].map(([, inner]) => inner ?? '');
    for (const inner of selectors) {
      assert.match(inner, /job="exporter-admin",operator_namespace=~"\|ops"/, alert);
    }
    if (selectors.length === 0) assert.ok(expr.includes(ofServers), alert);
    assert.match(labels['severity'] ?? '', /^(critical|warning)$/, alert);
    assert.equal(labels['team'], 'docs', alert);
    for (const [name, length] of [
      ['summary', 30],
      ['description', 50],
      ['runbook', 100],
    ] as const) {
      assert.ok((annotations[name] ?? '').length > length, `${alert}: ${name}`);
    }
    const anchor = `https://runbooks.example.com/static-export#${alert.toLowerCase()}`;
    assert.equal(annotations['runbook_url'], anchor);
  }
});

test('a reason with an alert of its own does not fire StaticExportStalled too', async () => {
  const alerts = await readAlerts('vendor');
  const [, excluded = ''] =
    /reason!~"([^"]*)"/.exec(alerts.find(({ alert }) => alert === 'StaticExportStalled')?.expr ?? '') ?? [];
  const named = alerts
    .filter(({ alert }) => alert !== 'StaticExportStalled')
    .flatMap(({ expr }) => [...expr.matchAll(/reason=~?"([^"]*)"/g)])
    .flatMap(([, reasons = '']) => reasons.split('|'))
    .filter((reason) => reason in stalledReasons);
  assert.ok(named.length >= 4, named.join());
  for (const reason of named) assert.match(reason, new RegExp(`^(${excluded})$`));
});

test('the runbooks have an entry for each alert, and for no other', async () => {
  const runbooks = await readFile(join(chart, 'docs/runbooks.md'), 'utf8');
  const titles = [...runbooks.matchAll(/^## (StaticExport\w+)$/gm)].map(([, title]) => title);
  const names = (await readAlerts('vendor')).map(({ alert }) => alert);
  assert.deepEqual([...titles].sort(), [...names].sort());
});

test('the values know the name of every alert, and of no other', async () => {
  const names = (await readAlerts('vendor')).map(({ alert }) => alert);
  assert.deepEqual([...(await disabledNames(chart))].sort(), [...names].sort());
});

test("commands read the log of every replica, and the user's severity replaces the chart's", async () => {
  const alertLabels = { severity: 'page' };
  const alerts = await readAlerts('vendor', { monitoring: { prometheusRule: { alertLabels } } });
  for (const { alert, labels, annotations } of alerts) {
    assert.equal(labels['severity'], 'page', alert);
    assert.doesNotMatch(annotations['runbook'] ?? '', /logs deployment\//, alert);
  }
  const selector = 'app.kubernetes.io/name=static-export-operator,app.kubernetes.io/instance=ops';
  const command = `kubectl --namespace ops logs --selector ${selector} --prefix --tail=200`;
  const asking = alerts.filter(({ annotations }) => annotations['runbook']?.includes(command));
  assert.equal(asking.length, 6);
});

test('the alert of a refused watch names every cause, and with watchNamespaces the namespace', async () => {
  const told = async (watchNamespaces: readonly string[]) => {
    const alerts = await readAlerts('vendor', { watchNamespaces });
    const found = alerts.find(({ alert }) => alert === 'StaticExportNamespaceRefused');
    assert.match(found?.annotations['runbook'] ?? '', /CRD is missing \(kubectl get crd staticexports\./);
    return Object.values(found?.annotations ?? {}).join('\n');
  };
  const everywhere = await told([]);
  assert.match(everywhere, /in any namespace\.$/);
  assert.match(everywhere, /the ClusterRole or ClusterRoleBinding is gone/);
  assert.doesNotMatch(everywhere, /labels|watchNamespaces|\bRole\b/, 'the label is the operator’s own there');
  const some = await told(['docs', 'ops']);
  assert.match(some, /in namespace [^.]*labels\.exported_namespace [^.]*labels\.namespace \}\}\.$/);
  assert.match(some, /remove it from watchNamespaces. Or its Role or RoleBinding is gone/);
  assert.doesNotMatch(some, /ClusterRole|own namespace/);
});

const runbookOf = async (alert: string): Promise<string> => {
  const runbooks = await readFile(join(chart, 'docs/runbooks.md'), 'utf8');
  const [, section = ''] = runbooks.split(`## ${alert}\n`);
  return (section.split('\n##')[0] ?? '').replaceAll(/\s+/g, ' ');
};

test('alert and runbook of NotGranted name a missing permission of the operator', async () => {
  const name = 'StaticExportTargetsNotSynced';
  const alert = (await readAlerts('vendor')).find((one) => one.alert === name);
  for (const words of [alert?.annotations['runbook'] ?? '', await runbookOf(name)]) {
    const [, granted = ''] = words.split(/\bNotGranted`?: /);
    const [causes = ''] = granted.split(/`?(?:Refused|WriteFailed)`?: /);
    assert.match(
      causes,
      /missing.*annotat.*the operator cannot read it(?::| →) outside .*targets\.values/,
      words,
    );
  }
});

test('alert and runbook of a target name each reason that fires, and the remedy for a git repository', async () => {
  const alerts = await readAlerts('vendor');
  const wordsOf = async (name: string) => [
    alerts.find(({ alert }) => alert === name)?.annotations['runbook'] ?? '',
    await runbookOf(name),
  ];
  for (const words of await wordsOf('StaticExportTargetsNotSynced')) {
    for (const reason of ['NotGranted', 'Refused', 'WriteFailed', 'PushFailed']) {
      assert.match(words, new RegExp(`\\b${reason}\\b`), words);
    }
    const [, push = ''] = words.split(/\bPushFailed\b/);
    for (const remedy of [/Unauthorized.*token/, /ProtectedBranch.*pullRequestBranch/, /HostNotAllowed/]) {
      assert.match(push, remedy, words);
    }
    assert.doesNotMatch(words, /AwaitingMerge` → /, 'a reason of the status Unknown fires no alert');
  }
  for (const words of await wordsOf('StaticExportTargetsContested')) {
    assert.match(words, /git repository.*git log -p FILE.*author.*change of the spec/, words);
  }
});

test('the runbook of a refused watch has the causes of every mode', async () => {
  const words = await runbookOf('StaticExportNamespaceRefused');
  for (const cause of [/CRD is missing/, /ClusterRole or ClusterRoleBinding/, /its Role or RoleBinding/]) {
    assert.match(words, cause);
  }
  assert.doesNotMatch(words, /operator's own namespace/);
});

test('disabled alerts are not rendered, and thresholds follow the values', async () => {
  const names = (await readAlerts()).map(({ alert }) => alert);
  assert.ok(!names.includes('StaticExportClockSkew'));
  const prometheusRule = { linkRemainingPercent: 25, exportFailingFor: '90m' };
  const alerts = await readAlerts('vendor', { monitoring: { prometheusRule } });
  const find = (name: string) => alerts.find(({ alert }) => alert === name);
  assert.match(find('StaticExportLinkExpiring')?.expr ?? '', /< 0\.25 > 0 unless /);
  assert.equal(find('StaticExportFailing')?.for, '90m');
  assert.ok(find('StaticExportClockSkew') !== undefined);
  assert.equal(find('StaticExportClockSkew')?.annotations['runbook_url'], undefined);
});

const dashboardShape = z.object({
  uid: z.string(),
  panels: z.array(
    z.object({
      id: z.number(),
      title: z.string(),
      targets: z.array(z.object({ expr: z.string() })).min(1),
      gridPos: z.object({ x: z.number(), y: z.number(), w: z.number(), h: z.number() }),
    }),
  ),
});

test('the dashboard shows metrics that exist, and no panel covers another', async () => {
  const data = pick(await render('everything'), 'ConfigMap/exporter-dashboard').at(
    'data.static-export-operator~json',
  );
  const { panels } = dashboardShape.parse(JSON.parse(String(data)));
  const metrics = await exposedMetrics();
  const cells = new Set<string>();
  for (const { title, targets, gridPos } of panels) {
    for (const { expr } of targets) assertKnown(metrics, metricsIn(expr), title);
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1) {
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
        assert.ok(!cells.has(`${x},${y}`) && x < 24, title);
        cells.add(`${x},${y}`);
      }
    }
  }
  assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
});

test('the dashboard counts only this operator: metrics with common names are selected by job', async () => {
  const text = await readFile(join(chart, 'files/dashboard.json'), 'utf8');
  const { panels } = dashboardShape.parse(JSON.parse(text));
  const exprs = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
  const shared = exprs.flatMap((expr) => [
    ...expr.matchAll(/\b(?:leader_election|workqueue|controller_runtime)_\w+(\{[^}]*\})?/g),
  ]);
  assert.ok(shared.length >= 4);
  for (const [series, selector = ''] of shared) {
    assert.match(selector, /\b(?:name|controller)="staticexport"/, series);
  }
});

test('the README’s table has every metric of the operator with its type, and no other', async () => {
  const readme = await readFile(join(chart, 'README.md'), 'utf8');
  const rows = [...readme.matchAll(/^\| `([a-z_]+)` \| (counter|gauge|histogram|summary) \| .{10,} \|$/gm)];
  const told = new Map(rows.map(([, name = '', type = '']) => [name, type]));
  const own = [...(await exposedMetrics())].filter(([name]) => !/^(process|nodejs)_/.test(name));
  assert.deepEqual(
    [...told].sort(),
    own.map(([name, { type }]) => [name, type]).sort(([a = ''], [b = '']) => (a < b ? -1 : 1)),
  );
});
