// What a scrape shows: dashboards' names from the start, one line per resource, none of a resource that is gone.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StoredResource } from '../../../src/kube/stored-object.ts';
import type { Observed, PassOutcome } from '../../../src/loop/edge.ts';
import { createMetrics } from '../../../src/operator/metrics.ts';
import { createReports } from '../../../src/operator/reports.ts';

const observed: Observed = {
  isReady: true,
  isSuspended: false,
  exportState: 'resting',
  linkState: 'fresh',
  wantState: 'satisfied',
  action: 'mint',
  linkExpiresAt: 1_763_722_800_000,
  linkIssuedAt: 1_763_722_000_000,
  nextRefreshAt: undefined,
  nextExportAt: undefined,
  failure: undefined,
};
const outcome = (more: Partial<Observed> = {}): PassOutcome => ({
  wakeAfterMs: 1,
  because: 'x',
  observed: { ...observed, ...more },
});
const stored: StoredResource = {
  metadata: {
    namespace: 'ns',
    name: 'docs',
    uid: 'u',
    resourceVersion: '1',
    annotations: {},
    labels: {},
    ownerReferences: [],
  },
  spec: {},
  status: { active: { pages: 42, exportedAt: '2026-11-21T10:00:00Z' } },
};

function start() {
  const reports = createReports({ get: (key) => (key === 'ns/docs' ? stored : undefined) });
  const metrics = createMetrics({
    workers: 4,
    host: '10.0.0.1:6443',
    queueFigures: () => ({ waiting: 3, active: 1, delayed: 9, longestActiveMs: 2_500, unfinishedMs: 2_500 }),
    reports: reports.list,
    watch: () => ({ missedChanges: 2, silenceSeconds: Number.POSITIVE_INFINITY, objects: 5 }),
  });
  return { reports, metrics, scrape: () => metrics.registry.metrics() };
}

const key = { namespace: 'ns', name: 'docs' };
const label = 'namespace="ns",name="docs"';

test('a resource is shown as its last pass and its status have it', async () => {
  const { reports, scrape } = start();
  reports.put(key, outcome({ isReady: false }));
  reports.put(key, outcome());
  const text = await scrape();
  for (const line of [
    `staticexport_ready{${label}} 1`,
    `staticexport_pages{${label}} 42`,
    `staticexport_link_expiry_timestamp_seconds{${label}} 1763722800`,
    `staticexport_last_success_timestamp_seconds{${label}} 1795255200`,
  ]) {
    assert.ok(text.split('\n').includes(line), `${line} in\n${text}`);
  }
  assert.doesNotMatch(text, /staticexport_next_refresh_timestamp_seconds\{/);
});

test('a failed pass leaves what was known, a resource that is gone leaves nothing', async () => {
  const { reports, scrape } = start();
  reports.put(key, outcome());
  await scrape();
  reports.put(key, undefined);
  assert.match(await scrape(), new RegExp(`staticexport_ready\\{${label}\\} 1`));
  reports.put(key, { wakeAfterMs: undefined, because: 'gone', observed: undefined });
  assert.doesNotMatch(await scrape(), /name="docs"/);
});

test('a resource whose spec cannot be read is shown as not ready', async () => {
  const { reports, scrape } = start();
  reports.put(key, { wakeAfterMs: 3_600_000, because: 'unreadable', observed: undefined });
  assert.match(await scrape(), new RegExp(`staticexport_ready\\{${label}\\} 0`));
});

test("passes, queue, requests and leadership have the names that controllers' dashboards expect", async () => {
  const { metrics, scrape } = start();
  assert.match(await scrape(), /^controller_runtime_reconcile_errors_total\{controller="staticexport"\} 0$/m);
  metrics.pass(key, 'requeue_after', 120, outcome());
  metrics.pass(key, 'error', 120, undefined);
  metrics.pass(key, 'timeout', 120, undefined);
  metrics.request({ method: 'GET', code: '200' });
  metrics.leading(true);
  metrics.queue.added();
  metrics.queue.taken(500);
  metrics.queue.finished(1_500);
  const text = await scrape();
  for (const line of [
    'controller_runtime_reconcile_total{controller="staticexport",result="requeue_after"} 1',
    'controller_runtime_reconcile_errors_total{controller="staticexport"} 2',
    'controller_runtime_reconcile_timeouts_total{controller="staticexport"} 1',
    'controller_runtime_reconcile_time_seconds_count{controller="staticexport"} 3',
    'controller_runtime_active_workers{controller="staticexport"} 1',
    'controller_runtime_max_concurrent_reconciles{controller="staticexport"} 4',
    'workqueue_depth{name="staticexport"} 3',
    'workqueue_adds_total{name="staticexport"} 1',
    'workqueue_retries_total{name="staticexport"} 2',
    'workqueue_longest_running_processor_seconds{name="staticexport"} 2.5',
    'workqueue_queue_duration_seconds_sum{name="staticexport"} 0.5',
    'rest_client_requests_total{code="200",method="GET",host="10.0.0.1:6443"} 1',
    'leader_election_master_status{name="staticexport"} 1',
    'staticexport_actions_total{action="mint"} 1',
    'staticexport_watch_missed_changes 2',
  ]) {
    assert.ok(text.split('\n').includes(line), `${line} in\n${text}`);
  }
});
