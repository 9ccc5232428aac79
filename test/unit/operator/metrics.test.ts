// What a scrape shows: dashboards' names from the start, one line per resource, none of a resource that is gone.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FailedReconcile } from '#operator/controller/controller.ts';
import { createReports } from '#operator/controller/reports.ts';
import type { ReconcileOutcome, ReconcileReport } from '#operator/loop/context.ts';
import { createMetrics } from '#operator/metrics.ts';
import { knownOf } from '#operator/watch/known-resource.ts';
import type { StaticExportObject } from '#platform/wire/cluster.ts';

const observed: ReconcileReport = {
  isReady: true,
  isSuspended: false,
  action: 'issue',
  linkExpiresAt: 1_763_722_800_000,
  linkIssuedAt: 1_763_722_000_000,
  nextRefreshAt: undefined,
  nextExportAt: undefined,
  failure: undefined,
  actionFailure: undefined,
  blockedBy: undefined,
};
const outcome = (more: Partial<ReconcileReport> = {}): ReconcileOutcome => ({
  wakeAfterMs: 1,
  because: 'x',
  report: { ...observed, ...more },
});
const stored: StaticExportObject = {
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
  status: {
    active: { pages: 42, exportTime: '2026-11-21T10:00:00Z' },
    job: { startTime: '2026-11-21T09:58:00Z', completionTime: '2026-11-21T10:00:00Z' },
    failures: {
      export: { count: 3, reason: 'JobFailed' },
      link: { count: 0, reason: 'RateLimited' },
      mirror: { count: 2, reason: 'Denied' },
    },
    refusedKey: { reason: 'Unauthorized', secretVersion: '7' },
    targets: [
      { name: 'argo', type: 'Application', synced: true, reason: 'Synced' },
      { name: 'flux', type: 'HelmRelease', synced: false, reason: 'RolloutFailed' },
      { name: 'old', type: 'a type of a later version', synced: false },
      { synced: true },
      7,
    ],
    conditions: [
      { type: 'Exported', status: 'False', reason: 'PageCountDropped', message: 'words' },
      { type: 'LinkFresh', status: 'True' },
      'no condition',
    ],
  },
};

/** While the link of `observed` lives. */
const t0 = 1_763_722_100_000;

function start() {
  const wall = { now: t0, isKnown: true };
  const reports = createReports(
    { get: (key) => (wall.isKnown && key === 'ns/docs' ? knownOf(stored) : undefined) },
    { now: () => wall.now },
  );
  const metrics = createMetrics({
    workers: 4,
    host: '10.0.0.1:6443',
    queue: () => ({ waiting: 3, active: 1, delayed: 9, longestActiveMs: 2_500, unfinishedMs: 2_500 }),
    reports: reports.list,
    inspections: { taken: 2, waiting: 7 },
    watch: () => ({
      objects: 5,
      missedChanges: 2,
      silenceSeconds: Number.POSITIVE_INFINITY,
      auditedAt: undefined,
      namespaces: [],
    }),
  });
  return { reports, metrics, wall, scrape: () => metrics.registry.metrics() };
}

const key = { namespace: 'ns', name: 'docs' };
const label = 'namespace="ns",name="docs"';

