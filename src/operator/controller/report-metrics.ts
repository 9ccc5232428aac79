// `staticexport_*` gauges of each resource: ready, when its link expires, when it was last exported, how many pages,
// what keeps failing. Read at every scrape from the current state, so no gauge outlives its resource.

import type { Registry } from 'prom-client';
import type { Observed } from '../../loop/context.ts';
import type { ObjectKey } from '../../wire/cluster.ts';
import { CollectedGauge, type GaugeLine } from '../metrics/collected-gauge.ts';
import type { StatusFacts } from '../watch/known-resource.ts';

/** What the last reconcile observed, and the status of the resource. */
export interface ResourceReport extends StatusFacts {
  readonly key: ObjectKey;
  readonly observed: Observed;
  /** Reconciles in a row that did not finish. */
  readonly failedPasses: number;
  /** Lifetime that the previous link had left at its refresh; below zero: it had expired. */
  readonly lifeLeftMs: number | undefined;
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
    ({ failedPasses }) => (failedPasses > 0 ? failedPasses : undefined),
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
    ({ lifeLeftMs }) => seconds(lifeLeftMs),
  ],
];

export function registerReports(registry: Registry, reports: () => readonly ResourceReport[]): void {
  const register = (
    name: string,
    help: string,
    labelNames: readonly string[],
    linesOf: (report: ResourceReport) => readonly GaugeLine[],
  ): void => {
    const read = function* (): Generator<GaugeLine> {
      for (const report of reports()) yield* linesOf(report);
    };
    new CollectedGauge({ name, help, labelNames: ['namespace', 'name', ...labelNames], registry, read });
  };
  for (const [name, help, read] of gauges) {
    register(name, help, [], (report) => {
      const value = read(report);
      return value === undefined ? [] : [{ labels: { ...report.key }, value }];
    });
  }
  register(
    'staticexport_failures',
    'Failures in a row of exporting, polling or the link, and 1 for a refused key, by reason',
    ['operation', 'reason'],
    ({ key, failures }) =>
      failures.map(({ operation, reason, count }) => ({
        labels: { ...key, operation, reason },
        value: count,
      })),
  );
  register(
    'staticexport_calls_blocked',
    'Always 1; the reason why the export API must not be called',
    ['reason'],
    ({ key, observed: { blockedBy } }) =>
      blockedBy === undefined ? [] : [{ labels: { ...key, reason: blockedBy }, value: 1 }],
  );
  register(
    'staticexport_operators_overlap',
    'Always 1; another operator, named by its lease, wrote this status within the last ten minutes',
    ['operator_lease'],
    ({ key, overlapsWith }) =>
      overlapsWith === undefined ? [] : [{ labels: { ...key, operator_lease: overlapsWith }, value: 1 }],
  );
  register(
    'staticexport_target_synced',
    '1 if the target, by its name in spec.targets, holds the published version',
    ['target'],
    ({ key, targets }) =>
      targets.map(({ target, isSynced }) => ({ labels: { ...key, target }, value: flag(isSynced) })),
  );
  register(
    'staticexport_condition',
    'Always 1; a condition of the status',
    ['type', 'status', 'reason'],
    ({ key, conditions }) => conditions.map((condition) => ({ labels: { ...key, ...condition }, value: 1 })),
  );
}

const flag = (isTrue: boolean): number => (isTrue ? 1 : 0);
const seconds = (ms: number | undefined): number | undefined => (ms === undefined ? undefined : ms / 1000);
