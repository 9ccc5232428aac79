// `staticexport_*` gauges of each resource: ready, when its link expires, when it was last exported, how many pages,
// what keeps failing. Read at every scrape from the current state, so no gauge outlives its resource.

import type { Registry } from 'prom-client';
import type { Observed } from '../../loop/context.ts';
import type { ObjectKey } from '../../wire/cluster.ts';
import { CollectedGauge, type GaugeLine } from '../metrics/collected-gauge.ts';
import type { StatusSummary } from '../watch/known-resource.ts';

/** A reconcile that fails early may observe no more than that the resource is not ready. */
export type ReportedObservation = Pick<Observed, 'isReady' | 'isSuspended'> & Partial<Observed>;

/** What the last reconcile observed, and the status of the resource. */
export interface ResourceReport extends StatusSummary {
  readonly key: ObjectKey;
  readonly observed: ReportedObservation;
  /** Reconciles in a row that did not finish. */
  readonly failedReconciles: number;
  /** Lifetime that the previous link had left at its refresh; below zero: it had expired. */
  readonly remainingAtRefreshMs: number | undefined;
  /** Another operator that writes the same status. */
  readonly overlapsWith: string | undefined;
}

const gauges: readonly (readonly [
  name: string,
  help: string,
  read: (report: ResourceReport) => number | undefined,
])[] = [
  [
    'staticexport_ready',
    '1 if the wanted version is published with a valid link at the time of the scrape',
    ({ observed }) => flag(observed.isReady),
  ],
  ['staticexport_suspended', '1 if suspended', ({ observed }) => flag(observed.isSuspended)],
  [
    'staticexport_failing',
    '1 if the last reconcile had a failure or did not finish',
    ({ observed }) => flag(observed.failure !== undefined),
  ],
  [
    'staticexport_failed_passes',
    'Reconciles in a row that did not finish; absent without any. The log names the cause',
    ({ failedReconciles }) => (failedReconciles > 0 ? failedReconciles : undefined),
  ],
  ['staticexport_pages', 'Pages of the published version', ({ pages }) => pages],
  [
    'staticexport_link_issued_timestamp_seconds',
    'When the published link was issued',
    ({ observed }) => seconds(observed.linkIssuedAt),
  ],
  [
    'staticexport_link_expiry_timestamp_seconds',
    'When the published link expires',
    ({ observed }) => seconds(observed.linkExpiresAt),
  ],
  [
    'staticexport_next_refresh_timestamp_seconds',
    'When the link will be refreshed',
    ({ observed }) => seconds(observed.nextRefreshAt),
  ],
  [
    'staticexport_next_export_timestamp_seconds',
    'When the next scheduled export is due',
    ({ observed }) => seconds(observed.nextExportAt),
  ],
  [
    'staticexport_last_success_timestamp_seconds',
    'When an export last delivered the published content, or found it unchanged',
    ({ confirmedAt }) => seconds(confirmedAt),
  ],
  [
    'staticexport_export_duration_seconds',
    'Duration of the last finished job',
    ({ exportTookMs }) => seconds(exportTookMs),
  ],
  [
    'staticexport_link_life_left_at_refresh_seconds',
    'Lifetime that the previous link had left at its refresh; below zero: it had expired',
    ({ remainingAtRefreshMs }) => seconds(remainingAtRefreshMs),
  ],
];

/** Gauges with further labels. */
const lists: readonly (readonly [
  name: string,
  help: string,
  labelNames: readonly string[],
  read: (report: ResourceReport) => readonly GaugeLine[],
])[] = [
  [
    'staticexport_failures',
    'Failures in a row of exporting, polling or the link, and 1 for a refused key, by reason',
    ['operation', 'reason'],
    ({ failures }) =>
      failures.map(({ operation, reason, count }) => ({ labels: { operation, reason }, value: count })),
  ],
  [
    'staticexport_calls_blocked',
    'Always 1; the reason why the export API must not be called',
    ['reason'],
    ({ observed: { blockedBy: reason } }) => (reason === undefined ? [] : [{ labels: { reason }, value: 1 }]),
  ],
  [
    'staticexport_operators_overlap',
    'Always 1; another operator, named by its lease, wrote this status within the last ten minutes',
    ['operator_lease'],
    ({ overlapsWith: lease }) =>
      lease === undefined ? [] : [{ labels: { operator_lease: lease }, value: 1 }],
  ],
  [
    'staticexport_target_synced',
    '1 if the target, by its name in spec.targets, holds the published version',
    ['target'],
    ({ targets }) => targets.map(({ target, isSynced }) => ({ labels: { target }, value: flag(isSynced) })),
  ],
  [
    'staticexport_condition',
    'Always 1; a condition of the status',
    ['type', 'status', 'reason'],
    ({ conditions }) => conditions.map((labels) => ({ labels, value: 1 })),
  ],
];

export function registerReports(registry: Registry, reports: () => readonly ResourceReport[]): void {
  const single = gauges.map(([name, help, read]) => {
    const lines = (report: ResourceReport): readonly GaugeLine[] => {
      const value = read(report);
      return value === undefined ? [] : [{ labels: {}, value }];
    };
    return [name, help, [], lines] as const;
  });
  for (const [name, help, labelNames, linesOf] of [...single, ...lists]) {
    const read = function* (): Generator<GaugeLine> {
      for (const report of reports()) {
        for (const { labels, value } of linesOf(report))
          yield { labels: { ...report.key, ...labels }, value };
      }
    };
    new CollectedGauge({ name, help, labelNames: ['namespace', 'name', ...labelNames], registry, read });
  }
}

const flag = (isTrue: boolean): number => (isTrue ? 1 : 0);
const seconds = (ms: number | undefined): number | undefined => (ms === undefined ? undefined : ms / 1000);
