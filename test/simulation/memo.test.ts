// What a long campaign plays with a memory is what the product does without one: the same life, to the last count.

import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { stringify } from 'yaml';
import { playLife } from './life.ts';
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
