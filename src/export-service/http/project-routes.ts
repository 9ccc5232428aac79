// The project-scoped form of the same jobs: start one, read it. Thin, as job-routes.ts is. Owns the status codes of each. There
// is no call for a link: the answer about a completed job carries a new one, so that answer is a secret and a read-only
// key gets none. Refuses a second job of a domain. Ignores an Idempotency-Key, which this form does not know.

import express, { type Router } from 'express';
import { type ProjectJobDocument, projectJobPath, startProjectJobSchema } from '#export-api/contract.ts';
import { ApiRefusal } from '../api-refusal.ts';
import type { ServedProjects } from '../projects.ts';
import type { JobRow, ProjectStartOutcome } from '../store/jobs.ts';
import { answerOnly } from './answers.ts';
import type { ApiHandler } from './auth-check.ts';
import {
  hasArchive,
  issuedBundleOf,
  type JobRoutesOptions,
  newJobId,
  parseJobBody,
  queueFull,
} from './job-routes.ts';

export interface ProjectRoutesOptions extends JobRoutesOptions {
  readonly projects: ServedProjects;
  /** Of all projects together. `undefined`: no limit. */
  readonly projectStartsPerHour?: number | undefined;
}

/** Below `/v1/static-export`. */
export function projectRoutes(options: ProjectRoutesOptions): Router {
  const router = express.Router({ caseSensitive: true });
  router
    .route('/:projectId/jobs')
    .post(allowNoBody, parseJobBody, startProjectJob(options))
    .all(answerOnly('POST'));
  router
    .route('/:projectId/jobs/:jobId')
    .get(requireWriter, readProjectJob(options))
    .all(answerOnly('GET', 'HEAD'));
  return router;
}

/** An empty body has no type. */
const allowNoBody: ApiHandler = (request, _response, next) => {
  const isEmpty = request.headers['content-length'] === '0';
  if (!isEmpty && request.is('application/json') === false) {
    throw new ApiRefusal(415, 'the body must be application/json, or absent');
  }
  next();
};

const requireWriter: ApiHandler<{ projectId: string; jobId: string }> = (_request, response, next) => {
  if (response.locals.credential.mayWrite) next();
  else throw new ApiRefusal(403, 'this API key may only read: the job of a project carries a link');
};

function startProjectJob(options: ProjectRoutesOptions): ApiHandler<{ projectId: string }> {
  const { store, clock, random, runner, maxQueued, projectStartsPerHour: startsPerHour, publicUrl } = options;
  return (request, response) => {
    const { projectId } = request.params;
    const domain = domainOf(options, projectId);
    const body = startProjectJobSchema.safeParse(request.body ?? {});
    if (!body.success) {
      throw new ApiRefusal(400, 'the body is not a start request', {
        details: [
          'the body must be absent or a JSON object with basePath alone: "", "/docs" or "/documentation"',
        ],
      });
    }
    const basePath = body.data.basePath ?? null;
    const now = clock.now();
    const outcome = store.startOfProject({
      id: newJobId(random),
      domain,
      basePath,
      now,
      maxQueued,
      startsPerHour,
    });
    if (outcome.kind !== 'started') throw refusalOf(outcome, now);
    runner.wake();
    const job = store.find(outcome.job.id) ?? outcome.job;
    response
      .status(202)
      .location(`${publicUrl()}${projectJobPath(projectId, job.id)}`)
      .json(projectDocumentOf(job));
  };
}

function readProjectJob(options: ProjectRoutesOptions): ApiHandler<{ projectId: string; jobId: string }> {
  return (request, response) => {
    const { projectId, jobId } = request.params;
    const domain = domainOf(options, projectId);
    const job = options.store.find(jobId);
    if (job?.domain !== domain) throw new ApiRefusal(404, 'no such job of this project');
    const { archiveBytes: sizeBytes } = job;
    if (sizeBytes === null) {
      response.json(projectDocumentOf(job));
      return;
    }
    // This form has no 410: a job whose archive cannot be downloaded counts as gone.
    if (!hasArchive(options, jobId)) throw new ApiRefusal(404, "the job's archive is gone: start a new job");
    response.json({ ...projectDocumentOf(job), ...issuedBundleOf(options, jobId), sizeBytes });
  };
}

function domainOf({ projects }: ProjectRoutesOptions, projectId: string): string {
  const domain = projects.get(projectId);
  if (domain === undefined) throw new ApiRefusal(404, 'no such project');
  return domain;
}

function refusalOf(outcome: Exclude<ProjectStartOutcome, { kind: 'started' }>, now: number): ApiRefusal {
  if (outcome.kind === 'queueFull') return queueFull();
  if (outcome.kind === 'anotherRuns') {
    return new ApiRefusal(
      409,
      'another job of this project is queued or running: start again when it has ended',
    );
  }
  const seconds = Math.max(1, Math.ceil((outcome.freeAt - now) / 1000));
  return new ApiRefusal(429, 'all starts of this hour are used: start again after Retry-After', {
    headers: { 'Retry-After': String(seconds) },
  });
}

/** Without progress and pages, which this form does not report. */
function projectDocumentOf({ id: jobId, status, createdAt, updatedAt, error }: JobRow): ProjectJobDocument {
  return {
    jobId,
    status,
    createdAt: new Date(createdAt).toISOString(),
    updatedAt: new Date(updatedAt).toISOString(),
    error,
  };
}
