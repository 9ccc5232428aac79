// What the last pass over each resource saw, kept for the metrics until the resource is gone.
// Pages, the last export's times and failures are read from the resource's own status as last watched.

import type { Observed, PassOutcome } from '../loop/edge.ts';
import type { ObjectKey } from '../loop/ports.ts';
import { factsOf } from './known-resource.ts';
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
  blockedBy: undefined,
};

const noFacts = factsOf(undefined);

interface Seen {
  readonly key: ObjectKey;
  readonly observed: Observed;
  readonly lifeLeftMs: number | undefined;
  readonly contestedBy: string | undefined;
}

export function createReports(watches: Pick<Watches, 'get'>): Reports {
  const last = new Map<string, Seen>();
  return {
    put: (key, outcome) => {
      if (outcome === undefined) return;
      const id = `${key.namespace}/${key.name}`;
      const observed = outcome.observed ?? unreadable;
      if (outcome.wakeAfterMs === undefined) last.delete(id);
      else
        last.set(id, {
          key,
          observed,
          lifeLeftMs: lifeLeft(last.get(id), observed),
          contestedBy: outcome.contestedBy,
        });
    },
    list: () => [...last].map(([id, seen]) => ({ ...seen, ...(watches.get(id)?.facts ?? noFacts) })),
  };
}

/** What the link before had left when this one was issued; kept until the next refresh. */
function lifeLeft(before: Seen | undefined, { linkIssuedAt }: Observed): number | undefined {
  if (before === undefined || linkIssuedAt === undefined) return before?.lifeLeftMs;
  const { linkIssuedAt: earlier, linkExpiresAt } = before.observed;
  const isRefreshed = earlier !== undefined && linkExpiresAt !== undefined && linkIssuedAt > earlier;
  return isRefreshed ? linkExpiresAt - linkIssuedAt : before.lifeLeftMs;
}
