// The operator's alerts where others are scraped too, and where labels are stored in another way: StaticExports of one
// name in two namespaces, installations of one name in two namespaces, and a Prometheus that honours no labels, such as
// that of OpenShift for its users: there the resource's namespace is `exported_namespace`.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { maySkip } from '../support/may-skip.ts';
import { findPromtool } from '../support/promtool.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { always, line, type SeriesCase, scrapeSeconds, seen } from './alert-series.ts';
import { operatorAlerts } from './operator-alert-series.ts';
import { handedOver, job, ofOperator } from './operator-series.ts';
import { countTest, failuresOf, operatorChart, readGroups, wordsTest } from './promtool-rules.ts';

type Rename = (series: string) => string;

const isOperators = (series: string): boolean => series.includes(`job="${job}"`);
/** What a line has of its own, and not from the place where it was scraped. */
const isOfResource = (series: string): boolean => isOperators(series) && !series.includes('namespace="ops"');

const renamed = ({ series, atMinutes }: SeriesCase, rename: Rename): SeriesCase => ({
  series: Object.fromEntries(Object.entries(series).map(([name, values]) => [rename(name), values])),
  atMinutes,
});
const together = (one: SeriesCase, other: SeriesCase): SeriesCase => ({
  series: { ...one.series, ...other.series },
  atMinutes: one.atMinutes,
});

/** As a Prometheus with `overrideHonorLabels` stores it. */
const overridden: Rename = (series) =>
  isOfResource(series)
    ? series.replace(/\bnamespace="([^"]*)"/, 'namespace="ops",exported_namespace="$1"')
    : series;
/** The same of the StaticExport of this name in another namespace. */
const elsewhere: Rename = (series) =>
  isOfResource(series) ? series.replace(/\bnamespace="[^"]*"/, 'namespace="elsewhere"') : series;
/** As the chart's ServiceMonitor of the release in that namespace has it. */
const scrapedIn =
  (namespace: string): Rename =>
  (series) =>
    isOperators(series) ? series.replace('{', `{operator_namespace="${namespace}",`) : series;

/** Of alerts that are of resources, or of what another thing has of the operator's: all but the operator's own. */
const ofResources = Object.entries(operatorAlerts).filter(([, { fires }]) =>
  fires.some(({ series }) => Object.keys(series).some(isOfResource)),
);
/** One for all resources. */
const isOne = (alert: string): boolean => alert === 'StaticExportOperatorsOverlap';

/** Where all situations take hours; the labels count here, and alert-rules.test.ts evaluates the same ones at each scrape. */
const everySeconds = (alert: string): number => {
  const { fires = [], stays = [] } = operatorAlerts[alert] ?? {};
  return [...fires, ...stays].every(({ atMinutes }) => atMinutes > 60) ? 120 : scrapeSeconds;
};

const found = await findPromtool();

