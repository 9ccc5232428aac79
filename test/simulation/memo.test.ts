// A scenario run with the campaign's cache equals one without it, in all counts.

import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { Cron } from 'croner';
import { stringify } from 'yaml';
import * as fc from '../support/properties.ts';
import { Cron as RememberedCron } from './memo/croner.ts';
import { stringify as remembered } from './memo/yaml.ts';
import { playScenarioRun } from './scenario-run.ts';

const runs = [
  { seed: 3, days: 12 },
  { seed: 11, days: 12 },
];

for (const run of runs) {
  test(`scenario run ${run.seed} is the same with and without the cache`, async () => {
    const child = fork(new URL('./campaign-worker.ts', import.meta.url), {
      execArgv: ['--import', new URL('./memo/hooks.ts', import.meta.url).href],
    });
    const answered = once(child, 'message');
    const ended = once(child, 'exit').then(([code]) => assert.fail(`ended with ${code}`));
    child.send(run);
    const [report] = await Promise.race([answered, ended]);
    child.disconnect();
    await ended.catch(() => {});
    const plain = await playScenarioRun(run.seed, run.days);
    assert.deepEqual(report, { seed: run.seed, facts: plain });
    assert.ok((plain['passes'] ?? 0) > 100 && (plain['links'] ?? 0) > 5, JSON.stringify(plain));
  });
}

test('values.yaml is the same with and without the cache', () => {
  for (const bundleUrl of [
    undefined,
    'https://storage.test/b7.tar.gz?X-Sig=c2lnbmF0dXJl7&X-Amz-Expires=600',
  ]) {
    const value = { staticExport: { enabled: true, bundleUrl, version: '20260105-120105-9da51328' } };
    const quoted = { lineWidth: 0, defaultStringType: 'QUOTE_DOUBLE' } as const;
    for (const options of [quoted, { lineWidth: 0 }, quoted]) {
      assert.equal(remembered(value, options), stringify(value, options));
    }
  }
});

test('a schedule has the same ticks with and without the cache, in any order of questions', () => {
  const begin = Date.UTC(2026, 0, 5, 12);
  const about = fc.integer({ min: -200 * 86_400_000, max: 400 * 86_400_000 }).map((ms) => begin + ms);
  const onTick = about.map((ms) => Math.floor(ms / 10_800_000) * 10_800_000);
  for (const pattern of ['0 3 * * *', '30 */6 * * *', '0 3 * * 1']) {
    const options = { timezone: 'UTC', paused: true, mode: '5-part' } as const;
    const [plain, known] = [new Cron(pattern, options), new RememberedCron(pattern, options)];
    assert.deepEqual(known.nextRun(new Date(0)), plain.nextRun(new Date(0)));
    fc.assert(
      fc.property(fc.oneof(about, onTick), (at) => {
        assert.deepEqual(known.nextRun(new Date(at)), plain.nextRun(new Date(at)));
      }),
      { seed: 1, numRuns: 300 },
    );
  }
});
