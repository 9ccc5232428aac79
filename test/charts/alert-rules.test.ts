// Every alert of both charts, evaluated by Prometheus' own promtool: it fires on the series that it is for, and is
// silent on the near misses. An alert without series fails here, and so do series without an alert.

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { runCommand } from '../support/command.ts';
import { maySkip } from '../support/may-skip.ts';
import { findPromtool } from '../support/promtool.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import type { AlertCases } from './alert-series.ts';
import { operatorAlerts } from './operator-alert-series.ts';
import { countTest, failuresOf, operatorChart, readGroups, siteChart } from './promtool-rules.ts';
import { siteAlerts } from './site-alert-series.ts';

const charts = [
  { ...operatorChart, alerts: operatorAlerts },
  { ...siteChart, alerts: siteAlerts },
];

const testsOf = (alert: string, { fires, stays }: AlertCases): readonly object[] => [
  ...fires.map((one) => countTest(alert, one, 1)),
  ...stays.map((one) => countTest(alert, one, 0)),
];

const found = await findPromtool();

suite('alerts, as Prometheus evaluates them', {
  skip: maySkip('promtool', 'missing' in found && found.missing),
}, async () => {
  const promtool = 'path' in found ? found.path : '';
  const folder = temporaryFolder();

  for (const one of charts) {
    test(`${one.chart}: each alert fires when it must and not before`, async () => {
      const groups = await readGroups(one);
      const names = groups.flatMap(({ rules }) => rules.map(({ alert }) => alert));
      assert.deepEqual([...names].sort(), Object.keys(one.alerts).sort());
      const rules = join(folder, `${one.chart}-rules.json`);
      await writeFile(rules, JSON.stringify({ groups }));
      const checked = await runCommand([promtool, 'check', 'rules', rules]);
      assert.equal(checked.code, 0, checked.stdout + checked.stderr);

      const tests = Object.entries(one.alerts).map(([alert, cases]) => [alert, testsOf(alert, cases)]);
      assert.equal(await failuresOf(promtool, folder, groups, Object.fromEntries(tests)), '');
    });
  }
});
