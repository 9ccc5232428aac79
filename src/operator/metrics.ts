// What /metrics shows, under the names that dashboards for controllers expect, and `staticexport_*` for what is
// published. Resources are collected at scrape time from their last reconcile, so that a deleted one leaves nothing
// behind. Refuses labels with unbounded or secret values; only a resource's own namespace and name are shown.

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { ReconcileOutcome } from '#operator/loop/context.ts';
import { type NotificationOutcome, notificationOutcomes } from '#operator/notify/notifier.ts';
import { version } from '#platform/runtime/version.ts';
import type { ReconcileResult } from './controller/controller.ts';
import { type EventLoss, eventLosses } from './controller/event-recorder.ts';
import { type ResourceReport, registerReports } from './controller/report-metrics.ts';
import { type GaugeRow, registerGauges } from './metrics/collected-gauge.ts';
import { registerWatches, type WatchFigures } from './metrics/watch-metrics.ts';
import type { QueueFigures, QueueObserver } from './queue/work-queue.ts';

export interface MetricsSources {
  readonly workers: number;
  /** Host of the Kubernetes API server. */
  readonly host: string;
  readonly queue: () => QueueFigures;
  /** One per resource that this process has reconciled as the leader. */
  readonly reports: () => readonly ResourceReport[];
  readonly inspections: { readonly taken: number; readonly waiting: number };
  readonly watch: () => WatchFigures;
}

export type OperatorMetrics = ReturnType<typeof createMetrics>;

const queueLabels = { name: 'staticexport' };
const controllerLabels = { controller: 'staticexport' };
const reconcileBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];
const queueBuckets = [1e-3, 1e-2, 0.1, 1, 10, 100, 1000];

const processGauges: readonly GaugeRow<MetricsSources>[] = [
  [
    'staticexport_build_info',
    'Always 1; the version that runs',
    () => [{ labels: { version }, value: 1 }],
    ['version'],
  ],
  ['staticexport_inspections_active', 'Archives that are inspected', ({ inspections }) => inspections.taken],
  [
    'staticexport_inspections_waiting',
    'Archives that wait for a slot',
    ({ inspections }) => inspections.waiting,
  ],
];

const queueGauges: readonly GaugeRow<QueueFigures>[] = [
  ['workqueue_depth', 'Keys that wait for a worker', ({ waiting }) => waiting],
  [
    'workqueue_unfinished_work_seconds',
    'Sum of the ages of all running reconciles',
    ({ unfinishedMs }) => unfinishedMs / 1000,
  ],
  [
    'workqueue_longest_running_processor_seconds',
    'Age of the oldest running reconcile',
    ({ longestActiveMs }) => longestActiveMs / 1000,
  ],
];

const workerGauges: readonly GaugeRow<MetricsSources>[] = [
  ['controller_runtime_max_concurrent_reconciles', 'Workers', ({ workers }) => workers],
  ['controller_runtime_active_workers', 'Workers that reconcile', ({ queue }) => queue().active],
];

export function createMetrics(sources: MetricsSources) {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  registerReports(registry, sources.reports);
  registerWatches(registry, sources.watch);
  registerGauges(registry, processGauges, [], () => [[{}, sources]]);
  registerGauges(registry, queueGauges, ['name'], () => [[queueLabels, sources.queue()]]);
  registerGauges(registry, workerGauges, ['controller'], () => [[controllerLabels, sources]]);
  const { counter, gauge, histogram } = metricsIn(registry);
  const requestLabels = ['code', 'method', 'host'];
  const requests = counter(
    'rest_client_requests_total',
    'Requests to the Kubernetes API server',
    requestLabels,
  );
  const leader = gauge('leader_election_master_status', '1 while this process holds the lease', ['name']);
  leader.set(queueLabels, 0);
  const skew = gauge(
    'staticexport_api_clock_skew_seconds',
    'Clock of an export API minus the local clock, at its last link',
    ['host'],
  );
  const dropped = counter(
    'staticexport_events_dropped_total',
    'Events that were not written: too many of one object (flood), too many at once (crowd), refused',
    ['reason'],
  );
  const gitTasks = counter('staticexport_git_tasks_total', 'Tasks on repositories of git targets', [
    'outcome',
  ]);
  const gitSeconds = histogram(
    'staticexport_git_task_duration_seconds',
    'Duration of a task on a repository of git targets, with its wait for the process',
    [],
    [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300],
  );
  const notifications = counter(
    'staticexport_notifications_total',
    'Notifications to webhooks of spec.notify: delivered, failed, or dropped because too many waited',
    ['outcome'],
  );
  for (const outcome of notificationOutcomes) notifications.inc({ outcome }, 0);
  for (const reason of eventLosses) dropped.inc({ reason }, 0);
  return {
    registry,
    queue: queueMetrics(registry),
    request: ({ method, code }: { readonly method: string; readonly code: string }): void =>
      requests.inc({ code, method, host: sources.host }),
    leading: (isLeader: boolean): void => leader.set(queueLabels, isLeader ? 1 : 0),
    /** An export API's clock minus the local clock. */
    skew: (host: string, skewMs: number): void => skew.set({ host }, skewMs / 1000),
    gitTask: (outcome: string, tookMs: number): void => {
      gitTasks.inc({ outcome });
      gitSeconds.observe(tookMs / 1000);
    },
    eventDropped: (reason: EventLoss): void => dropped.inc({ reason }),
    notified: (outcome: NotificationOutcome): void => notifications.inc({ outcome }),
    reconciled: reconcileMetrics(registry),
  };
}