suite('alerts of the operator under other Prometheus settings', {
  skip: maySkip('promtool', 'missing' in found && found.missing),
}, async () => {
  const promtool = 'path' in found ? found.path : '';
  const folder = temporaryFolder();
  const groups = await readGroups(operatorChart);

  async function assertEach(
    alerts: typeof ofResources,
    testsOf: (alert: string, cases: (typeof ofResources)[number][1]) => readonly object[],
  ): Promise<void> {
    assert.ok(alerts.length >= 12);
    const tests = alerts.map(([alert, cases]) => [alert, testsOf(alert, cases)]);
    assert.equal(await failuresOf(promtool, folder, groups, Object.fromEntries(tests), everySeconds), '');
  }

  test('two StaticExports of one name cause two alerts, whether labels are honoured or overridden', () =>
    assertEach(ofResources, (alert, { fires }) =>
      fires.flatMap((one) => {
        const both = together(one, renamed(one, elsewhere));
        const count = isOne(alert) ? 1 : 2;
        return [both, renamed(both, overridden)].map((situation) => countTest(alert, situation, count));
      }),
    ));

  test('with overridden labels alerts stay silent in the same cases', () =>
    assertEach(ofResources, (alert, { stays }) =>
      stays.map((one) => countTest(alert, renamed(one, overridden), 0)),
    ));

  test('an expired link is reported with its own namespace, next to a valid link of the same name', async () => {
    const of = (namespace: string, seconds: number): SeriesCase =>
      renamed(seen(30, handedOver('staticexport_link_expiry_timestamp_seconds', {}, seconds, 5)), (series) =>
        series.replace('namespace="docs"', `namespace="${namespace}"`),
      );
    const situation = together(of('team-a', 600), of('team-b', 999_999));
    const rule = groups
      .flatMap(({ rules }) => rules)
      .find(({ alert }) => alert === 'StaticExportLinkExpired');
    const { summary = '', description = '', runbook = '' } = rule?.annotations ?? {};
    const command = 'kubectl --namespace team-a describe staticexport docs: ';
    const words = {
      summary: 'The published link of team-a/docs has expired.',
      description,
      runbook: `${command}${runbook.slice(runbook.indexOf(': ') + 2)}`,
    };
    assert.doesNotMatch(summary, /team-a/);
    const labels = { severity: 'critical', job, name: 'docs' };
    const tests = [
      wordsTest('StaticExportLinkExpired', situation, [
        { exp_labels: { ...labels, namespace: 'team-a' }, exp_annotations: words },
      ]),
      wordsTest('StaticExportLinkExpired', renamed(situation, overridden), [
        {
          exp_labels: { ...labels, namespace: 'ops', exported_namespace: 'team-a' },
          exp_annotations: words,
        },
      ]),
    ];
    assert.equal(await failuresOf(promtool, folder, groups, { StaticExportLinkExpired: tests }), '');
  });

  test('rules ignore a release of the same name in another namespace', () =>
    assertEach(ofResources, (alert, { fires }) =>
      fires.flatMap((one) => [
        countTest(alert, renamed(one, scrapedIn('ops')), 1),
        countTest(alert, renamed(one, scrapedIn('ops-two')), 0),
      ]),
    ));

  test('a refused watch names its namespace, also the namespace of the release', async () => {
    const alert = 'StaticExportNamespaceRefused';
    const values = { ...operatorChart.values, watchNamespaces: ['docs', 'ops'] };
    const some = await readGroups({ ...operatorChart, values });
    const refused = seen(12, {
      [line('staticexport_watch_refused', { job, pod: 'a', namespace: 'docs' })]: always(1),
      [line('staticexport_watch_refused', { job, pod: 'a', namespace: 'ops' })]: always(1),
    });
    const all = (series: string): string =>
      series.replace(/\bnamespace="([^"]*)"/, 'namespace="ops",exported_namespace="$1"');
    const rule = some.flatMap(({ rules }) => rules).find((one) => one.alert === alert);
    const expected = (namespace: string, labels: Readonly<Record<string, string>>) => ({
      exp_labels: { severity: 'warning', job, ...labels },
      exp_annotations: {
        ...rule?.annotations,
        summary: `The operator has no permission to watch StaticExports in namespace ${namespace}.`,
      },
    });
    const tests = [
      wordsTest(alert, refused, [
        expected('docs', { namespace: 'docs' }),
        expected('ops', { namespace: 'ops' }),
      ]),
      wordsTest(
        alert,
        renamed(refused, all),
        ['docs', 'ops'].map((one) => expected(one, { namespace: 'ops', exported_namespace: one })),
      ),
    ];
    assert.equal(await failuresOf(promtool, folder, some, { [alert]: tests }), '');
    // Where all are watched the line has no namespace of its own: it gets that of the place where it was scraped.
    const own = seen(12, { [line('staticexport_watch_refused', ofOperator('a'))]: always(1) });
    assert.equal(await failuresOf(promtool, folder, groups, { [alert]: [countTest(alert, own, 1)] }), '');
  });
});
