// Every reason a condition may carry, with the sentence that explains it. Reasons are API: people alert on them.
// Each is listed in crds/README.md, and a test keeps the two in step.

/** Condition `Ready`. */
export const readyReasons = {
  Published: 'The wanted version is published behind a live link.',
  Pinned:
    'The pinned version is published behind a live link; nothing is exported until spec.pin is removed.',
  Suspended:
    'The resource is suspended: nothing new is exported or published, and a published link is still refreshed.',
  LinkExpired:
    'There is no live link at the moment, and no fresh one could be had yet: servers keep what they serve, new ones cannot download it.',
} as const;

/** Conditions `Reconciling` (and `Ready` while the spec is not satisfied): on the way, nobody has to act. */
export const reconcilingReasons = {
  StartPending: 'An export is about to start.',
  StartUnconfirmed:
    'An export was asked for and the API has not confirmed it; it is asked again, with the same idempotency key.',
  Exporting: 'The export job runs.',
  Inspecting: 'The export is complete; its archive is being checked, or waits for its turn.',
  BackingOff: 'The next try waits.',
  PinPending: 'The pinned version is being published.',
  KeyMissing: 'The Secret named in api.keySecretRef does not exist yet, or does not hold the key; create it.',
} as const;

/** Conditions `Stalled` (and `Ready`): only a person can help. */
export const stalledReasons = {
  InvalidSpec: 'The stored spec cannot be read; correct its fields.',
  InvalidSchedule: 'schedule or timeZone cannot be understood, or names no instant; correct it.',
  BaseUrlMissing:
    'Neither api.baseUrl nor the operator names an export API; set the one, or --api-base-url of the other.',
  HostNotAllowed:
    "The operator's --allowed-api-hosts does not allow the scheme, host and port of api.baseUrl, and the key was not sent; add an entry, or correct spec.api.baseUrl.",
  KeyUnreadable:
    'The operator cannot read the Secret named in api.keySecretRef; give it the right, or mend what keeps the Secret from it.',
  KeyEmpty: 'The API key is empty; put it into its Secret.',
  KeyInvalid: 'The API key holds characters that no bearer key can hold; put the key alone into its Secret.',
  KeyRefused:
    'The API does not accept the key (401); put a valid one into its Secret. Until that changes no call is made.',
  KeyForbidden:
    'The API forbids this to the key (403); check its scopes, the plan and the domain. It is tried again every 15 minutes.',
  OutputNotOwned: 'The output Secret or ConfigMap exists and belongs to somebody else; it is left alone.',
  OutputUnreadable:
    'The operator cannot read the output Secret or ConfigMap, and nothing is published over what it cannot see; give it the right back, or mend what keeps them from it. It looks again within a minute.',
  PinnedVersionUnknown: 'The pinned version is not in status.history; pin one that is, or remove spec.pin.',
  PinnedJobGone: 'The pinned job no longer exists at the API; pin another version, or remove spec.pin.',
  PinnedJobFailed: 'The pinned job did not complete; pin another, or remove spec.pin.',
  PinnedContentChanged:
    'The archive of the pinned version no longer has the content that was published under it; pin another, or remove spec.pin.',
  AwaitingPromotion: 'promotion.mode is Manual: the candidate waits to be released.',
  TooFewPages: 'The export has fewer pages than promotion.minPages.',
  PageCountDropped: 'The export lost a larger share of its pages than promotion.maxShrinkPercent.',
} as const;

/** Why an export that is due cannot be had: the API may not be called. */
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

/** Condition `Exported`: the outcome of the last export, or what keeps the next one from it. */
export const exportedReasons = {
  Promoted: 'The last export was published.',
  Unchanged: 'The last export has the content that is published already.',
  Pending: 'No export has finished yet.',
  JobFailed: 'The API reports the job as failed; look it up there.',
  TimedOut:
    'The job did not finish within jobTimeout; raise it if jobs need longer. A late completion is still adopted.',
  JobLost: 'The API no longer knows the job.',
  BundleRejected: 'The archive cannot be published, and is not fetched again.',
  InspectionFailed: 'The archive could not be fetched; it is tried again.',
  OutputWriteFailed: 'The output Secret or ConfigMap could not be written; it is tried again.',
  StartRefused: 'The API did not start an export; it is tried again.',
  StartUnconfirmed: 'The API never confirmed a start; it is tried again.',
  AwaitingPromotion: stalledReasons.AwaitingPromotion,
  TooFewPages: stalledReasons.TooFewPages,
  PageCountDropped: stalledReasons.PageCountDropped,
  ...accessReasons,
} as const;

/** Condition `LinkFresh`. */
export const linkReasons = {
  Fresh: 'The link lives, and its replacement is not overdue.',
  Due: 'The link lives, but it should have been replaced by now.',
  Expired: 'The published link is past its life, or no longer in the output Secret.',
  JobGone:
    'The API no longer knows the published job: its link cannot be renewed, and only a new export brings one.',
  LifetimeTooShort:
    'Links live too short to be replaced in time; lower linkRefresh.minInterval, or have the API make longer ones.',
  NotPublished: 'There is no link yet.',
} as const;

/** Condition `TargetsSynced`, and `reason` of each of status.targets. */
export const targetReasons = {
  Synced: 'The target holds what it should.',
  NotPublished: 'Nothing is published yet that could be written.',
  Suspended: 'The resource is suspended; targets are left alone.',
  Pending: "The operator is reading the target's document and writes it next; no action is needed.",
  NotGranted:
    'The object does not exist, does not consent by annotation, or may not be read by the operator.',
  Refused: 'The document cannot be edited safely, and is left as it is; correct it.',
  WriteFailed: 'The API server refused the write, or could not be reached; it is tried again.',
  Contested:
    'Somebody undid the write three times within ten minutes: find out who else writes these fields. Left alone until a new version or spec.',
} as const;

export type ReadyReason = keyof typeof readyReasons | ReconcilingReason | StalledReason;
export type ReconcilingReason = keyof typeof reconcilingReasons;
export type StalledReason = keyof typeof stalledReasons;
export type ExportedReason = keyof typeof exportedReasons;
export type LinkReason = keyof typeof linkReasons;
export type TargetReason = keyof typeof targetReasons;

/** The condition types, in the order in which they are written. */
export const conditionTypes = [
  'Ready',
  'Reconciling',
  'Stalled',
  'Exported',
  'LinkFresh',
  'TargetsSynced',
] as const;
export type ConditionType = (typeof conditionTypes)[number];
