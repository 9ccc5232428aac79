// Keeps what the last reconcile of each resource saw, for the metrics, until the resource is gone. Also counts how many
// reconciles in a row did not finish. Pages, and the last export's times and failures, come from the resource's watched
// status. Invariant: state that reconciles no longer see is judged by the clock, not by memory.

import type { ReconcileOutcome } from '#operator/loop/context.ts';
import type { Clock } from '#platform/runtime/clock.ts';
import type { ObjectKey } from '#platform/wire/cluster.ts';
import { isPresent } from '../watch/absence.ts';
import type { KnownResource, StatusSummary } from '../watch/known-resource.ts';
import type { Watches } from '../watch/watches.ts';
import type { FailedReconcile } from './controller.ts';
import type { KnownReport, ResourceReport } from './report-metrics.ts';

export interface Reports {
  /** A failed reconcile keeps the previous observation, unless it observed something itself. */
  put(key: ObjectKey, outcome: ReconcileOutcome | undefined, failed?: FailedReconcile): void;
  list(): readonly ResourceReport[];
}

/** The only observation of the resource is that it is not ready. */
const notReady: KnownReport = { isReady: false, isSuspended: false };

type LastReconcile = Omit<ResourceReport, keyof StatusSummary>;

export function createReports(watches: Pick<Watches, 'get'>, clock: Pick<Clock, 'now'>): Reports {
  const last = new Map<string, LastReconcile>();
  return {
    put: (key, outcome, failed) => {
      const id = `${key.namespace}/${key.name}`;
      const before = last.get(id);
      const report = observedIn(outcome, failed, before);
      if (report === undefined) return;
      const isGone = outcome !== undefined && outcome.wakeAfterMs === undefined;
      // One read that did not find it proves nothing while the watches know it: keep the last observation.
      if (isGone && isPresent(watches.get(id))) return;
      if (isGone) last.delete(id);
      else
        last.set(id, {
          key,
          report,
          remainingAtRefreshMs: remainingAtRefresh(before, report),
          failedReconciles: failed?.inARow ?? 0,
          overlapsWith: outcome === undefined ? before?.overlapsWith : outcome.overlapsWith,
        });
    },
    list: () => [...last].flatMap(([id, seen]) => reportOf(seen, watches.get(id), clock.now())),
  };
}

function observedIn(
  outcome: ReconcileOutcome | undefined,
  failed: FailedReconcile | undefined,
  before: LastReconcile | undefined,
): KnownReport | undefined {
  // A resource whose spec cannot be read says no more than that.
  if (outcome !== undefined) return outcome.report ?? { ...notReady, failure: 'InvalidSpec' };
  if (failed === undefined) return undefined;
  return { ...(failed.report ?? before?.report ?? notReady), failure: failed.code };
}

function reportOf(
  seen: LastReconcile,
  known: KnownResource | undefined,
  now: number,
): readonly ResourceReport[] {
  // Only a reconcile learns that the resource is gone, and none succeeds while the API server cannot be read.
  if (known === undefined) return [];
  const { report } = seen;
  const isReady = report.isReady && (report.linkExpiresAt ?? Number.POSITIVE_INFINITY) > now;
  const judged = isReady === report.isReady ? report : { ...report, isReady };
  return [{ ...seen, report: judged, ...known.status }];
}

/** Lifetime that the previous link had left when this one was issued; kept until the next refresh. */
function remainingAtRefresh(
  before: LastReconcile | undefined,
  { linkIssuedAt }: KnownReport,
): number | undefined {
  if (before === undefined || linkIssuedAt === undefined) return before?.remainingAtRefreshMs;
  const { linkIssuedAt: earlier, linkExpiresAt } = before.report;
  const isRefreshed = earlier !== undefined && linkExpiresAt !== undefined && linkIssuedAt > earlier;
  return isRefreshed ? linkExpiresAt - linkIssuedAt : before.remainingAtRefreshMs;
}
