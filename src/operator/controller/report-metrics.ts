// `staticexport_*` gauges of each resource: ready, when its link expires, when it was last exported, how many pages,
// what keeps failing. Read at every scrape from the current state, so no gauge outlives its resource.

import type { Registry } from 'prom-client';
import type { ReconcileReport } from '#operator/loop/context.ts';
import type { ObjectKey } from '#platform/wire/cluster.ts';
import { type GaugeRow, registerGauges } from '../metrics/collected-gauge.ts';
import type { StatusSummary } from '../watch/known-resource.ts';

/** A reconcile that fails early may observe no more than that the resource is not ready. */
export type KnownReport = Pick<ReconcileReport, 'isReady' | 'isSuspended'> & Partial<ReconcileReport>;

/** What the last reconcile observed, and the status of the resource. */
export interface ResourceReport extends StatusSummary {
  readonly key: ObjectKey;
  readonly report: KnownReport;
  /** Reconciles in a row that did not finish. */
  readonly failedReconciles: number;
  /** Lifetime that the previous link had left at its refresh; below zero: it had expired. */
  readonly remainingAtRefreshMs: number | undefined;
  /** Another operator that writes the same status. */
  readonly overlapsWith: string | undefined;
}

const gauges: readonly GaugeRow<ResourceReport>[] = [
  [
    'staticexport_ready',
    '1 if the wanted version is published with a valid link at the time of the scrape',
    ({ report }) => flag(report.isReady),
  ],
  ['staticexport_suspended', '1 if suspended', ({ report }) => flag(report.isSuspended)],
  [
    'staticexport_failing',
    '1 if the last reconcile had a failure or did not finish',
    ({ report }) => flag(report.failure !== undefined),
  ],
  [
    'staticexport_failed_reconciles',
    'Reconciles in a row that did not finish; absent without any. The log names the cause',
    ({ failedReconciles }) => failedReconciles || undefined,
  ],
  ['staticexport_pages', 'Pages of the published version', ({ pages }) => pages],
  [
    'staticexport_link_issued_timestamp_seconds',
    'When the published link was issued',
    ({ report }) => seconds(report.linkIssuedAt),
  ],
  [
    'staticexport_link_expiry_timestamp_seconds',
    'When the published link expires',
    ({ report }) => seconds(report.linkExpiresAt),
  ],
  [
    'staticexport_next_refresh_timestamp_seconds',
    'When the link will be refreshed',
    ({ report }) => seconds(report.nextRefreshAt),
  ],
  [
    'staticexport_next_export_timestamp_seconds',
    'When the next scheduled export is due',
    ({ report }) => seconds(report.nextExportAt),
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
    'staticexport_link_remaining_at_refresh_seconds',
    'Lifetime that the previous link had left at its refresh; below zero: it had expired',
    ({ remainingAtRefreshMs }) => seconds(remainingAtRefreshMs),
  ],
  [
    'staticexport_failures',
    'Failures in a row of exporting, polling, the link or the mirror, and 1 for a refused key, by reason',
    ({ failures }) =>
      failures.map(({ operation, reason, count }) => ({ labels: { operation, reason }, value: count })),
    ['operation', 'reason'],
  ],
  [
    'staticexport_calls_blocked',
    'Always 1; the reason why the export API must not be called',
    ({ report: { blockedBy: reason } }) => (reason ? [{ labels: { reason }, value: 1 }] : []),
    ['reason'],
  ],
  [
    'staticexport_operators_overlap',
    'Always 1; another operator, named by its lease, wrote this status within the last ten minutes',
    ({ overlapsWith: operator_lease }) => (operator_lease ? [{ labels: { operator_lease }, value: 1 }] : []),
    ['operator_lease'],
  ],
  [
    'staticexport_target_synced',
    '1 if the target, by its name and type in spec.targets, holds the published version and is rolled out',
    ({ targets }) => targets.map(({ isSynced, ...labels }) => ({ labels, value: flag(isSynced) })),
    ['target', 'type', 'reason'],
  ],
  [
    'staticexport_condition',
    'Always 1; a condition of the status',
    ({ conditions }) => conditions.map((labels) => ({ labels, value: 1 })),
    ['type', 'status', 'reason'],
  ],
];

export function registerReports(registry: Registry, reports: () => readonly ResourceReport[]): void {
  registerGauges(registry, gauges, ['namespace', 'name'], function* () {
    for (const report of reports()) yield [{ ...report.key }, report];
  });
}

const flag = (isTrue: boolean): number => (isTrue ? 1 : 0);
const seconds = (ms: number | undefined): number | undefined => ms && ms / 1000;
