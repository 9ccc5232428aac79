// What /metrics shows, under the names that dashboards for controllers expect, and `staticexport_*` for what is
// published. Resources are collected at scrape time from their last reconcile, so that a deleted one leaves nothing
// behind. Refuses labels with unbounded or secret values; only a resource's own namespace and name are shown.

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { PassOutcome } from '../loop/context.ts';
import { version } from '../runtime/version.ts';
import type { ReconcileResult } from './controller/controller.ts';
import { type EventLoss, eventLosses } from './controller/event-recorder.ts';
import { type ResourceReport, registerReports } from './controller/report-metrics.ts';
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

export interface OperatorMetrics {
  readonly registry: Registry;
  readonly queue: QueueObserver;
  readonly request: (answer: { readonly method: string; readonly code: string }) => void;
  readonly leading: (isLeader: boolean) => void;
  /** An export API's clock minus the local clock. */
  readonly skew: (host: string, skewMs: number) => void;
  readonly eventDropped: (reason: EventLoss) => void;
  readonly reconciled: (result: ReconcileResult, tookMs: number, outcome: PassOutcome | undefined) => void;
}

const queue = { name: 'staticexport' };
const controller = { controller: 'staticexport' };
const reconcileBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];
const queueBuckets = [1e-3, 1e-2, 0.1, 1, 10, 100, 1000];

export function createMetrics(sources: MetricsSources): OperatorMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  registerReports(registry, sources.reports);
  registerWatches(registry, sources.watch);
  registerFigures(registry, sources);
  const registers = [registry];
  const counter = (name: string, help: string, labelNames: string[]) =>
    new Counter({ name, help, labelNames, registers });
  const requests = counter('rest_client_requests_total', 'Requests to the Kubernetes API server', [
    'code',
    'method',
    'host',
  ]);
  const leader = new Gauge({
    name: 'leader_election_master_status',
    help: '1 while this process holds the lease',
    labelNames: ['name'],
    registers,
  });
  leader.set(queue, 0);
  const skew = new Gauge({
    name: 'staticexport_api_clock_skew_seconds',
    help: 'Clock of an export API minus the local clock, at its last link',
    labelNames: ['host'],
    registers,
  });
  const dropped = counter(
    'staticexport_events_dropped_total',
    'Events that were not written: too many of one object (flood), too many at once (crowd), refused',
    ['reason'],
  );
  for (const reason of eventLosses) dropped.inc({ reason }, 0);
  return {
    registry,
    queue: queueMetrics(registry),
    request: ({ method, code }) => requests.inc({ code, method, host: sources.host }),
    leading: (isLeader) => leader.set(queue, isLeader ? 1 : 0),
    skew: (host, skewMs) => skew.set({ host }, skewMs / 1000),
    eventDropped: (reason) => dropped.inc({ reason }),
    reconciled: reconcileMetrics(registry),
  };
}

/** Gauges that are read at each scrape. */
function registerFigures(registry: Registry, { workers, inspections, queue: figures }: MetricsSources): void {
  const rows: readonly (readonly [
    name: string,
    help: string,
    labels: Readonly<Record<string, string>>,
    read: () => number,
  ])[] = [
    ['staticexport_build_info', 'Always 1; the version that runs', { version }, () => 1],
    ['staticexport_inspections_active', 'Archives that are inspected', {}, () => inspections.taken],
    ['staticexport_inspections_waiting', 'Archives that wait for a slot', {}, () => inspections.waiting],
    ['workqueue_depth', 'Keys that wait for a worker', queue, () => figures().waiting],
    [
      'workqueue_unfinished_work_seconds',
      'Sum of the ages of all running reconciles',
      queue,
      () => figures().unfinishedMs / 1000,
    ],
    [
      'workqueue_longest_running_processor_seconds',
      'Age of the oldest running reconcile',
      queue,
      () => figures().longestActiveMs / 1000,
    ],
    ['controller_runtime_max_concurrent_reconciles', 'Workers', controller, () => workers],
    ['controller_runtime_active_workers', 'Workers that reconcile', controller, () => figures().active],
  ];
  for (const [name, help, labels, read] of rows) {
    const labelNames = Object.keys(labels);
    const collect = (): void => gauge.set(labels, read());
    const gauge: Gauge = new Gauge({ name, help, labelNames, registers: [registry], collect });
  }
}

function queueMetrics(registry: Registry): QueueObserver {
  const common = { labelNames: ['name'], registers: [registry] };
  const adds = new Counter({ name: 'workqueue_adds_total', help: 'Keys added', ...common });
  const durations = { ...common, buckets: queueBuckets };
  const waited = new Histogram({
    name: 'workqueue_queue_duration_seconds',
    help: 'Time from added to taken',
    ...durations,
  });
  const worked = new Histogram({
    name: 'workqueue_work_duration_seconds',
    help: 'Time from taken to done',
    ...durations,
  });
  return {
    added: () => adds.inc(queue),
    taken: (waitedMs) => waited.observe(queue, waitedMs / 1000),
    finished: (workedMs) => worked.observe(queue, workedMs / 1000),
  };
}

function reconcileMetrics(registry: Registry): OperatorMetrics['reconciled'] {
  const registers = [registry];
  const counter = (name: string, help: string, labelNames: string[]) =>
    new Counter({ name, help, labelNames, registers });
  const total = counter('controller_runtime_reconcile_total', 'Reconciles by result', [
    'controller',
    'result',
  ]);
  const errors = counter('controller_runtime_reconcile_errors_total', 'Reconciles that failed', [
    'controller',
  ]);
  const timeouts = counter('controller_runtime_reconcile_timeouts_total', 'Reconciles aborted at the limit', [
    'controller',
  ]);
  const retries = counter('workqueue_retries_total', 'Keys retried after a failure', ['name']);
  const actions = counter(
    'staticexport_actions_total',
    'Calls to export APIs by action, and reconciles that inspect an archive (inspect)',
    ['action'],
  );
  const failures = counter('staticexport_action_failures_total', 'Those that failed', ['reason']);
  const seconds = new Histogram({
    name: 'controller_runtime_reconcile_time_seconds',
    help: 'Duration of a reconcile',
    labelNames: ['controller'],
    registers,
    buckets: reconcileBuckets,
  });
  // Present from the start: a rate over a counter that appears with its first error misses that error.
  errors.inc(controller, 0);
  timeouts.inc(controller, 0);
  retries.inc(queue, 0);
  for (const result of ['success', 'requeue_after', 'conflict', 'error', 'timeout']) {
    total.inc({ ...controller, result }, 0);
  }
  return (result, tookMs, outcome) => {
    total.inc({ ...controller, result: result === 'gone' ? 'success' : result });
    seconds.observe(controller, tookMs / 1000);
    if (result === 'error' || result === 'timeout') errors.inc(controller);
    if (result === 'timeout') timeouts.inc(controller);
    if (outcome === undefined) retries.inc(queue);
    const { action = 'none', actionFailure: reason } = outcome?.observed ?? {};
    if (action !== 'none') actions.inc({ action });
    if (reason !== undefined) failures.inc({ reason });
  };
}
