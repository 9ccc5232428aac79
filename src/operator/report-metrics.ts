// `staticexport_*` gauges of each resource: ready, when its link dies, when it was last exported, how many pages.
// Set anew at every scrape from what is known then: no gauge outlives its resource.

import { Gauge, type Registry } from 'prom-client';
import type { Observed } from '../loop/edge.ts';
import type { ObjectKey } from '../loop/ports.ts';

/** What the last pass saw, and what the resource's own status says of the published version. */
export interface ResourceReport {
  readonly key: ObjectKey;
  readonly observed: Observed;
  readonly pages: number | undefined;
  /** Epoch ms. */
  readonly exportedAt: number | undefined;
}

const gauges: readonly (readonly [
  name: string,
  help: string,
  read: (report: ResourceReport) => number | undefined,
])[] = [
  [
    'staticexport_ready',
    '1 if the wanted version is published with a live link',
    ({ observed }) => flag(observed.isReady),
  ],
  ['staticexport_suspended', '1 if suspended', ({ observed }) => flag(observed.isSuspended)],
  [
    'staticexport_failing',
    '1 if the last pass met a failure',
    ({ observed }) => flag(observed.failure !== undefined),
  ],
  ['staticexport_pages', 'Pages of the published version', ({ pages }) => pages],
  [
    'staticexport_link_issued_timestamp_seconds',
    'When the published link was issued',
    ({ observed }) => seconds(observed.linkIssuedAt),
  ],
  [
    'staticexport_link_expiry_timestamp_seconds',
    'When the published link dies',
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
    'When the published version was exported',
    ({ exportedAt }) => seconds(exportedAt),
  ],
];

export function registerReports(registry: Registry, reports: () => readonly ResourceReport[]): void {
  for (const [name, help, read] of gauges) {
    const gauge: Gauge = new Gauge({
      name,
      help,
      labelNames: ['namespace', 'name'],
      registers: [registry],
      collect: () => {
        gauge.reset();
        for (const report of reports()) {
          const value = read(report);
          if (value !== undefined) gauge.set({ ...report.key }, value);
        }
      },
    });
  }
}

const flag = (isTrue: boolean): number => (isTrue ? 1 : 0);
const seconds = (epochMs: number | undefined): number | undefined =>
  epochMs === undefined ? undefined : epochMs / 1000;
