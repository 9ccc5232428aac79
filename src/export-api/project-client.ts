// The client of jobs of one project: start and status, below the project's id. The link has no call of its own: the status
// of a completed job carries one. Invariants: an answer to a poll is a secret from the moment it is read, so none is kept as
// it came; asking for a link sends no body and no Idempotency-Key; an answer about another job is refused.

import { headerOf, retryAfterOf, serverDateOf } from '#platform/http/exchange.ts';
import { readJson } from '#platform/wire/json-text.ts';
import {
  type ExportApi,
  ExportApiError,
  type ExportProject,
  type IssuedLink,
  type JobReport,
  type StartedJob,
} from './answers.ts';
import { checkedId, createCaller } from './caller.ts';
import { projectJobPath, projectJobsPath } from './contract.ts';
import type { ExchangeOptions } from './exchange.ts';
import { membersOf, readIssuedLink, readJobId, readJobReport } from './job-answers.ts';
import { bodyText, type CallWords, longestAnswerBytes } from './refusals.ts';

const refusedKey = {
  Unauthorized:
    'returned 401; check the key, whether your plan includes the export API, and whether the project may be exported',
  Forbidden:
    "returned 403; check whether static export is on for this deployment, the key's permission to write, and the vendor's IP allow-list",
};
const start: CallWords = {
  // The answer does not name the other job, and no list does.
  codes: { 409: 'AnotherExportRuns' },
  advice: {
    ...refusedKey,
    BadRequest: 'refused the request; check the base path, which is empty, /docs or /documentation',
    NotFound: 'does not know this project id for this key; copy the id from the dashboard',
    RateLimited: 'limits the rate of starts; the vendor allows ten in an hour for each organization',
  },
};
const read: CallWords = {
  advice: {
    ...refusedKey,
    NotFound: 'has no such job of this project; it was removed, or it belongs to another project',
  },
};

/** Never throws itself; see `createExportApiClient`. */
export function createProjectClient(options: ExchangeOptions, project: ExportProject): ExportApi {
  const { clock, key } = options;
  const { basePath } = project;
  const call = createCaller(options);
  const projectId = (): string => checkedId(project.id, 'project id');
  const readAnswer = async (
    jobId: string,
    signal: AbortSignal,
  ): Promise<{ readonly report: JobReport; readonly issued: IssuedLink | undefined }> =>
    call(
      {
        method: 'GET',
        path: projectJobPath(projectId(), checkedId(jobId, 'job id')),
        maxBytes: longestAnswerBytes,
      },
      'this job',
      (answer) => {
        const body = readJson(bodyText(answer.bytes));
        const report = readJobReport(body, key);
        if (report === undefined || !isAbout(body, jobId)) return undefined;
        const retryAfterMs = retryAfterOf(answer, clock.now());
        return {
          report: { ...report, retryAfterMs, raw: undefined },
          issued: report.outcome === 'completed' ? readIssuedLink(body, serverDateOf(answer)) : undefined,
        };
      },
      signal,
      read,
    );
  return {
    startJob: async ({ idempotencyKey }, signal) =>
      call<StartedJob>(
        {
          ...{ method: 'POST', path: projectJobsPath(projectId()), idempotencyKey },
          ...(basePath !== undefined && { body: { basePath } }),
          maxBytes: longestAnswerBytes,
        },
        'a usable jobId',
        (answer) => {
          const jobId = readJobId(readJson(bodyText(answer.bytes)), headerOf(answer, 'location'), key);
          return jobId === undefined
            ? undefined
            : { jobId, retryAfterMs: retryAfterOf(answer, clock.now()), raw: undefined };
        },
        signal,
        start,
      ),
    readJob: async (jobId, signal) => {
      const { report, issued } = await readAnswer(jobId, signal);
      if (issued !== undefined) return { ...report, issued };
      // The link may come a moment later. If it never comes, the job's own deadline ends the polls.
      return report.outcome === 'completed' ? { ...report, outcome: 'unfinished' } : report;
    },
    issueLink: async ({ jobId }, signal) => {
      const { report, issued } = await readAnswer(jobId, signal);
      if (issued !== undefined) return issued;
      if (report.outcome === 'unfinished')
        throw new ExportApiError('Conflict', `the export API has no link yet; the job is "${report.state}"`);
      // Only an archive that was there before is asked for, so a new export must replace it.
      const message = `the export API has no link to the archive of this job any more; the job is "${report.state}"`;
      throw new ExportApiError('Gone', message);
    },
  };
}

/** An answer without an id, or with this one. */
function isAbout(body: unknown, jobId: string): boolean {
  const claimed = membersOf(body)?.['jobId'];
  if (claimed === undefined || claimed === null) return true;
  return typeof claimed === 'number' ? String(claimed) === jobId : claimed === jobId;
}
