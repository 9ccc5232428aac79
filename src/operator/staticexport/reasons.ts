// Every reason that a condition may have, with its sentence. Reasons are API: alerts match them.
// Each is listed in crds/README.md, and a test keeps the two in step. A sentence says what is so and what to do, in the words
// of every program that reconciles; what the operator does next is added where it is known (failure-words.ts).

/** Condition `Ready`. */
export const readyReasons = {
  Published: 'The wanted version is published with a valid link.',
  Pinned: 'The pinned version is published with a valid link. Exports resume when spec.pin is removed.',
  Suspended:
    'spec.suspend is true: exports and promotions are paused. The published link is still refreshed.',
  NotMirrored:
    'No link is published, and servers that start now may not be able to read the copy. Running servers keep serving. See Mirrored.',
  LinkExpired:
    'The output Secret holds no valid link. Running servers keep serving. See LinkFresh for the next attempt.',
} as const;

/** Conditions `Reconciling` (and `Ready` while the spec is not satisfied): in progress, or retried until it succeeds. */
export const reconcilingReasons = {
  StartPending: 'An export starts next.',
  StartUnconfirmed:
    'The export API has not confirmed the start. The next attempt has the same Idempotency-Key.',
  Exporting: 'The export job is running.',
  Inspecting:
    'The export is complete. Its archive is being inspected, or waits for a free slot or for the end of another search.',
  BackingOff: 'Waiting before the next retry.',
  ExportApiUnreachable:
    'The export API does not answer as it should. Check its address and the network path to it.',
  PinPending: 'The pinned version is being published.',
  KeyMissing: 'The Secret or key named in spec.api.keySecretRef does not exist. Create it.',
} as const;

/** Conditions `Stalled` (and `Ready`): manual action is needed. */
export const stalledReasons = {
  InvalidSpec: 'The stored spec is not valid. Correct the fields named here.',
  InvalidSchedule: 'spec.schedule or spec.timeZone is not valid, or the schedule never fires. Correct it.',
  BaseUrlMissing: 'No export API is configured. Set spec.api.baseUrl or --api-base-url.',
  HostNotAllowed: '--allowed-api-hosts does not allow spec.api.baseUrl. The key was not sent.',
  KeyUnreadable:
    'The operator cannot read the Secret named in spec.api.keySecretRef. Grant the operator get on it.',
  KeyEmpty: 'The API key is empty. Set it.',
  KeyInvalid: 'The API key holds characters that a bearer token cannot hold. Set only the key.',
  KeyRefused:
    'The export API returned 401 for this key. Check that it is complete, not expired, and belongs to this service.',
  KeyForbidden:
    "The export API returned 403 for this key. Check the key's permissions, your plan, spec.domain or spec.api.projectId, and the vendor's IP allow-list.",
  OutputNotOwned:
    'The output Secret or ConfigMap exists and has another owner. The operator does not change it.',
  OutputUnreadable:
    'The operator cannot read the output Secret or ConfigMap, so publishing is paused. Restore its get permission.',
  StartRefused:
    'The export API refuses to start an export. Check spec.domain or spec.api.projectId, and spec.api.baseUrl.',
  PinnedVersionUnknown:
    'The pinned version is not in status.history. Pin a version from there, or remove spec.pin.',
  PinnedJobGone: 'The export API no longer has the pinned job. Pin another version, or remove spec.pin.',
  PinnedJobFailed: 'The pinned job did not complete. Pin another job or version, or remove spec.pin.',
  PinnedContentChanged:
    "The archive of the pinned version does not match that version's digest. Pin another version, or remove spec.pin.",
  AwaitingPromotion: 'spec.promotion.mode is Manual. The candidate awaits manual promotion.',
  TooFewPages: 'The export has fewer pages than spec.promotion.minPages.',
  HomePageMissing:
    'The export has no index.html at its root, so its home page would not answer. spec.promotion.requireHomePage is true.',
  PageCountDropped: 'The export lost more pages than spec.promotion.maxShrinkPercent allows.',
  Rejected: 'The candidate was rejected. Change the spec, or request an export, to offer its content again.',
} as const;

