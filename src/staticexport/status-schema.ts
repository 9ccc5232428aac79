// The status of a StaticExport, field by field. What the operator must remember over a restart is here and
// nowhere else. Invariant: no key and no link has a place in it, and every instant is whole seconds in UTC.

import { z } from 'zod';
import { namedList } from './schema.ts';

const text = (maxLength: number) => z.string().max(maxLength);
const count = z.int().min(0);
const instant = z.string().max(40).meta({ format: 'date-time' });
const versionText = text(63).describe(
  '<yyyymmdd>-<hhmmss>-<8 hex>, by the time when its job was seen complete.',
);
const digestText = text(64).describe('SHA-256 of the content: of its paths and files, not of the archive.');
const jobIdText = text(512).describe("The job's id, as the export API gave it.");
const pagesCount = count.describe('Pages found in the archive.');
const sizeCount = count.describe('Bytes of all files, unpacked.');
const inputHashText = text(64).describe('Names the domain and the base URL that it was exported from.');
const baseUrlText = text(2048).describe('The export API that made it, and that its links are asked of.');
const exportedInstant = instant.describe('When its job was seen complete.');
const requestIdText = text(128).describe(
  "The id by which the API knows its answer: what to quote to the API's support.",
);

/** A Kubernetes condition (meta/v1). */
export const conditionSchema = z
  .object({
    type: text(316).min(1).describe('What the condition is about.'),
    status: z.enum(['True', 'False', 'Unknown']).describe('Whether it holds.'),
    observedGeneration: count.describe('The generation of the spec that it speaks of.').optional(),
    lastTransitionTime: instant.describe('When the status changed last.'),
    reason: text(1024).min(1).describe('Why, in one word: what to alert on.'),
    message: text(32_768).describe('Why, in words for people, with what to do.'),
  })
  .describe('One thing that is known of the resource.');

/** Why an export is wanted. */
export const exportCauses = ['First', 'Inputs', 'Schedule', 'Request', 'JobLost', 'JobGone', 'Pin'] as const;

/** What became of a job that is over. */
export const verdicts = [
  'Promoted',
  'Unchanged',
  'Held',
  'BundleRejected',
  'JobFailed',
  'TimedOut',
  'JobLost',
] as const;

const causeText = z.enum(exportCauses).describe('Why the export was wanted.');

export const jobSchema = z
  .object({
    id: jobIdText,
    state: text(64).describe('The status as the API words it.').optional(),
    progress: z.int().min(0).max(100).describe('Percent, for display only: 100 is not yet done.').optional(),
    pageCount: count.describe('Pages exported so far, as the API counts them.').optional(),
    inputHash: inputHashText.optional(),
    baseUrl: baseUrlText.optional(),
    cause: causeText.optional(),
    requestTime: instant.describe('When the start was marked.').optional(),
    startTime: instant.describe('When the API named the job.').optional(),
    completionTime: instant.describe('When the operator saw it over.').optional(),
    verdict: z.enum(verdicts).describe('What became of it; absent while it is not decided.').optional(),
    message: text(256).describe('Code and words of a verdict that is not good.').optional(),
  })
  .describe('The one job that is followed, or the last one.');

export const startSchema = z
  .object({
    key: text(64).describe('Idempotency key of the start.'),
    lastAttemptTime: instant.describe('When it was last sent.'),
    inputHash: inputHashText,
    cause: causeText,
    attempts: count.describe('How often it was sent.'),
    request: text(256).describe('Token of the request that this start answers.').optional(),
  })
  .describe('The mark of a start that the API has not confirmed.');

export const candidateSchema = z
  .object({
    version: versionText,
    digest: digestText.optional(),
    jobId: jobIdText,
    pages: pagesCount.optional(),
    sizeBytes: sizeCount.optional(),
    inputHash: inputHashText.optional(),
    exportTime: exportedInstant.optional(),
    reason: text(64).describe('Which gate holds it.'),
  })
  .describe('A complete and readable export that a gate or Manual mode holds back.');

export const versionSchema = z
  .object({
    version: versionText,
    digest: digestText.optional(),
    jobId: jobIdText,
    pages: pagesCount.optional(),
    sizeBytes: sizeCount.optional(),
    inputHash: inputHashText.optional(),
    baseUrl: baseUrlText.optional(),
    exportTime: exportedInstant.optional(),
    publishTime: instant.describe('When it was published first.').optional(),
  })
  .describe('A version that can be pinned.');

export const activeSchema = versionSchema
  .extend({
    lastCheckTime: instant.describe('When an export last confirmed this content.').optional(),
    linkIssueTime: instant.describe('When its link was asked for.').optional(),
    linkExpirationTime: instant.describe('When its link dies, unless it is replaced before.').optional(),
  })
  .describe('What the output Secret publishes.');

