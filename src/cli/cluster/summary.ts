// A StaticExport in the terms that commands show: what `kubectl get` shows, what a pipeline branches on, and what a condition
// means to a person: fine, waiting for a person, or retried. Pure. The client has made its text printable.

import { group, singular } from '#operator/staticexport/names.ts';
import { parseStaticExport } from '#operator/staticexport/parse.ts';
import { exportedReasons, stalledReasons } from '#operator/staticexport/reasons.ts';
import type { Condition, Status } from '#operator/staticexport/status-schema.ts';
import type { StaticExportObject } from '#platform/wire/cluster.ts';
import type { Paint } from '../output/paint.ts';
import type { StaticExportAnswer } from './documents.ts';

export type ExportSummary = StaticExportAnswer<'StaticExportList'>['fields']['items'][number];

export function exportSummaryOf(object: StaticExportObject): ExportSummary {
  const { spec, status } = parseStaticExport(object);
  const { active, job, candidate } = status;
  const ready = readyOf(status, object.metadata.generation ?? 0);
  const { namespace, name } = object.metadata;
  return {
    namespace,
    name,
    domain: spec?.domain,
    projectId: spec?.api.projectId,
    ready: ready.status,
    reason: ready.reason,
    exported: status.conditions?.find(({ type }) => type === 'Exported')?.reason,
    message: ready.message,
    suspended: spec?.suspend === true,
    pinned: spec?.pin?.version ?? spec?.pin?.jobId,
    version: active?.version,
    digest: active?.digest,
    pages: active?.pages,
    ref: active?.ref,
    linkExpirationTime: active?.linkExpirationTime,
    job: job && { id: job.id, state: job.state, progress: job.progress },
    candidate: candidate?.version,
    nextExportTime: status.nextExportTime,
    nextRefreshTime: status.nextRefreshTime,
  };
}

/** The domain, else the project. @returns `undefined` where the spec is not valid */
export const siteOf = ({
  domain,
  projectId,
}: Pick<ExportSummary, 'domain' | 'projectId'>): string | undefined =>
  domain ?? (projectId === undefined ? undefined : `project ${projectId}`);

/** As kubectl's `-o name` does. */
export const nameOf = ({ name }: { readonly name: string }): string => `${singular}.${group}/${name}`;

/** A status of an earlier generation is not the answer to the spec that is stored. */
function readyOf(status: Status, generation: number): Pick<Condition, 'status' | 'reason' | 'message'> {
  if (status.observedGeneration !== generation) {
    return {
      status: 'Unknown',
      reason: 'NotObserved',
      message: 'The operator has not observed this spec yet.',
    };
  }
  const ready = status.conditions?.find(({ type }) => type === 'Ready');
  return ready ?? { status: 'Unknown', reason: '', message: '' };
}

export function conditionsOf(object: StaticExportObject): readonly Condition[] {
  return parseStaticExport(object).status.conditions ?? [];
}

export function historyOf(
  object: StaticExportObject,
): StaticExportAnswer<'VersionHistory'>['fields']['versions'] {
  const { active, history = [] } = parseStaticExport(object).status;
  return history.map((one) => ({
    ...one,
    active: one.version === active?.version,
  }));
}

/** Of a condition, or of the parts of one that a view shows. */
interface Verdict {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
}

/** @returns `undefined` for a state that is neither good nor bad, such as an export that has not finished yet */
export function paintOf({ type, status, reason }: Verdict): Paint | undefined {
  if (type === 'Stalled') return status === 'True' ? 'bad' : undefined;
  if (type === 'Reconciling') return status === 'True' ? 'unsure' : undefined;
  if (status === 'True') return 'good';
  if (status !== 'False') return 'unsure';
  if (isWaiting.has(reason)) return undefined;
  return type === 'Ready' || needsAction(reason) ? 'bad' : 'unsure';
}

/** The reason of the condition Exported, where its status is not shown. */
export function paintOfExported(reason: string | undefined): Paint | undefined {
  if (reason === undefined || !(reason in exportedReasons)) return undefined;
  const isDone = reason === 'Promoted' || reason === 'Unchanged';
  return paintOf({ type: 'Exported', status: isDone ? 'True' : 'False', reason });
}

const isWaiting: ReadonlySet<string> = new Set(['Pending', 'NotPublished', 'Copying']);

const needsAction = (reason: string): boolean => reason in stalledReasons || actionReasons.has(reason);

/** Of other conditions than Stalled. */
const actionReasons: ReadonlySet<string> = new Set([
  'KeyMissing',
  'Expired',
  'Denied',
  'QuotaExceeded',
  'RepositoryMissing',
  'SecretMissing',
  'OwnedElsewhere',
  'RolloutFailed',
  'NotGranted',
  'Refused',
  'Contested',
  'Paused',
]);
