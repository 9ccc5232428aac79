// The status of a StaticExport, field by field. What the operator must remember over a restart is here and
// nowhere else. Invariant: no key and no link has a place in it, and every instant is whole seconds in UTC.

import { z } from 'zod';

const text = (maxLength: number) => z.string().max(maxLength);
const count = z.int().min(0);
const instant = z.string().max(40).meta({ format: 'date-time' });
const versionText = text(63).describe('<yyyymmdd>-<hhmmss>-<8 hex>');
const digestText = text(64);
const baseUrlText = text(2048).describe('The export API that made it, and that its links are asked of.');

/** A Kubernetes condition (meta/v1). */
export const conditionSchema = z.object({
  type: text(316).min(1),
  status: z.enum(['True', 'False', 'Unknown']),
  observedGeneration: count.optional(),
  lastTransitionTime: instant,
  reason: text(1024).min(1),
  message: text(32_768),
});

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

export const jobSchema = z
  .object({
    id: text(512),
    state: text(64).describe('The status as the API words it.').optional(),
    progress: z.int().min(0).max(100).describe('Percent, for display only.').optional(),
    pageCount: count.optional(),
    inputHash: text(64).optional(),
    baseUrl: baseUrlText.optional(),
    cause: z.enum(exportCauses).optional(),
    requestedAt: instant.describe('When the start was marked.').optional(),
    startedAt: instant.describe('When the API named the job.').optional(),
    finishedAt: instant.describe('When the operator saw it over.').optional(),
    verdict: z.enum(verdicts).describe('What became of it; absent while it is not decided.').optional(),
    why: text(256).describe('Code and words of a verdict that is not good.').optional(),
  })
  .describe('The one job that is followed, or the last one.');

export const startSchema = z
  .object({
    key: text(64).describe('Idempotency key of the start.'),
    at: instant.describe('When it was last sent.'),
    inputHash: text(64),
    cause: z.enum(exportCauses),
    sends: count,
    request: text(256).describe('Token of the request that this start answers.').optional(),
  })
  .describe('The mark of a start that the API has not confirmed.');

export const candidateSchema = z
  .object({
    version: versionText,
    digest: digestText.optional(),
    jobId: text(512),
    pages: count.optional(),
    sizeBytes: count.optional(),
    inputHash: text(64).optional(),
    exportedAt: instant.optional(),
    reason: text(64).describe('Which gate holds it.'),
  })
  .describe('A complete and readable export that a gate or Manual mode holds back.');

export const versionSchema = z.object({
  version: versionText,
  digest: digestText.optional(),
  jobId: text(512),
  pages: count.optional(),
  sizeBytes: count.optional(),
  inputHash: text(64).optional(),
  baseUrl: baseUrlText.optional(),
  exportedAt: instant.optional(),
  publishedAt: instant.optional(),
});

export const activeSchema = versionSchema
  .extend({
    checkedAt: instant.describe('When an export last confirmed this content.').optional(),
    linkIssuedAt: instant.optional(),
    linkExpiresAt: instant.optional(),
  })
  .describe('What the output Secret publishes.');

export const failureSchema = z.object({
  count,
  at: instant.describe('When it failed last.'),
  retryAt: instant,
  reason: text(64),
  about: text(512).describe('What failed: the inputs of an export, or a job.').optional(),
  request: text(256).describe('Token of the request whose one free try is spent.').optional(),
  reads: count.describe('Readings of its archive that failed.').optional(),
});

export const refusedKeySchema = z
  .object({
    secretVersion: text(128).describe('uid and resourceVersion of the Secret whose key was refused.'),
    reason: z.enum(['Unauthorized', 'Forbidden']),
    at: instant,
    request: text(256).optional(),
  })
  .describe('The key that the API refused; no calls are made with it until its Secret changes.');

export const targetStatusSchema = z.object({
  target: text(640).describe('kind/objectKind/namespace/name/key'),
  synced: z.boolean(),
  reason: text(64),
  message: text(512).optional(),
  version: versionText.describe('The version it last held in our name.').optional(),
  linkIssuedAt: instant.optional(),
  reverts: z.array(instant).max(3).describe('When somebody undid our write.').optional(),
  contestedGeneration: count.optional(),
  failures: count.optional(),
  retryAt: instant.optional(),
});

export const statusSchema = z
  .object({
    observedGeneration: z.int().optional(),
    conditions: z.array(conditionSchema).max(32).optional(),
    lastHandledRequest: text(256).optional(),
    job: jobSchema.optional(),
    start: startSchema.optional(),
    candidate: candidateSchema.optional(),
    active: activeSchema.optional(),
    history: z
      .array(versionSchema)
      .max(64)
      .describe('Versions that can be pinned, newest publication first.')
      .optional(),
    nextExportTime: instant.optional(),
    nextRefreshTime: instant.optional(),
    failures: z
      .object({
        export: failureSchema.optional(),
        poll: failureSchema.optional(),
        link: failureSchema.optional(),
      })
      .describe('Back-off by lane; kept here so that a restart does not reset it.')
      .optional(),
    refusedKey: refusedKeySchema.optional(),
    targets: z.array(targetStatusSchema).max(16).optional(),
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
export type RefusedKey = z.infer<typeof refusedKeySchema>;
export type TargetStatus = z.infer<typeof targetStatusSchema>;
