// What a scrape shows of the watches, and what it leaves out while there is nothing to show.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { registerWatches, type WatchFigures } from '#operator/metrics/watch-metrics.ts';

const unheard: WatchFigures = {
  objects: 0,
  missedChanges: 0,
  silenceSeconds: Number.POSITIVE_INFINITY,
  auditedAt: undefined,
  namespaces: [{ namespace: '', isRefused: true }],
};

async function scrape(figures: WatchFigures): Promise<readonly string[]> {
  const registry = new Registry();
  registerWatches(registry, () => figures);
  return (await registry.metrics()).split('\n').filter((line) => line.startsWith('staticexport_'));
}

test('before the first list there are no metrics of silence and audit', async () => {
  assert.deepEqual(await scrape(unheard), [
    'staticexport_resources 0',
    'staticexport_watch_missed_changes 0',
    'staticexport_watch_refused 1',
  ]);
});

test('each namespace has a metric that says whether it is refused, and times are in seconds', async () => {
  const namespaces = [
    { namespace: 'a', isRefused: false },
    { namespace: 'b', isRefused: true },
  ];
  const figures = {
    objects: 5,
    missedChanges: 2,
    silenceSeconds: 1.5,
    auditedAt: 1_763_722_800_000,
    namespaces,
  };
  assert.deepEqual(await scrape(figures), [
    'staticexport_resources 5',
    'staticexport_watch_silence_seconds 1.5',
    'staticexport_watch_missed_changes 2',
    'staticexport_watch_audited_timestamp_seconds 1763722800',
    'staticexport_watch_refused{namespace="a"} 0',
    'staticexport_watch_refused{namespace="b"} 1',
  ]);
});
