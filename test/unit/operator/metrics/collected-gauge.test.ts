// A gauge made line by line says what the registry would, and lets others run while thousands of lines are made.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { CollectedGauge, type GaugeLine } from '#operator/metrics/collected-gauge.ts';
import { type Clock, systemClock } from '#platform/runtime/clock.ts';
import { adminApp } from '#platform/runtime/http/admin-port.ts';
import { listenHttp } from '#platform/runtime/http/http-listener.ts';
import * as fc from '../../../support/properties.ts';

function gaugeOf(read: () => Iterable<GaugeLine>, help = 'a gauge') {
  const registry = new Registry();
  const labelNames = ['name', 'reason'];
  return { registry, gauge: new CollectedGauge(registry, 'docs_ready', help, labelNames, read) };
}

test("property: the pieces together equal the registry's text", async () => {
  const label = fc.string({ unit: fc.constantFrom('a', '"', '\\', '\n', '{', '}', ' ', 'é', '\u2028') });
  const help = label.map((text) => `a gauge ${text}`);
  const value = fc.oneof(fc.double({ noNaN: true }), fc.integer());
  const line = fc.record({ labels: fc.record({ name: label, reason: label }), value });
  await fc.assertAsync(
    fc.asyncProperty(fc.array(line, { maxLength: 1200, size: 'max' }), help, async (lines, words) => {
      const { registry, gauge } = gaugeOf(() => lines, words);
      const atOnce = await registry.getSingleMetricAsString('docs_ready');
      assert.equal([...gauge.pieces()].join(''), `${atOnce}\n`);
    }),
    { numRuns: 30 },
  );
});

test('lines are made when they are read, a few hundred at a time', () => {
  let made = 0;
  const { gauge } = gaugeOf(function* () {
    for (; made < 10_000; made += 1) yield { labels: { name: `n${made}` }, value: 1 };
  });
  const seen = Array.from(gauge.pieces(), () => made);
  assert.equal(seen[0], 0, 'the header needs none');
  for (const [index, count] of seen.entries()) assert.ok(count - (seen[index - 1] ?? 0) <= 500);
});

test('other requests are answered while thousands of lines are sent', async () => {
  let turns = 0;
  const turnsAt: number[] = [];
  const { registry } = gaugeOf(function* () {
    for (let made = 0; made < 5_000; made += 1) {
      if (made % 500 === 0) turnsAt.push(turns);
      yield { labels: { name: `n${made}` }, value: made };
    }
  });
  let now = 0;
  const clock: Clock = { ...systemClock, monotonic: () => (now += 1) };
  const app = adminApp({ readiness: () => undefined, registry, clock });
  const listener = await listenHttp({ host: '127.0.0.1', port: 0 }, app, systemClock);
  const over = new AbortController();
  const others = (async () => {
    for (; !over.signal.aborted; turns += 1) await setImmediate();
  })();
  const text = await (await fetch(`${listener.url}/metrics`)).text();
  over.abort();
  await others;
  await listener.close({ lingerMs: 0, graceMs: 1_000 });
  assert.equal(text.split('\n').filter((line) => line.startsWith('docs_ready{')).length, 5_000);
  assert.ok(new Set(turnsAt).size > 1, 'some ran between the first line and the last');
});
