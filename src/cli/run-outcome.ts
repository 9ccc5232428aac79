// How far a StaticExport is, from its status alone: still working, or ended in some way. Pure. Refuses:
// judging a status of an earlier generation.

import type { ExportApiErrorCode } from '#export-api/answers.ts';
import type { MirrorErrorCode } from '#mirror/mirror-error.ts';
import { isMirrorFailure, mirrorCodeOf } from '#operator/reconcile/mirror.ts';
import type { Condition, Status } from '#operator/staticexport/status-schema.ts';
import type { Outcome } from './exit-code.ts';

export interface RunOutcome {
  readonly outcome: Outcome;
  /** Reason of the condition that decides. */
  readonly code: string;
  /** Its message. */
  readonly message: string;
}

export const keyReasons: ReadonlySet<string> = new Set([
  'KeyMissing',
  'KeyUnreadable',
  'KeyEmpty',
  'KeyInvalid',
  'KeyRefused',
  'KeyForbidden',
]);
const outcomes: Readonly<Record<string, Outcome>> = {
  AwaitingPromotion: 'held',
  Rejected: 'held',
  TooFewPages: 'held',
  HomePageMissing: 'held',
  PageCountDropped: 'held',
  BundleRejected: 'archiveRejected',
  InspectionFailed: 'temporary',
  MirrorFailed: 'temporary',
  StartUnconfirmed: 'temporary',
  AnotherExportRuns: 'temporary',
  StartBudgetUsed: 'temporary',
  ExportApiUnreachable: 'temporary',
  InvalidSpec: 'usage',
  InvalidSchedule: 'usage',
  BaseUrlMissing: 'usage',
  HostNotAllowed: 'usage',
  PinnedVersionUnknown: 'usage',
  Suspended: 'held',
};

/** Of a link, its storage and its host. */
const personalReasons: ReadonlySet<string> = new Set([
  'LinkRefused',
  'PrivateLink',
  'CertificateNotTrusted',
  'LifetimeTooShort',
]);
/** Of a mirror. */
const personalMirrorCodes: ReadonlySet<string> = new Set([
  'InvalidReference',
  'InvalidCredentials',
  'HostNotAllowed',
  'AddressNotAllowed',
  'CertificateNotTrusted',
  'Denied',
  'QuotaExceeded',
  'Protected',
  'FormatRefused',
  'RepositoryMissing',
  'WrongRegion',
  'NotARegistry',
  'OwnedElsewhere',
] satisfies readonly MirrorErrorCode[]);

/** True if a retry fails again until a person changes something. @param reason of a failure in the status */
export function needsPerson(reason: string): boolean {
  return isMirrorFailure(reason)
    ? personalMirrorCodes.has(mirrorCodeOf(reason))
    : personalReasons.has(reason);
}

/**
 * @param generation of the manifest: a status of an earlier one says nothing
 * @returns `undefined` while the next reconcile may go on by itself
 */
export function runOutcome(status: Status, generation: number): RunOutcome | undefined {
  if (status.observedGeneration !== generation) return undefined;
  const find = (type: string): Condition | undefined => status.conditions?.find((one) => one.type === type);
  const [ready, reconciling, stalled, exported] = ['Ready', 'Reconciling', 'Stalled', 'Exported'].map(find);
  if (stalled?.status === 'True') return outcomeOf(stalled);
  if (isWorking(status)) return undefined;
  if (exported?.status === 'False') return isStartDelayed(status) ? undefined : outcomeOf(exported);
  if (ready?.status === 'False' && ready.reason === 'Suspended') return outcomeOf(ready);
  if (reconciling?.status === 'True')
    return keyReasons.has(reconciling.reason) ? outcomeOf(reconciling) : undefined;
  return ready?.status === 'True'
    ? { outcome: 'done', code: ready.reason, message: ready.message }
    : undefined;
}

/** A start that is not confirmed, or a job that has no verdict. */
function isWorking({ start, job }: Status): boolean {
  return start !== undefined || (job !== undefined && job.verdict === undefined);
}

/** Codes of a start that is only sent later. */
const delays: ReadonlySet<string | undefined> = new Set([
  'RateLimited',
] satisfies readonly ExportApiErrorCode[]);
const isStartDelayed = ({ failures }: Status): boolean =>
  failures?.start !== undefined || delays.has(failures?.export?.reason);

/** Of a condition that says why nothing goes on. */
export function outcomeOf({ reason, message }: Pick<Condition, 'reason' | 'message'>): RunOutcome {
  const outcome = keyReasons.has(reason) ? 'key' : (outcomes[reason] ?? 'exportFailed');
  return { outcome, code: reason, message };
}
