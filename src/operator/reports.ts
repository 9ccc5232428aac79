// What the last pass over each resource saw, kept for the metrics until the resource is gone.
// Pages and the time of the export are read from the resource's own status as last watched.

import { isRecord, numberAt, recordAt, textAt } from '../kube/json.ts';
import type { Observed, PassOutcome } from '../loop/edge.ts';
import type { ObjectKey } from '../loop/ports.ts';
import type { ResourceReport } from './report-metrics.ts';
import type { Watches } from './watches.ts';

export interface Reports {
  /** A failed pass (`undefined`) leaves what the one before it saw. */
  put(key: ObjectKey, outcome: PassOutcome | undefined): void;
  list(): readonly ResourceReport[];
}

/** A resource whose spec cannot be read: there is nothing to see of it but that it is not ready. */
const unreadable: Observed = {
  isReady: false,
  isSuspended: false,
  exportState: 'unknown',
  linkState: 'unknown',
  wantState: 'unknown',
  action: 'none',
  linkExpiresAt: undefined,
  linkIssuedAt: undefined,
  nextRefreshAt: undefined,
  nextExportAt: undefined,
  failure: 'InvalidSpec',
};

export function createReports(watches: Pick<Watches, 'get'>): Reports {
  const last = new Map<string, ResourceReport>();
  return {
    put: (key, outcome) => {
      if (outcome === undefined) return;
      const id = `${key.namespace}/${key.name}`;
      if (outcome.wakeAfterMs === undefined) last.delete(id);
      else
        last.set(id, {
          key,
          observed: outcome.observed ?? unreadable,
          pages: undefined,
          exportedAt: undefined,
        });
    },
    list: () =>
      [...last].map(([id, report]) => {
        const status = watches.get(id)?.status;
        const active = isRecord(status) ? recordAt(status, 'active') : {};
        const exportedAt = Date.parse(textAt(active, 'exportedAt') ?? '');
        return {
          ...report,
          pages: numberAt(active, 'pages'),
          exportedAt: Number.isNaN(exportedAt) ? undefined : exportedAt,
        };
      }),
  };
}