/** Why a promotion gate holds a candidate. */
const holdReasons = ['TooFewPages', 'HomePageMissing', 'PageCountDropped', 'AwaitingPromotion'] as const;
export type HoldReason = (typeof holdReasons)[number];

/** The reason, if it is one of a promotion gate. */
export function readHoldReason(reason: string | undefined): HoldReason | undefined {
  return holdReasons.find((one) => one === reason);
}

/** Why an export that is due cannot start: the export API must not be called. */
const accessReasons = {
  KeyMissing: reconcilingReasons.KeyMissing,
  BaseUrlMissing: stalledReasons.BaseUrlMissing,
  HostNotAllowed: stalledReasons.HostNotAllowed,
  KeyUnreadable: stalledReasons.KeyUnreadable,
  KeyEmpty: stalledReasons.KeyEmpty,
  KeyInvalid: stalledReasons.KeyInvalid,
  KeyRefused: stalledReasons.KeyRefused,
  KeyForbidden: stalledReasons.KeyForbidden,
} as const;

/** Condition `Exported`: the outcome of the last export, or what blocks the next one. */
export const exportedReasons = {
  Promoted: 'The last export was published.',
  Unchanged: 'The last export has the same content as the published version.',
  Pending: 'No export has finished yet.',
  JobFailed: 'The export API reports that the job failed. Look up the job there.',
  TimedOut:
    'The job did not finish within spec.jobTimeout. Raise it if jobs need longer. A late completion is still used.',
  JobLost: 'The export API no longer has the job.',
  BundleRejected: 'The archive was rejected and is not downloaded again.',
  MirrorFailed: 'The archive could not be copied to the mirror, so it is not published.',
  InspectionFailed: 'The archive could not be downloaded. Check the storage and the network path to it.',
  OutputWriteFailed:
    'The output Secret or ConfigMap could not be written. Follow the message of the Kubernetes API server.',
  StartRefused: 'The export API did not start an export.',
  StartUnconfirmed: 'The export API never confirmed a start.',
  AnotherExportRuns: 'Another job of the project runs, so the export API did not start this one.',
  StartBudgetUsed: 'The key has no start left in this hour, so the operator sends this one later.',
  ExportApiUnreachable: reconcilingReasons.ExportApiUnreachable,
  AwaitingPromotion: stalledReasons.AwaitingPromotion,
  TooFewPages: stalledReasons.TooFewPages,
  HomePageMissing: stalledReasons.HomePageMissing,
  PageCountDropped: stalledReasons.PageCountDropped,
  Rejected: stalledReasons.Rejected,
  ...accessReasons,
} as const;

/** Reasons of `Exported` that are not an outcome: they end when the export API can be called and answers. */
export const blockingReasons: ReadonlySet<string> = new Set([
  ...Object.keys(accessReasons),
  'StartRefused',
  'StartUnconfirmed',
  'AnotherExportRuns',
  'StartBudgetUsed',
  'ExportApiUnreachable',
]);

/** Condition `LinkFresh`. */
export const linkReasons = {
  Fresh: 'Link is valid, and its refresh is not overdue.',
  Due: 'Link is valid, but its refresh is overdue.',
  Expired: 'The output Secret holds no valid link.',
  JobGone: 'The export API no longer has the published job, so its link cannot be refreshed.',
  LifetimeTooShort:
    'Links expire too soon to be refreshed in time. Lower spec.linkRefresh.minInterval, or configure longer links at the export API.',
  NotPublished: 'Nothing is published yet, so there is no link.',
} as const;

