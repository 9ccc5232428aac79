// What /metrics shows, under the names that dashboards for controllers expect, and `staticexport_*` for what is
// published. Resources are collected at scrape time from their last reconcile, so that a deleted one leaves nothing
// behind. Refuses labels with unbounded or secret values; only a resource's own namespace and name are shown.

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { PassOutcome } from '../loop/context.ts';
import { version } from '../runtime/version.ts';
import type { ObjectKey } from '../wire/cluster.ts';
import type { PassResult } from './controller/controller.ts';
import { type EventLoss, eventLosses } from './controller/event-recorder.ts';
import { type ResourceReport, registerReports } from './controller/report-metrics.ts';
import { registerWatches, type WatchFigures } from './metrics/watch-metrics.ts';
import type { QueueFigures, QueueObserver } from './queue/work-queue.ts';

export interface MetricsSources {
  readonly workers: number;
  readonly host: string;
  readonly queueFigures: () => QueueFigures;
  /** One per resource that this process has reconciled as the leader. */
  readonly reports: () => readonly ResourceReport[];
  readonly inspections: () => {
    readonly taken: number;
    readonly waiting: number;
  };
  readonly watch: () => WatchFigures;
}

export interface OperatorMetrics {
  readonly registry: Registry;
  readonly queue: QueueObserver;
  readonly request: (fact: { readonly method: string; readonly code: string }) => void;
  readonly leading: (isLeader: boolean) => void;
  /** An export API's clock minus the local clock. */
  readonly skew: (host: string, skewMs: number) => void;
  readonly eventDropped: (why: EventLoss) => void;
  readonly pass: (
    key: ObjectKey,
    result: PassResult,
    tookMs: number,
    outcome: PassOutcome | undefined,
  ) => void;
}

const controller = 'staticexport';
const passBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];
const queueBuckets = [1e-3, 1e-2, 0.1, 1, 10, 100, 1000];

export function createMetrics(sources: MetricsSources): OperatorMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const gauge = gaugeIn(registry);
  gauge('staticexport_build_info', 'Always 1; the version that runs', { version }, () => 1);
  registerReports(registry, sources.reports);
  gauge(
    'staticexport_inspections_active',
    'Archives that are downloaded and read',
    {},
    () => sources.inspections().taken,
  );
  gauge(
    'staticexport_inspections_waiting',
    'Archives that wait for others to be read',
    {},
    () => sources.inspections().waiting,
  );
  registerWatches(registry, sources.watch);
  return {
    registry,
    queue: queueMetrics(registry, sources.queueFigures),
    request: requestMetrics(registry, sources.host),
    leading: leaderMetric(registry),
    skew: skewMetric(registry),
    eventDropped: eventMetric(registry),
    pass: passMetrics(registry, sources),
  };
}

function gaugeIn(registry: Registry) {
  return (name: string, help: string, labels: Readonly<Record<string, string>>, read: () => number): void => {
    const gauge: Gauge = new Gauge({
      name,
      help,
      labelNames: Object.keys(labels),
      registers: [registry],
      collect: () => gauge.set(labels, read()),
    });
  };
}

function queueMetrics(registry: Registry, figures: () => QueueFigures): QueueObserver {
  const labels = { name: controller };
  const labelNames = ['name'];
  const registers = [registry];
  const gauge = gaugeIn(registry);
  gauge('workqueue_depth', 'Keys waiting for a worker', labels, () => figures().waiting);
  gauge(
    'workqueue_unfinished_work_seconds',
    'Sum of the age of all passes under way',
    labels,
    () => figures().unfinishedMs / 1000,
  );
  gauge(
    'workqueue_longest_running_processor_seconds',
    'Age of the oldest pass under way',
    labels,
    () => figures().longestActiveMs / 1000,
  );
  const adds = new Counter({ name: 'workqueue_adds_total', help: 'Keys added', labelNames, registers });
  const waited = new Histogram({
    name: 'workqueue_queue_duration_seconds',
    help: 'From added to taken',
    labelNames,
    registers,
    buckets: queueBuckets,
  });
  const worked = new Histogram({
    name: 'workqueue_work_duration_seconds',
    help: 'From taken to done',
    labelNames,
    registers,
    buckets: queueBuckets,
  });
  return {
    added: () => adds.inc(labels),
    taken: (waitedMs) => waited.observe(labels, waitedMs / 1000),
    finished: (workedMs) => worked.observe(labels, workedMs / 1000),
  };
}

