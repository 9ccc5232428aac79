// Handles a reconcile that the Kubernetes API server refuses: whom it reports to, and what the error carries.
// Refuses: taking an outage for a refusal. Only a state that lasts until a person changes it is a refusal.

import { clusterPolicies } from '#operator/reconcile/failure-policy.ts';
import type { StaticExportObject } from '#platform/wire/cluster.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import type { ReconcileReport, ReportContext } from './context.ts';

/** The Kubernetes API server refused the result of a reconcile. The observation in this error is still true. */
export class ReconcileRefused extends ClusterError {
  readonly report: ReconcileReport;

  constructor(refusal: ClusterError, report: ReconcileReport) {
    const { code, message, retryAfterMs } = refusal;
    super(code, message, { retryAfterMs, cause: refusal });
    this.report = report;
  }
}

/** Waits for a write of the status. If that is refused, no condition can report it, so an event does. */
export async function reportRefusal<T>(
  write: Promise<T>,
  object: StaticExportObject,
  { events }: ReportContext,
): Promise<T> {
  try {
    return await write;
  } catch (error) {
    if (error instanceof ClusterError && clusterPolicies[error.code].needsPerson) {
      const message = `Status cannot be written, and what it says may be out of date: ${error.message}.`;
      events.record(object, { type: 'Warning', reason: 'StatusWriteFailed', message });
    }
    throw error;
  }
}

/** Waits for a write of the status, and adds the observation to a failure. @throws {ReconcileRefused | ClusterError} */
export async function attachReport<T>(write: Promise<T>, report: ReconcileReport): Promise<T> {
  try {
    return await write;
  } catch (error) {
    const isRefused = error instanceof ClusterError && !clusterPolicies[error.code].endsReconcile;
    throw isRefused ? new ReconcileRefused(error, report) : error;
  }
}
