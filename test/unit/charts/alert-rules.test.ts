// Every alert of both charts, evaluated by Prometheus' own promtool: it fires on the series that it is for, and is
// silent on the near misses. An alert without series fails here, and so do series without an alert.

import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import { z } from 'zod';
import { runCommand } from '../../support/command.ts';
import { maySkip } from '../../support/may-skip.ts';
import { findPromtool } from '../../support/promtool.ts';
import { type AlertCases, type SeriesCase, scrapeSeconds } from './alert-series.ts';
import { operatorAlerts } from './operator-alert-series.ts';
import { chartsFolder, renderChart } from './rendered-chart.ts';
import { siteAlerts } from './site-alert-series.ts';

const charts = [
  {
    chart: 'static-export-operator',
    release: 'ops',
    values: { apiBaseUrl: 'https://e.example' },
    alerts: operatorAlerts,
  },
  {
    chart: 'static-export-site',
    release: 'docs',
    values: { staticExport: { existingSecret: 'docs-bundle' } },
    alerts: siteAlerts,
  },
];
const groupsShape = z.array(z.object({ rules: z.array(z.object({ alert: z.string() }).loose()) }).loose());

async function readGroups({
  chart,
  release,
  values,
}: (typeof charts)[number]): Promise<z.infer<typeof groupsShape>> {
  const apiVersions = ['monitoring.coreos.com/v1/PrometheusRule'];
  const options = { release, namespace: release, values, apiVersions };
  const objects = await renderChart(join(chartsFolder, chart), options);
  return groupsShape.parse(objects.find((one) => one.at('kind') === 'PrometheusRule')?.at('spec.groups'));
}

/** No alert looks at another one, and all of them over hours take promtool half a minute. */
const only = (name: string, groups: z.infer<typeof groupsShape>): object[] =>
  groups.map((group) => ({ ...group, rules: group.rules.filter(({ alert }) => alert === name) }));

/** One of promtool's tests: whether this alert is firing. */
function testOf(alert: string, { series, atMinutes }: SeriesCase, isFiring: boolean): object {
  const count = `count(ALERTS{alertname="${alert}",alertstate="firing"})`;
  return {
    interval: `${scrapeSeconds}s`,
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    promql_expr_test: [
      {
        expr: `${count} > 0 or vector(0)`,
        eval_time: `${atMinutes * 60}s`,
        exp_samples: [{ labels: '{}', value: isFiring ? 1 : 0 }],
      },
    ],
  };
}

const testsOf = (alert: string, { fires, stays }: AlertCases): readonly object[] => [
  ...fires.map((one) => testOf(alert, one, true)),
  ...stays.map((one) => testOf(alert, one, false)),
];

const found = await findPromtool();

suite('alerts, as Prometheus evaluates them', {
  skip: maySkip('promtool', 'missing' in found && found.missing),
}, async () => {
  const promtool = 'path' in found ? found.path : '';
  const folder = await mkdtemp(join(tmpdir(), 'alert-rules-'));
  after(() => rm(folder, { recursive: true, force: true }));

  for (const one of charts) {
    test(`${one.chart}: each alert fires when it must and not before`, async () => {
      const groups = await readGroups(one);
      const names = groups.flatMap(({ rules }) => rules.map(({ alert }) => alert));
      assert.deepEqual([...names].sort(), Object.keys(one.alerts).sort());
      const rules = join(folder, `${one.chart}-rules.json`);
      await writeFile(rules, JSON.stringify({ groups }));
      const checked = await runCommand([promtool, 'check', 'rules', rules]);
      assert.equal(checked.code, 0, checked.stdout + checked.stderr);

      const failed: string[] = [];
      for (const [alert, cases] of Object.entries(one.alerts)) {
        const file = join(folder, `${alert}.json`);
        const own = join(folder, `${alert}-rule.json`);
        await writeFile(own, JSON.stringify({ groups: only(alert, groups) }));
        const [evaluation_interval, tests] = [`${scrapeSeconds}s`, testsOf(alert, cases)];
        await writeFile(file, JSON.stringify({ rule_files: [own], evaluation_interval, tests }));
        const { code, stdout, stderr } = await runCommand([promtool, 'test', 'rules', file]);
        if (code !== 0) failed.push(`${alert}: ${stdout}${stderr}`);
      }
      assert.deepEqual(failed, []);
    });
  }
});