function requestMetrics(registry: Registry, host: string): OperatorMetrics['request'] {
  const requests = new Counter({
    name: 'rest_client_requests_total',
    help: 'Requests to the API server by method and status',
    labelNames: ['code', 'method', 'host'],
    registers: [registry],
  });
  return ({ method, code }) => requests.inc({ code, method, host });
}

function leaderMetric(registry: Registry): OperatorMetrics['leading'] {
  const leader = new Gauge({
    name: 'leader_election_master_status',
    help: '1 while this process holds the lease',
    labelNames: ['name'],
    registers: [registry],
  });
  leader.set({ name: controller }, 0);
  return (isLeader) => leader.set({ name: controller }, isLeader ? 1 : 0);
}

function skewMetric(registry: Registry): OperatorMetrics['skew'] {
  const skew = new Gauge({
    name: 'staticexport_api_clock_skew_seconds',
    help: "An export API's clock minus ours, at its last link",
    labelNames: ['host'],
    registers: [registry],
  });
  return (host, skewMs) => skew.set({ host }, skewMs / 1000);
}

function eventMetric(registry: Registry): OperatorMetrics['eventDropped'] {
  const dropped = new Counter({
    name: 'staticexport_events_dropped_total',
    help: 'Events that were not written: too many of one object (flood), too many at once (crowd), refused',
    labelNames: ['reason'],
    registers: [registry],
  });
  for (const reason of eventLosses) dropped.inc({ reason }, 0);
  return (reason) => dropped.inc({ reason });
}

function passMetrics(registry: Registry, sources: MetricsSources): OperatorMetrics['pass'] {
  const registers = [registry];
  const labels = { controller };
  const gauge = gaugeIn(registry);
  gauge('controller_runtime_max_concurrent_reconciles', 'Workers', labels, () => sources.workers);
  gauge(
    'controller_runtime_active_workers',
    'Workers with a pass under way',
    labels,
    () => sources.queueFigures().active,
  );
  const counter = (name: string, help: string, labelNames: string[]) =>
    new Counter({ name, help, labelNames, registers });
  const total = counter('controller_runtime_reconcile_total', 'Passes by result', ['controller', 'result']);
  const errors = counter('controller_runtime_reconcile_errors_total', 'Passes that failed', ['controller']);
  const timeouts = counter('controller_runtime_reconcile_timeouts_total', 'Passes cut off', ['controller']);
  const retries = counter('workqueue_retries_total', 'Keys tried again after a failure', ['name']);
  const actions = counter(
    'staticexport_actions_total',
    'Calls to export APIs by action, and turns at reading an archive (inspect)',
    ['action'],
  );
  const failures = counter('staticexport_action_failures_total', 'Of these, those that failed', ['reason']);
  const seconds = new Histogram({
    name: 'controller_runtime_reconcile_time_seconds',
    help: 'Duration of a pass',
    labelNames: ['controller'],
    registers,
    buckets: passBuckets,
  });
  // Present from the start: a rate over a counter that appears with its first error misses that error.
  errors.inc(labels, 0);
  timeouts.inc(labels, 0);
  retries.inc({ name: controller }, 0);
  for (const result of ['success', 'requeue_after', 'conflict', 'error', 'timeout']) {
    total.inc({ controller, result }, 0);
  }
  return (_key, result, tookMs, outcome) => {
    total.inc({ controller, result: result === 'gone' ? 'success' : result });
    seconds.observe(labels, tookMs / 1000);
    if (result === 'error' || result === 'timeout') errors.inc(labels);
    if (result === 'timeout') timeouts.inc(labels);
    if (outcome === undefined) retries.inc({ name: controller });
    const action = outcome?.observed?.action;
    if (action !== undefined && action !== 'none') actions.inc({ action });
    const reason = outcome?.observed?.actionFailure;
    if (reason !== undefined) failures.inc({ reason });
  };
}
