// What a long campaign plays with a memory is what the product does without one: the same life, to the last count.

import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { Cron } from 'croner';
import fc from 'fast-check';
import { stringify } from 'yaml';
import { playLife } from './life.ts';
import { Cron as RememberedCron } from './memo/croner.ts';
import { stringify as remembered } from './memo/yaml.ts';

const lives = [
  { seed: 3, days: 12 },
  { seed: 11, days: 12 },
];

for (const life of lives) {
  test(`life ${life.seed} is the same with memory and without`, async () => {
    const child = fork(new URL('./campaign-worker.ts', import.meta.url), {
      execArgv: ['--import', new URL('./memo/hooks.ts', import.meta.url).href],
    });
    const answered = once(child, 'message');
    const died = once(child, 'exit').then(([code]) => assert.fail(`ended with ${code}`));
    child.send(life);
    const [report] = await Promise.race([answered, died]);
    child.disconnect();
    await died.catch(() => {});
    const plain = await playLife(life.seed, life.days);
    assert.deepEqual(report, { seed: life.seed, facts: plain });
    assert.ok((plain['passes'] ?? 0) > 100 && (plain['links'] ?? 0) > 5, JSON.stringify(plain));
  });
}

test('values.yaml of a memory is the one that is written without', () => {
  for (const bundleUrl of [
    undefined,
    'https://storage.test/b7.tar.gz?X-Sig=c2lnbmF0dXJl7&X-Amz-Expires=600',
  ]) {
    const value = { staticExport: { enabled: true, bundleUrl, version: '20260105-120105-9da51328' } };
    for (let times = 0; times < 2; times += 1) {
      assert.equal(remembered(value, { lineWidth: 0 }), stringify(value, { lineWidth: 0 }));
    }
  }
});

test('a pattern of a memory has the ticks that it has without, whatever is asked for first', () => {
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