export const failureSchema = z.object({
  count: count.describe('Failures in a row.'),
  lastFailureTime: instant.describe('When it failed last.'),
  retryTime: instant.describe('Not tried again before this.'),
  reason: text(64).describe('Code of the failure.'),
  message: text(256).describe('What failed, in words, where the code alone does not say.').optional(),
  requestId: requestIdText.optional(),
  subject: text(512).describe('What failed: the inputs of an export, or a job.').optional(),
  request: text(256).describe('Token of the request whose one free try is spent.').optional(),
  secretVersion: text(128)
    .describe('uid and resourceVersion of the Secret whose key the API forbade this (403).')
    .optional(),
  inspectionFailures: count.describe('Readings of its archive that failed.').optional(),
});

export const refusedKeySchema = z
  .object({
    secretVersion: text(128).describe('uid and resourceVersion of the Secret whose key was refused.'),
    reason: z
      .enum(['Unauthorized', 'Forbidden'])
      .describe('What the API answered: 401 Unauthorized, 403 Forbidden.'),
    refusalTime: instant.describe('When it was refused.'),
    request: text(256).describe('Token of the request whose one free try is spent.').optional(),
    requestId: requestIdText.optional(),
  })
  .describe('The key that the API refused; no calls are made with it until its Secret changes.');

export const targetStatusSchema = z
  .object({
    name: text(63).describe('Name of the target in spec.targets.'),
    object: text(640).describe('The object that it names: <kind>/<namespace>/<name>/<key>.'),
    synced: z.boolean().describe('It holds what it should.'),
    reason: text(64).describe('Why, in one word.'),
    message: text(512).describe('What it lacks, in words.').optional(),
    version: versionText.describe('The version it last held in our name.').optional(),
    linkIssueTime: instant.describe('Which link it last held, where it asked for one.').optional(),
    revertTimes: z
      .array(instant.describe('When.'))
      .max(3)
      .describe('When somebody undid our write.')
      .optional(),
    contestedGeneration: count
      .describe('The generation at which it was given up, until the next one.')
      .optional(),
    failures: count.describe('Failed writes in a row.').optional(),
    retryTime: instant.describe('Not written again before this.').optional(),
  })
  .describe('One of spec.targets.');

export const statusSchema = z
  .object({
    observedGeneration: z
      .int()
      .describe('The generation that the conditions speak of; -1 on a fresh object.')
      .optional(),
    operatorLease: text(317)
      .describe('Who wrote this status: the lease of its operator, <namespace>/<name>.')
      .optional(),
    conditions: z
      .array(conditionSchema)
      .max(32)
      .describe('Ready, Exported, LinkFresh and TargetsSynced; Reconciling and Stalled only while true.')
      .optional(),
    lastHandledRequest: text(256)
      .describe('Token of the last staticexport.dev/requestedAt that became a job.')
      .optional(),
    lastCompletedRequest: text(256)
      .describe(
        'Token of the last request whose export is over: published, held back, the same as before, or failed.',
      )
      .optional(),
    pages: count
      .describe(
        'For kubectl get: pages of the active version; before there is one, of the candidate or the job.',
      )
      .optional(),
    job: jobSchema.optional(),
    start: startSchema.optional(),
    candidate: candidateSchema.optional(),
    active: activeSchema.optional(),
    history: z
      .array(versionSchema)
      .max(64)
      .describe('Versions that can be pinned, newest publication first.')
      .optional(),
    nextExportTime: instant.describe('When the schedule starts the next export.').optional(),
    nextRefreshTime: instant.describe('When the link is replaced, or tried again.').optional(),
    failures: z
      .object({
        export: failureSchema
          .describe('Of exports: starts that were refused, and jobs that came to nothing.')
          .optional(),
        poll: failureSchema
          .describe('Of the job: polling it, fetching and reading its archive, writing it out.')
          .optional(),
        link: failureSchema.describe('Of replacing the published link.').optional(),
      })
      .describe('Back-off by operation; kept here so that a restart does not reset it.')
      .optional(),
    refusedKey: refusedKeySchema.optional(),
    targets: z
      .array(targetStatusSchema)
      .max(16)
      .describe('State of each entry of spec.targets.')
      .meta(namedList)
      .optional(),
  })
  .describe('What was observed and what must be remembered.');

export type Status = z.infer<typeof statusSchema>;
export type Condition = z.infer<typeof conditionSchema>;
export type ExportCause = (typeof exportCauses)[number];
export type Verdict = (typeof verdicts)[number];
export type JobStatus = z.infer<typeof jobSchema>;
export type StartMark = z.infer<typeof startSchema>;
export type Candidate = z.infer<typeof candidateSchema>;
export type ActiveVersion = z.infer<typeof activeSchema>;
export type HistoryEntry = z.infer<typeof versionSchema>;
export type Failure = z.infer<typeof failureSchema>;
export type TargetStatus = z.infer<typeof targetStatusSchema>;
