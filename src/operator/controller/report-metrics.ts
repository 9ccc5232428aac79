// `staticexport_*` gauges of each resource: ready, when its link expires, when it was last exported, how many pages,
// what keeps failing.
// Read at every scrape from what is known then: no gauge outlives its resource.

import type { Registry } from 'prom-client';
import type { Observed } from '../../loop/edge.ts';
import type { ObjectKey } from '../../loop/ports.ts';
import { CollectedGauge, type GaugeLine } from '../metrics/collected-gauge.ts';
import type { StatusFacts } from '../watch/known-resource.ts';

/** What the last pass saw, and what the resource's own status says of the published version. */
export interface ResourceReport extends StatusFacts {
  readonly key: ObjectKey;
  readonly observed: Observed;
  /** Passes in a row that did not come to their end. */
  readonly failedPasses: number;
  /** What the link before the present one had left when it was replaced; below zero: it was dead. */
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
    '1 if the wanted version is published with a live link, by the clock at the scrape',
    ({ observed }) => flag(observed.isReady),
  ],
  ['staticexport_suspended', '1 if suspended', ({ observed }) => flag(observed.isSuspended)],
  [
    'staticexport_failing',
    '1 if the last pass met a failure, or did not come to its end',
    ({ observed }) => flag(observed.failure !== undefined),
  ],
  [
    'staticexport_failed_passes',
    'Passes in a row that did not come to their end, while there are any; what the cluster said is in the log',
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
    'When an export last brought the published content, or found it unchanged',
    ({ confirmedAt }) => seconds(confirmedAt),
  ],
  [
    'staticexport_export_duration_seconds',
    'How long the last job took that is over',
    ({ exportTookMs }) => seconds(exportTookMs),
  ],
  [
    'staticexport_link_life_left_at_refresh_seconds',
    'What the link before had left when it was replaced',
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
    'Always 1; why the export API may not be called: a key, a host',
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
    'staticexport_condition',
    'Always 1; a condition as the status has it',
    ['type', 'status', 'reason'],
    ({ key, conditions }) => conditions.map((condition) => ({ labels: { ...key, ...condition }, value: 1 })),
  );
}

const flag = (isTrue: boolean): number => (isTrue ? 1 : 0);
const seconds = (ms: number | undefined): number | undefined => (ms === undefined ? undefined : ms / 1000);