test("a resource's metrics follow its last reconcile and its status", async () => {
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

test('a resource has the duration of its export and counts of its failures only', async () => {
  const { reports, scrape } = start();
  reports.put(key, outcome());
  const text = await scrape();
  assert.ok(text.includes(`staticexport_export_duration_seconds{${label}} 120\n`), text);
  assert.ok(text.includes(`staticexport_failures{${label},operation="export",reason="JobFailed"} 3\n`), text);
  assert.ok(text.includes(`staticexport_failures{${label},operation="mirror",reason="Denied"} 2\n`), text);
  assert.ok(text.includes(`staticexport_failures{${label},operation="key",reason="Unauthorized"} 1\n`), text);
  assert.doesNotMatch(text, /operation="link"/);
});

test('conditions have their reason and no message', async () => {
  const { reports, scrape } = start();
  reports.put(key, outcome());
  const shown = (await scrape()).split('\n').filter((line) => line.startsWith('staticexport_condition{'));
  assert.deepEqual(shown, [
    `staticexport_condition{${label},type="Exported",status="False",reason="PageCountDropped"} 1`,
    `staticexport_condition{${label},type="LinkFresh",status="True",reason=""} 1`,
  ]);
});

test('targets have their name, type and reason, and a target without a name is left out', async () => {
  const { reports, scrape } = start();
  reports.put(key, outcome());
  const shown = (await scrape()).split('\n').filter((line) => line.startsWith('staticexport_target_synced{'));
  assert.deepEqual(shown, [
    `staticexport_target_synced{${label},target="argo",type="Application",reason="Synced"} 1`,
    `staticexport_target_synced{${label},target="flux",type="HelmRelease",reason="RolloutFailed"} 0`,
    `staticexport_target_synced{${label},target="old",type="",reason=""} 0`,
  ]);
});

test('an overlapping operator is shown by its lease until the overlap ends', async () => {
  const { reports, scrape } = start();
  reports.put(key, { ...outcome(), overlapsWith: 'elsewhere/operator' });
  const line = `staticexport_operators_overlap{${label},operator_lease="elsewhere/operator"} 1`;
  assert.ok((await scrape()).split('\n').includes(line));
  reports.put(key, outcome());
  assert.doesNotMatch(await scrape(), /^staticexport_operators_overlap\{/m);
});

test('the remaining lifetime at a refresh is kept until the next refresh', async () => {
  const { reports, scrape } = start();
  const [issued, expires] = [1_763_722_000_000, 1_763_722_900_000];
  const name = 'staticexport_link_remaining_at_refresh_seconds';
  reports.put(key, outcome({ linkIssuedAt: issued, linkExpiresAt: expires }));
  assert.doesNotMatch(await scrape(), new RegExp(`${name}\\{`));
  reports.put(key, outcome({ linkIssuedAt: issued + 600_000, linkExpiresAt: expires + 600_000 }));
  reports.put(key, outcome({ linkIssuedAt: issued + 600_000, linkExpiresAt: expires + 600_000 }));
  assert.ok((await scrape()).includes(`${name}{${label}} 300\n`));
});

test('an export with unchanged content sets the time of the last success', async () => {
  const active = { exportTime: '2026-11-21T10:00:00Z', lastCheckTime: '2026-11-22T10:00:00Z' };
  const reports = createReports({ get: () => knownOf({ ...stored, status: { active } }) }, { now: () => t0 });
  reports.put(key, outcome());
  assert.equal(reports.list()[0]?.confirmedAt, Date.UTC(2026, 10, 22, 10));
});

const failed = (inARow: number, more: Partial<FailedReconcile> = {}): FailedReconcile => ({
  inARow,
  code: 'Forbidden',
  report: undefined,
  ...more,
});
const gaugesOf = async (scrape: () => Promise<string>): Promise<readonly string[]> => {
  const text = await scrape();
  return ['ready', 'failing', 'failed_reconciles'].map((name) => {
    const line = new RegExp(`^staticexport_${name}\\{${label}\\} (\\d+)$`, 'm');
    return `${name} ${line.exec(text)?.[1] ?? 'absent'}`;
  });
};

test("a failed reconcile keeps the previous metrics, except the failure and the link's expiry", async () => {
  const { reports, scrape, wall } = start();
  reports.put(key, outcome());
  reports.put(key, undefined);
  assert.deepEqual(
    await gaugesOf(scrape),
    ['ready 1', 'failing 0', 'failed_reconciles absent'],
    'only overtaken',
  );
  reports.put(key, undefined, failed(1));
  reports.put(key, undefined, failed(2));
  assert.deepEqual(await gaugesOf(scrape), ['ready 1', 'failing 1', 'failed_reconciles 2']);
  wall.now = observed.linkExpiresAt ?? 0;
  assert.deepEqual(await gaugesOf(scrape), ['ready 0', 'failing 1', 'failed_reconciles 2']);
  reports.put(key, outcome({ linkExpiresAt: wall.now + 60_000 }));
  assert.deepEqual(await gaugesOf(scrape), ['ready 1', 'failing 0', 'failed_reconciles absent']);
});

test('a reconcile that failed after it observed everything updates the metrics', async () => {
  const { reports, scrape, wall } = start();
  reports.put(key, outcome());
  wall.now = observed.linkExpiresAt ?? 0;
  const seen = { ...observed, linkExpiresAt: wall.now + 60_000 };
  reports.put(key, undefined, failed(7, { report: seen }));
  assert.deepEqual(await gaugesOf(scrape), ['ready 1', 'failing 1', 'failed_reconciles 7']);
});

test('a resource without a finished reconcile has metrics until it is deleted', async () => {
  const { reports, scrape, wall } = start();
  reports.put(key, undefined, failed(1));
  assert.deepEqual(await gaugesOf(scrape), ['ready 0', 'failing 1', 'failed_reconciles 1']);
  wall.isKnown = false;
  assert.doesNotMatch(await scrape(), /name="docs"/);
});

test('a deleted resource has no metrics', async () => {
  const { reports, scrape, wall } = start();
  reports.put(key, outcome());
  assert.match(await scrape(), new RegExp(`staticexport_ready\\{${label}\\} 1`));
  wall.isKnown = false;
  reports.put(key, { wakeAfterMs: undefined, because: 'gone', report: undefined });
  assert.doesNotMatch(await scrape(), /name="docs"/);
  // Made again under the same name, it is shown once a pass has seen it.
  wall.isKnown = true;
  assert.doesNotMatch(await scrape(), /name="docs"/);
});

test('a resource that must not call the export API has the reason until it may', async () => {
  const { reports, scrape } = start();
  const name = 'staticexport_calls_blocked';
  reports.put(key, outcome({ blockedBy: 'KeyMissing' }));
  assert.ok((await scrape()).includes(`${name}{${label},reason="KeyMissing"} 1\n`));
  reports.put(key, outcome());
  assert.doesNotMatch(await scrape(), new RegExp(`${name}\\{`));
});

test('a resource with an unreadable spec is not ready', async () => {
  const { reports, scrape } = start();
  reports.put(key, { wakeAfterMs: 3_600_000, because: 'unreadable', report: undefined });
  assert.match(await scrape(), new RegExp(`staticexport_ready\\{${label}\\} 0`));
});

test('reconciles, queue, requests and leadership have the metric names of controller dashboards', async () => {
  const { metrics, scrape } = start();
  assert.match(await scrape(), /^controller_runtime_reconcile_errors_total\{controller="staticexport"\} 0$/m);
  metrics.reconciled('requeue_after', 120, outcome());
  metrics.reconciled('error', 120, undefined);
  metrics.reconciled('timeout', 120, undefined);
  metrics.request({ method: 'GET', code: '200' });
  metrics.leading(true);
  metrics.reconciled(
    'requeue_after',
    1,
    outcome({ action: 'poll', actionFailure: 'RateLimited', failure: 'RateLimited' }),
  );
  // What the cluster refuses is no call of an export API, with an action beside it or without.
  metrics.reconciled('requeue_after', 1, outcome({ action: 'poll', failure: 'Forbidden' }));
  metrics.reconciled('requeue_after', 1, outcome({ action: 'none', failure: 'OutputUnreadable' }));
  metrics.skew('api.example.com', -90_000);
  metrics.eventDropped('crowd');
  metrics.queue.added();
  metrics.queue.taken(500);
  metrics.queue.finished(1_500);
  const text = await scrape();
  for (const line of [
    'controller_runtime_reconcile_total{controller="staticexport",result="requeue_after"} 4',
    'controller_runtime_reconcile_errors_total{controller="staticexport"} 2',
    'controller_runtime_reconcile_timeouts_total{controller="staticexport"} 1',
    'controller_runtime_reconcile_time_seconds_count{controller="staticexport"} 6',
    'controller_runtime_active_workers{controller="staticexport"} 1',
    'controller_runtime_max_concurrent_reconciles{controller="staticexport"} 4',
    'workqueue_depth{name="staticexport"} 3',
    'workqueue_adds_total{name="staticexport"} 1',
    'workqueue_retries_total{name="staticexport"} 2',
    'workqueue_longest_running_processor_seconds{name="staticexport"} 2.5',
    'workqueue_queue_duration_seconds_sum{name="staticexport"} 0.5',
    'rest_client_requests_total{code="200",method="GET",host="10.0.0.1:6443"} 1',
    'leader_election_master_status{name="staticexport"} 1',
    'staticexport_actions_total{action="issue"} 1',
    'staticexport_actions_total{action="poll"} 2',
    'staticexport_action_failures_total{reason="RateLimited"} 1',
    'staticexport_api_clock_skew_seconds{host="api.example.com"} -90',
    'staticexport_watch_missed_changes 2',
    'staticexport_events_dropped_total{reason="crowd"} 1',
    'staticexport_events_dropped_total{reason="flood"} 0',
  ]) {
    assert.ok(text.split('\n').includes(line), `${line} in\n${text}`);
  }
});