/** Condition `Mirrored`. A reason of a failure has its message from the mirror. */
export const mirrorReasons = {
  Copied: 'The published bundle is in the mirror.',
  RetentionFailed:
    'The published bundle is in the mirror, and old copies cannot be removed. Follow the message.',
  Copying:
    'The bundle is being copied to the mirror, or waits for a free slot or for the end of another search.',
  NotPublished: 'Nothing is published yet.',
  Lost: 'The copy of the published bundle is no longer in the mirror. It is copied again while a link can be obtained.',
  Denied: 'The mirror refused the credentials of spec.mirror, or they lack a permission. Follow the message.',
  QuotaExceeded: 'The quota or the storage of the mirror is full. Free space, or raise the quota.',
  RepositoryMissing: 'The repository or bucket of spec.mirror does not exist. Create it.',
  HostNotAllowed: "The operator's --allowed-mirror-hosts does not allow the host of spec.mirror.",
  OwnedElsewhere:
    'Another StaticExport owns the place that spec.mirror names. Use another repository or prefix.',
  SecretMissing: 'The Secret that spec.mirror names does not exist. Create it.',
  Unreachable: 'The mirror cannot be reached. Check its address and the network path to it.',
  OutputWriteFailed:
    'The bundle was copied, but its reference could not be written to the outputs. Follow the message of the Kubernetes API server.',
  CopyFailed: 'The bundle could not be copied to the mirror. Follow the message.',
  ContentChanged:
    'The export API now issues other content for the published job, so it cannot be copied. Request an export.',
  RulesChanged:
    'The mirror has no copy of the published bundle, and the rules of spec.transform have changed with the operator since. A new version replaces it, unless spec.suspend, spec.pin or a promotion gate holds it.',
} as const;

/** Condition `TargetsSynced`, and `reason` of each of status.targets. */
export const targetReasons = {
  Synced: 'The target holds the published version, and its rollout is complete.',
  NotPublished: 'Nothing is published yet.',
  Suspended: 'spec.suspend is true: targets are not written.',
  Pending: "The operator is reading the target's document and writes it next. No action is needed.",
  RollingOut: 'The target holds the published version, and its rollout is in progress.',
  AwaitingSync: 'The Application holds the published version and is not synced automatically. Sync it.',
  AwaitingLink: 'The published version has no link yet. The target is written with the next link.',
  AwaitingCopy:
    'The published version has no copy in the mirror yet. The target is written once it is copied.',
  AwaitingMerge: 'The pull-request branch holds the published version. Merge it.',
  Paused: 'The rollout of the target is paused. Resume it.',
  RolloutFailed: 'The target holds the published version, and its rollout failed.',
  OwnedElsewhere:
    'Another owner declares the fields, so the operator does not write them. Make the owner ignore them.',
  DryRun: 'The mode of the target is DryRun: nothing is written.',
  NotGranted:
    'The object does not exist, lacks the consent annotation, or the operator has no permission to read it.',
  Refused: 'The document cannot be edited safely and was not changed. Correct it.',
  WriteFailed: 'The Kubernetes API server did not accept the write.',
  PushFailed: 'The commit could not be pushed. Follow the message.',
  Contested:
    'Another client keeps other values in these fields, so they are no longer written. Find out which client writes them. Writing resumes with a new version or spec.',
} as const;

export type ReadyReason = keyof typeof readyReasons | ReconcilingReason | StalledReason;
export type ReconcilingReason = keyof typeof reconcilingReasons;
export type StalledReason = keyof typeof stalledReasons;
export type ExportedReason = keyof typeof exportedReasons;
export type LinkReason = keyof typeof linkReasons;
export type TargetReason = keyof typeof targetReasons;
export type MirrorReason = keyof typeof mirrorReasons;

/** The condition types, in the order in which they are written. */
export const conditionTypes = [
  'Ready',
  'Reconciling',
  'Stalled',
  'Exported',
  'LinkFresh',
  'Mirrored',
  'TargetsSynced',
] as const;
export type ConditionType = (typeof conditionTypes)[number];
