// The status of a StaticExport, field by field. Only the status keeps state across a restart of the operator.
// Invariant: it holds no key and no link, and every time is whole seconds in UTC.

import * as z from 'zod';
import { failureSchema, refusedKeySchema } from './failure-schema.ts';
import { mostStartsPerHour } from './names.ts';
import { namedList } from './schema-texts.ts';
import {
  basePathField,
  issuerFields,
  repairField,
  statusCount,
  statusInstant,
  statusText,
  versionText,
} from './status-fields.ts';
import { targetStatusSchema, type writtenSchema } from './target-status-schema.ts';

/** Rejected candidates that status remembers. */
export const maxRejected = 16;

const jobIdText = statusText(512).describe('Id of the job, as the export API returned it.');
const inputHashText = statusText(64).describe(
  'Hash of what is exported: domain, base URL of the export API, project id and base path.',
);
const exportedInstant = statusInstant.describe('Time when the operator observed the job complete.');
/** Lines of a report, and characters of each: the bundle's own report has the rest. */
const maxReportLines = 4;
const maxReportLine = 256;
/** Copies that wait for their deletion; a mirror with more of them is emptied over several days. */
export const maxUnlisted = 64;

/** A Kubernetes condition (meta/v1). */
export const conditionSchema = z
  .object({
    type: statusText(316).min(1).describe('Type of the condition.'),
    status: z.enum(['True', 'False', 'Unknown']).describe('Status of the condition.'),
    observedGeneration: statusCount
      .describe('Generation of the spec that the condition describes.')
      .optional(),
    lastTransitionTime: statusInstant.describe('Time of the last change of the status.'),
    reason: statusText(1024).min(1).describe('Reason in CamelCase. Alerts match it.'),
    message: statusText(32_768).describe('What happened and what to do.'),
  })
  .describe('A condition of this StaticExport.');

/** Why an export starts. */
export const exportCauses = [
  'First',
  'Inputs',
  'Schedule',
  'Request',
  'Hook',
  'JobLost',
  'JobGone',
  'Rules',
  'Pin',
] as const;

/** Outcome of a finished job. */
export const verdicts = [
  'Promoted',
  'Unchanged',
  'Held',
  'Rejected',
  'BundleRejected',
  'JobFailed',
  'TimedOut',
  'JobLost',
] as const;

const causeText = z.enum(exportCauses).describe('Why the export started.');

export const jobSchema = z
  .object({
    id: jobIdText,
    state: statusText(64).describe('State as the export API reports it.').optional(),
    progress: z
      .int()
      .min(0)
      .max(100)
      .describe('Progress in percent. For display only: 100 does not mean complete.')
      .optional(),
    pageCount: statusCount.describe('Pages exported so far, as the export API reports them.').optional(),
    inputHash: inputHashText.optional(),
    ...issuerFields,
    cause: causeText.optional(),
    requestTime: statusInstant.describe('Time when the operator recorded the start.').optional(),
    startTime: statusInstant.describe('Time when the export API returned the job id.').optional(),
    completionTime: statusInstant.describe('Time when the operator observed the job finished.').optional(),
    verdict: z.enum(verdicts).describe('Outcome of the job. Absent until it is decided.').optional(),
    message: statusText(256).describe('Code and message of an unsuccessful verdict.').optional(),
    ...repairField,
    repairTime: statusInstant
      .describe(
        'Time when the operator observed other steps of spec.transform after the job had ended, or had to apply other revisions of them. The version has this time.',
      )
      .optional(),
    report: z
      .array(statusText(maxReportLine).describe('One kind of gap, its count and an example.'))
      .max(maxReportLines)
      .describe(
        'What the steps of spec.transform changed, and what the report of the export says is missing, from other hosts, or left out.',
      )
      .optional(),
  })
  .describe('The job that the operator polls, or the last one.');

export const startSchema = z
  .object({
    key: statusText(64).describe('Idempotency-Key of the start.'),
    lastAttemptTime: statusInstant.describe('Time of the last attempt.'),
    inputHash: inputHashText,
    cause: causeText,
    attempts: statusCount.describe('Number of attempts.'),
    request: statusText(256)
      .describe('Token of the requestedAt annotation that this start answers.')
      .optional(),
    hook: statusText(256)
      .describe('Value of the hookRequestedAt annotation that this start answers.')
      .optional(),
  })
  .describe('Record of a start that the export API has not confirmed.');

/** What is known of an export, published or not. */
const exportFields = {
  version: versionText,
  digest: statusText(64).describe('SHA-256 of the content (paths and files), not of the archive.').optional(),
  jobId: jobIdText,
  pages: statusCount.describe('Number of pages in the archive.').optional(),
  sizeBytes: statusCount.describe('Size of all unpacked files in bytes.').optional(),
  inputHash: inputHashText.optional(),
  ref: statusText(1024).describe('Reference of the copy in the mirror. It holds no secret.').optional(),
  ...repairField,
};

export const candidateSchema = z
  .object({
    ...exportFields,
    ...basePathField,
    exportTime: exportedInstant.optional(),
    reason: statusText(64).describe('Why it is held: a promotion gate, or AwaitingPromotion.'),
  })
  .describe('A complete, inspected export that a promotion gate or Manual mode holds.');

export const rejectedSchema = z
  .object({
    generation: statusCount.describe('Generation of the spec for which the rejection holds.'),
    inputHash: inputHashText,
    request: statusText(256).describe('lastHandledRequest for which the rejection holds.').optional(),
    versions: z
      .array(
        z
          .object({
            version: versionText,
            digest: statusText(64).describe('SHA-256 of the rejected content.').optional(),
            rejectionTime: statusInstant.describe('Time when the operator observed the annotation.'),
          })
          .describe('A rejected candidate.'),
      )
      .max(maxRejected)
      .describe('Rejected candidates, latest first.'),
  })
  .describe(
    'Candidates that staticexport.dev/reject named. Their content is held again only after a change of the spec or a new requestedAt token.',
  );

