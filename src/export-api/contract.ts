// The wire format of the export API: paths, requests, answers and error bodies of its four endpoints. It follows
// the specification and, where that is silent, the vendor. The service answers in exactly these shapes. Refuses:
// tolerance. job-answers.ts and conversation-answers.ts have the deviations that the client accepts.

import * as z from 'zod';

export const jobsPath = '/v1/static-export/jobs';
export const jobPath = (jobId: string): string => `${jobsPath}/${encodeURIComponent(jobId)}`;
export const bundlePath = (jobId: string): string => `${jobPath(jobId)}/bundle`;
/** The project-scoped form of the same service. It has no path for a bundle: the job itself carries the link. */
export const projectJobsPath = (projectId: string): string =>
  `/v1/static-export/${encodeURIComponent(projectId)}/jobs`;
export const projectJobPath = (projectId: string, jobId: string): string =>
  `${projectJobsPath(projectId)}/${encodeURIComponent(jobId)}`;
export const conversationsPath = (projectId: string): string =>
  `/v1/analytics/${encodeURIComponent(projectId)}/assistant`;

/** Draft `Idempotency-Key` header: the same key and body return the same job. */
export const idempotencyHeader = 'idempotency-key';

const label = /^(?!-)[a-z0-9-]{1,63}(?<!-)$/;

/** A bare host name: no scheme, port, path or wildcard. Lower-cased; a trailing dot is refused. */
export const domainSchema = z
  .string()
  .trim()
  .toLowerCase()
  .max(253)
  .refine((name) => name.split('.').every((part) => label.test(part)), {
    message: 'domain must be a bare host name such as docs.example.com: no scheme, port or path',
  });

/** Below which path the site of a project is built. */
export const basePaths = ['', '/docs', '/documentation'] as const;
export type ExportBasePath = (typeof basePaths)[number];

export const startJobRequestSchema = z.strictObject({ domain: domainSchema });

export const jobStatuses = ['queued', 'running', 'completed', 'failed'] as const;
export type ApiJobStatus = (typeof jobStatuses)[number];

/** The whole job object: the answer to a start (202) and to a status request (200). */
export const apiJobSchema = z.object({
  jobId: z.string(),
  domain: z.string(),
  status: z.enum(jobStatuses),
  /** Percent, 0–100; below 100 until the job is completed. */
  progress: z.number().min(0).max(100),
  /** Pages exported so far. */
  pageCount: z.int().min(0),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
  /** Only on `failed`. */
  error: z.string().nullable(),
});
export type JobDocument = z.infer<typeof apiJobSchema>;

/** The project-scoped form: a start has no domain, and its body may be absent. */
export const startProjectJobSchema = z.strictObject({ basePath: z.enum(basePaths).optional() });

/** The job of that form. Its last three members are there exactly when it is completed: it is a secret then. */
export const projectJobSchema = z.strictObject({
  jobId: z.string(),
  status: z.enum(jobStatuses),
  createdAt: z.iso.datetime(),
  /** Of the last change of `status`. */
  updatedAt: z.iso.datetime(),
  /** Only on `failed`. */
  error: z.string().nullable(),
  bundleUrl: z.url().optional(),
  sizeBytes: z.int().min(0).optional(),
  expiresAt: z.iso.datetime().optional(),
});
export type ProjectJobDocument = z.infer<typeof projectJobSchema>;

export const bundleSchema = z.object({
  jobId: z.string(),
  bundleUrl: z.url(),
  expiresAt: z.iso.datetime(),
  sizeBytes: z.int().min(0),
});
export type BundleDocument = z.infer<typeof bundleSchema>;

export const errorSchema = z.object({
  error: z.string(),
  details: z.array(z.object({ message: z.string() })).optional(),
});
export type ErrorDocument = z.infer<typeof errorSchema>;

export const sourceSchema = z.object({ title: z.string(), url: z.string() });

/** One conversation (upstream: one turn of it). Fields that the specification does not name are kept. */
export const conversationSchema = z.looseObject({
  id: z.string().min(1),
  timestamp: z.iso.datetime({ offset: true }),
  query: z.string(),
  response: z.string(),
  sources: z.array(sourceSchema),
  queryCategory: z.string().nullable(),
  pageUrl: z.string().nullable(),
  resolutionStatus: z.enum(['answered', 'unanswered']).optional(),
});
export type ConversationDocument = z.infer<typeof conversationSchema>;

export const conversationPageSchema = z.object({
  conversations: z.array(conversationSchema),
  nextCursor: z.string().nullable(),
  hasMore: z.boolean(),
});

export const pageLimits = { minimum: 1, maximum: 1000, default: 100 } as const;

/** 26 characters of Crockford's base 32, the first at most 7 (48 bits of time). */
export const ulidPattern = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/i;