function metricsIn(registry: Registry) {
  const registers = [registry];
  return {
    counter: (name: string, help: string, labelNames: string[]) =>
      new Counter({ name, help, labelNames, registers }),
    gauge: (name: string, help: string, labelNames: string[]) =>
      new Gauge({ name, help, labelNames, registers }),
    histogram: (name: string, help: string, labelNames: string[], buckets: number[]) =>
      new Histogram({ name, help, labelNames, buckets, registers }),
  };
}

function queueMetrics(registry: Registry): QueueObserver {
  const { counter, histogram } = metricsIn(registry);
  const adds = counter('workqueue_adds_total', 'Keys added', ['name']);
  const duration = (name: string, help: string) => histogram(name, help, ['name'], queueBuckets);
  const waited = duration('workqueue_queue_duration_seconds', 'Time from added to taken');
  const worked = duration('workqueue_work_duration_seconds', 'Time from taken to done');
  return {
    added: () => adds.inc(queueLabels),
    taken: (waitedMs) => waited.observe(queueLabels, waitedMs / 1000),
    finished: (workedMs) => worked.observe(queueLabels, workedMs / 1000),
  };
}

function reconcileMetrics(registry: Registry) {
  const { counter, histogram } = metricsIn(registry);
  const labels = ['controller'];
  const total = counter('controller_runtime_reconcile_total', 'Reconciles by result', [...labels, 'result']);
  const errors = counter('controller_runtime_reconcile_errors_total', 'Reconciles that failed', labels);
  const timeouts = counter(
    'controller_runtime_reconcile_timeouts_total',
    'Reconciles that timed out',
    labels,
  );
  const retries = counter('workqueue_retries_total', 'Keys retried after a failure', ['name']);
  const actions = counter(
    'staticexport_actions_total',
    'Calls to export APIs by action, and reconciles that inspect an archive (inspect)',
    ['action'],
  );
  const failures = counter('staticexport_action_failures_total', 'Those that failed', ['reason']);
  const seconds = histogram(
    'controller_runtime_reconcile_time_seconds',
    'Duration of a reconcile',
    labels,
    reconcileBuckets,
  );
  // Present from the start: a rate over a counter that appears with its first error misses that error.
  errors.inc(controllerLabels, 0);
  timeouts.inc(controllerLabels, 0);
  retries.inc(queueLabels, 0);
  for (const result of ['success', 'requeue_after', 'conflict', 'error', 'timeout']) {
    total.inc({ ...controllerLabels, result }, 0);
  }
  return (result: ReconcileResult, tookMs: number, outcome: ReconcileOutcome | undefined): void => {
    total.inc({ ...controllerLabels, result: result === 'gone' ? 'success' : result });
    seconds.observe(controllerLabels, tookMs / 1000);
    if (result === 'error' || result === 'timeout') errors.inc(controllerLabels);
    if (result === 'timeout') timeouts.inc(controllerLabels);
    if (outcome === undefined) retries.inc(queueLabels);
    const { action = 'none', actionFailure: reason } = outcome?.report ?? {};
    if (action !== 'none') actions.inc({ action });
    if (reason !== undefined) failures.inc({ reason });
  };
}