export const versionSchema = z
  .object({
    ...exportFields,
    ...issuerFields,
    exportTime: exportedInstant.optional(),
    publishTime: statusInstant.describe('Time of its first publication.').optional(),
  })
  .describe('A version that can be pinned.');

export const activeSchema = versionSchema
  .extend({
    lastCheckTime: statusInstant.describe('Time when an export last confirmed this content.').optional(),
    mirrorCheckTime: statusInstant.describe('Time when its copy in the mirror was last found.').optional(),
    copyLossTime: statusInstant
      .describe('Time when its copy in the mirror was found missing. Absent while the copy is there.')
      .optional(),
    linkIssueTime: statusInstant.describe('Time when its link was issued.').optional(),
    linkExpirationTime: statusInstant
      .describe('Time when its link expires, unless it is refreshed before.')
      .optional(),
  })
  .describe('The version that the output Secret publishes.');

export const hookSchema = z
  .object({
    token: statusText(256).describe('Value of staticexport.dev/hookRequestedAt.'),
    firstTime: statusInstant.describe('Time when the operator observed the first hook of the burst.'),
    lastTime: statusInstant.describe('Time when the operator observed the last hook of the burst.'),
  })
  .describe('Hooks that no export has answered yet.');

export const statusSchema = z
  .object({
    observedGeneration: z
      .int()
      .describe('Generation that the conditions describe. -1 on a new object.')
      .optional(),
    operatorLease: statusText(317)
      .describe('Lease of the operator that wrote this status, as <namespace>/<name>.')
      .optional(),
    conditions: z
      .array(conditionSchema)
      .max(32)
      .describe(
        'Ready, Exported, LinkFresh, Mirrored and TargetsSynced. Reconciling and Stalled exist only while true.',
      )
      .optional(),
    lastHandledRequest: statusText(256)
      .describe('Token of the last staticexport.dev/requestedAt that started a job.')
      .optional(),
    lastCompletedRequest: statusText(256)
      .describe('Token of the last request whose export ended: published, held, unchanged or failed.')
      .optional(),
    lastHandledRefresh: statusText(256)
      .describe(
        'Token of the last staticexport.dev/refreshRequestedAt for which a link was issued, or none was needed.',
      )
      .optional(),
    lastHandledHook: statusText(256)
      .describe('Value of the last staticexport.dev/hookRequestedAt that started a job.')
      .optional(),
    hook: hookSchema.optional(),
    pages: statusCount
      .describe('Pages for kubectl get: of the active version, else of the candidate or the job.')
      .optional(),
    job: jobSchema.optional(),
    start: startSchema.optional(),
    startTimes: z
      .array(statusInstant.describe('Time of a start.'))
      .max(mostStartsPerHour)
      .describe(
        'Times of the starts of the last hour that the export API did not refuse, where spec.api.projectId is set. They count for the budget of the key.',
      )
      .optional(),
    candidate: candidateSchema.optional(),
    rejected: rejectedSchema.optional(),
    active: activeSchema.optional(),
    history: z
      .array(versionSchema)
      .max(64)
      .describe('Versions that can be pinned, latest publication first.')
      .optional(),
    nextExportTime: statusInstant.describe('Time when the schedule starts the next export.').optional(),
    nextRefreshTime: statusInstant.describe('Time of the next link refresh or its retry.').optional(),
    failures: z
      .object({
        export: failureSchema.describe('Failures of exports: refused starts and failed jobs.').optional(),
        start: failureSchema
          .describe(
            'A start that waits: for another job of the project, or for the budget of its key. Absent once it is sent.',
          )
          .optional(),
        poll: failureSchema
          .describe('Failures while polling the job, inspecting its archive, or writing the output.')
          .optional(),
        link: failureSchema.describe('Failures while refreshing the published link.').optional(),
        mirror: failureSchema
          .describe('Failures while checking the published copy in the mirror, or copying it again.')
          .optional(),
        retention: failureSchema
          .describe('Failures of daily checks while removing old copies from the mirror.')
          .optional(),
      })
      .describe('Back-off of each operation. A restart of the operator does not reset it.')
      .optional(),
    refusedKey: refusedKeySchema.optional(),
    unlistedCopies: z
      .array(
        z
          .object({
            digest: statusText(64).describe('Digest of the content.'),
            firstSeenTime: statusInstant.describe('Time when the operator first found it unlisted.'),
          })
          .describe('A copy that the history does not list.'),
      )
      .max(maxUnlisted)
      .describe('Copies in the mirror that the history does not list. spec.mirror.retention deletes them.')
      .optional(),
    targets: z
      .array(targetStatusSchema)
      .max(16)
      .describe('State of each entry of spec.targets.')
      .meta(namedList)
      .optional(),
  })
  .describe('Observed state of the export.');

export type Status = z.infer<typeof statusSchema>;
export type Condition = z.infer<typeof conditionSchema>;
export type ExportCause = (typeof exportCauses)[number];
export type Verdict = (typeof verdicts)[number];
export type JobStatus = z.infer<typeof jobSchema>;
export type StartRecord = z.infer<typeof startSchema>;
export type HookRecord = z.infer<typeof hookSchema>;
export type Candidate = z.infer<typeof candidateSchema>;
export type ActiveVersion = z.infer<typeof activeSchema>;
export type HistoryEntry = z.infer<typeof versionSchema>;
export type Failure = z.infer<typeof failureSchema>;
export type TargetStatus = z.infer<typeof targetStatusSchema>;
export type WrittenPlace = z.infer<typeof writtenSchema>;
