// The rules of a chart and Prometheus' own promtool: what it says of series that were made up for them.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { runCommand } from '../support/command.ts';
import { type SeriesCase, scrapeSeconds } from './alert-series.ts';
import { chartsFolder, renderChart } from './rendered-chart.ts';

const groupsShape = z.array(
  z
    .object({
      rules: z.array(z.object({ alert: z.string(), annotations: z.record(z.string(), z.string()) }).loose()),
    })
    .loose(),
);
export type RuleGroups = z.infer<typeof groupsShape>;

export interface RuledChart {
  readonly chart: string;
  /** And its namespace. */
  readonly release: string;
  readonly values: object;
}

export const operatorChart: RuledChart = {
  chart: 'static-export-operator',
  release: 'ops',
  values: { apiBaseUrl: 'https://e.example' },
};
export const siteChart: RuledChart = {
  chart: 'static-export-site',
  release: 'docs',
  values: {
    staticExport: { existingSecret: 'docs-bundle' },
    conversations: {
      enabled: true,
      apiBaseUrl: 'https://e.example',
      project: 'docs',
      keySecretRef: { name: 'conversations' },
    },
  },
};

export async function readGroups({ chart, release, values }: RuledChart): Promise<RuleGroups> {
  const apiVersions = ['monitoring.coreos.com/v1/PrometheusRule'];
  const options = { release, namespace: release, values, apiVersions };
  const objects = await renderChart(join(chartsFolder, chart), options);
  return groupsShape.parse(objects.find((one) => one.at('kind') === 'PrometheusRule')?.at('spec.groups'));
}

/** No alert looks at another one, and all of them over hours take promtool half a minute. */
export const only = (name: string, groups: RuleGroups): RuleGroups =>
  groups.map((group) => ({ ...group, rules: group.rules.filter(({ alert }) => alert === name) }));

const testAt = ({ series, atMinutes }: SeriesCase, asked: (at: string) => object): object => ({
  interval: `${scrapeSeconds}s`,
  input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
  ...asked(`${atMinutes * 60}s`),
});

/** One of promtool's tests: how many of this alert are firing. */
export const countTest = (alert: string, situation: SeriesCase, count: number): object =>
  testAt(situation, (at) => ({
    promql_expr_test: [
      {
        expr: `count(ALERTS{alertname="${alert}",alertstate="firing"}) or vector(0)`,
        eval_time: at,
        exp_samples: [{ labels: '{}', value: count }],
      },
    ],
  }));

export interface FiringAlert {
  readonly exp_labels: Readonly<Record<string, string>>;
  readonly exp_annotations: Readonly<Record<string, string>>;
}

/** Another: exactly these are firing, with these words. */
export const wordsTest = (alert: string, situation: SeriesCase, expected: readonly FiringAlert[]): object =>
  testAt(situation, (at) => ({
    alert_rule_test: [{ eval_time: at, alertname: alert, exp_alerts: expected }],
  }));

/**
 * Runs tests of alerts, each against the rule of its alert alone.
 * @param everySeconds how often the rules are evaluated
 * @returns what promtool says where a test fails; empty where all hold
 */
export async function failuresOf(
  promtool: string,
  folder: string,
  groups: RuleGroups,
  testsOf: Readonly<Record<string, readonly object[]>>,
  everySeconds: (alert: string) => number = () => scrapeSeconds,
): Promise<string> {
  const files = await Promise.all(
    Object.entries(testsOf).map(async ([alert, tests]) => {
      const file = join(folder, `${alert}.json`);
      const own = join(folder, `${alert}-rule.json`);
      await writeFile(own, JSON.stringify({ groups: only(alert, groups) }));
      const asked = { rule_files: [own], evaluation_interval: `${everySeconds(alert)}s`, tests };
      await writeFile(file, JSON.stringify(asked));
      return file;
    }),
  );
  const { code, stdout, stderr } = await runCommand([promtool, 'test', 'rules', ...files]);
  return code === 0 ? '' : `${stdout}${stderr}`;
}
