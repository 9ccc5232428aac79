// Endpoints 2 to 4: start a job, read it, issue a link to its archive. Thin: checks the request, asks the store, shapes
// the answer. Owns the status codes of each. project-routes.ts has the project-scoped form of the same jobs.

import { existsSync } from 'node:fs';
import express, { type Router } from 'express';
import {
  type BundleDocument,
  idempotencyHeader,
  type JobDocument,
  jobPath,
  startJobRequestSchema,
} from '#export-api/contract.ts';
import type { Clock } from '#platform/runtime/clock.ts';
import type { Random } from '#platform/runtime/random.ts';
import { ApiRefusal } from '../api-refusal.ts';
import { archiveFile, type JobRunner } from '../job-runner.ts';
import { expiryOf, signLink } from '../links.ts';
import { type Origins, originOf } from '../origins.ts';
import type { JobRow, JobStore, OnceKey } from '../store/jobs.ts';
import { answerOnly } from './answers.ts';
import type { ApiHandler, ApiResponse } from './auth-check.ts';

export interface JobRoutesOptions {
  readonly store: JobStore;
  readonly runner: Pick<JobRunner, 'wake' | 'progressOf'>;
  readonly origins: Origins;
  readonly directory: string;
  readonly linkSecret: Uint8Array;
  readonly linkLifetimeMs: number;
  readonly maxQueued: number;
  /** Without a trailing slash; known only once the port is bound. */
  readonly publicUrl: () => string;
  readonly clock: Clock;
  readonly random: Random;
}

/** For starts of both forms: a small JSON body. */
export const parseJobBody = express.json({ limit: '16kb', type: 'application/json', inflate: false });

/** Below `/v1/static-export`. */
export function jobRoutes(options: JobRoutesOptions): Router {
  const router = express.Router({ caseSensitive: true });
  router.route('/jobs').post(requireJson, parseJobBody, startJob(options)).all(answerOnly('POST'));
  router.route('/jobs/:jobId').get(readJob(options)).all(answerOnly('GET', 'HEAD'));
  router.route('/jobs/:jobId/bundle').post(issueLink(options)).all(answerOnly('POST'));
  return router;
}

const requireJson: ApiHandler = (request, _response, next) => {
  const type = request.is('application/json');
  if (type === null) throw new ApiRefusal(400, 'a JSON body with the domain to export is required');
  if (type === false) throw new ApiRefusal(415, 'the body must be application/json');
  next();
};

function startJob(options: JobRoutesOptions): ApiHandler {
  const { store, runner, origins, clock, random, publicUrl } = options;
  return (request, response) => {
    const body = startJobRequestSchema.safeParse(request.body);
    if (!body.success) {
      throw new ApiRefusal(400, 'the body is not a start request', {
        details: body.error.issues.map(describe),
      });
    }
    const { domain } = body.data;
    if (originOf(origins, domain) === undefined) {
      throw new ApiRefusal(400, 'no such domain', {
        details: [`${domain} is not among the domains exported here`],
      });
    }
    const id = newJobId(random);
    const once = onceKey(request.headers[idempotencyHeader], response);
    const outcome = store.start({ id, domain, now: clock.now(), maxQueued: options.maxQueued, once });
    if (outcome.kind === 'mismatch') {
      throw new ApiRefusal(422, 'this Idempotency-Key was used with another body');
    }
    if (outcome.kind === 'queueFull') throw queueFull();
    if (outcome.kind === 'replayed') response.set('Idempotency-Replayed', 'true');
    else runner.wake();
    const job = store.find(outcome.job.id) ?? outcome.job;
    response
      .status(202)
      .location(`${publicUrl()}${jobPath(job.id)}`)
      .json(documentOf(job, runner));
  };
}

function readJob({ store, runner }: JobRoutesOptions): ApiHandler<{ jobId: string }> {
  return (request, response) => {
    response.json(documentOf(findJob(store, request.params.jobId), runner));
  };
}

function issueLink(options: JobRoutesOptions): ApiHandler<{ jobId: string }> {
  return (request, response) => {
    const job = findJob(options.store, request.params.jobId);
    const { id: jobId, status, archiveBytes: sizeBytes } = job;
    if (sizeBytes === null) {
      throw new ApiRefusal(409, `the job is ${status}: a bundle needs a completed one`);
    }
    if (!hasArchive(options, jobId)) throw new ApiRefusal(410, "the job's archive is gone: start a new job");
    const once = onceKey(request.headers[idempotencyHeader], response);
    const document: BundleDocument = { jobId, ...issuedBundleOf(options, jobId, once), sizeBytes };
    response.json(document);
  };
}

export const newJobId = (random: Random): string => `se_${Buffer.from(random.bytes(8)).toString('hex')}`;

/** The same in both forms: the queue is shared. */
export const queueFull = (): ApiRefusal =>
  new ApiRefusal(429, 'too many jobs are queued', { headers: { 'Retry-After': '30' } });

/** Whether the file of a completed job is still in the data folder. */
export const hasArchive = ({ directory }: Pick<JobRoutesOptions, 'directory'>, jobId: string): boolean =>
  existsSync(archiveFile(directory, jobId));

/**
 * Issues a link to the archive of a completed job, which is a use of the job.
 *
 * @param once the same key gets the same expiry for a time; without one, the link is new
 * @returns a secret
 */
export function issuedBundleOf(
  { store, clock, linkSecret, linkLifetimeMs, publicUrl }: JobRoutesOptions,
  jobId: string,
  once?: OnceKey,
): Pick<BundleDocument, 'bundleUrl' | 'expiresAt'> {
  const now = clock.now();
  const freshUntil = expiryOf(now, linkLifetimeMs);
  const link = signLink(linkSecret, jobId, store.issue({ jobId, freshUntil, now, once }));
  return { bundleUrl: `${publicUrl()}${link.target}`, expiresAt: new Date(link.expiresAt).toISOString() };
}

function findJob(store: JobStore, jobId: string): JobRow {
  const job = store.find(jobId);
  if (job === undefined) throw new ApiRefusal(404, 'no such job');
  return job;
}

/** @throws {ApiRefusal} 400 for a key that is not 1 to 255 printable ASCII characters */
function onceKey(header: string | string[] | undefined, response: ApiResponse): OnceKey | undefined {
  if (header === undefined) return undefined;
  if (typeof header !== 'string' || !/^[\x20-\x7e]{1,255}$/.test(header)) {
    throw new ApiRefusal(400, 'the Idempotency-Key must be 1 to 255 printable ASCII characters');
  }
  return { credential: response.locals.credential.id, key: header };
}

function documentOf(job: JobRow, runner: Pick<JobRunner, 'progressOf'>): JobDocument {
  const live = job.status === 'running' ? runner.progressOf(job.id) : undefined;
  return {
    jobId: job.id,
    domain: job.domain,
    status: job.status,
    progress: job.status === 'completed' ? 100 : (live?.percent ?? 0),
    pageCount: live?.pageCount ?? job.pageCount,
    createdAt: new Date(job.createdAt).toISOString(),
    updatedAt: new Date(live?.updatedAt ?? job.updatedAt).toISOString(),
    error: job.error,
  };
}

/** A fault of the body in words that do not repeat it: zod's own name only the kinds that were met. */
function describe(issue: {
  readonly code: string;
  readonly path: readonly PropertyKey[];
  readonly message: string;
}) {
  if (issue.code === 'unrecognized_keys')
    return 'only domain is understood: every other field would be ignored';
  return issue.path.length === 0 ? 'the body must be a JSON object' : issue.message;
}
