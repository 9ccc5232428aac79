// The client of jobs of the export API, by domain: three calls bound to one base URL and key, each with one exchange and one
// parser. project-client.ts has the other form, listing-client.ts the fourth call. Owns the meaning of answers (any 2xx with
// a job id starts a job; a redirect is never followed). Refuses: retrying, polling, pacing. The caller decides when to call
// again, with the help of `retryAfterMs`.

import { headerOf, retryAfterOf, serverDateOf } from '#platform/http/exchange.ts';
import { readJson } from '#platform/wire/json-text.ts';
import type { ExportApi, ExportApiAddress, IssuedLink, JobReport, StartedJob } from './answers.ts';
import { checkedId, createCaller } from './caller.ts';
import { bundlePath, jobPath, jobsPath } from './contract.ts';
import type { ExchangeOptions } from './exchange.ts';
import { readIssuedLink, readJobId, readJobReport } from './job-answers.ts';
import { createProjectClient } from './project-client.ts';
import { bodyText, type CallWords, longestAnswerBytes } from './refusals.ts';

const start: CallWords = {
  codes: { 405: 'NotFound' },
  advice: {
    NotFound:
      'takes no start by domain at this address; check the base URL. This API may be project-scoped: then set spec.api.projectId (or --project-id)',
  },
};

/**
 * Never throws itself. An unusable key or base URL rejects every call (`Unauthorized` or `BadRequest`, without a
 * status) before anything is sent. All calls reject with {@link ExportApiError} only.
 */
export function createExportApiClient(options: ExchangeOptions & ExportApiAddress): ExportApi {
  return options.project === undefined
    ? createDomainClient(options)
    : createProjectClient(options, options.project);
}

function createDomainClient(options: ExchangeOptions): ExportApi {
  const { clock, key } = options;
  const call = createCaller(options);
  return {
    startJob: ({ domain, idempotencyKey }, signal) =>
      call<StartedJob>(
        { method: 'POST', path: jobsPath, body: { domain }, idempotencyKey, maxBytes: longestAnswerBytes },
        'a usable jobId',
        (answer) => {
          const raw = readJson(bodyText(answer.bytes));
          const jobId = readJobId(raw, headerOf(answer, 'location'), key);
          return jobId === undefined
            ? undefined
            : { jobId, retryAfterMs: retryAfterOf(answer, clock.now()), raw };
        },
        signal,
        start,
      ),
    readJob: async (jobId, signal) =>
      call<JobReport>(
        { method: 'GET', path: jobPath(checkedId(jobId, 'job id')), maxBytes: longestAnswerBytes },
        'a job',
        (answer) => {
          const raw = readJson(bodyText(answer.bytes));
          const report = readJobReport(raw, key);
          return report && { ...report, retryAfterMs: retryAfterOf(answer, clock.now()) };
        },
        signal,
      ),
    issueLink: async ({ jobId, idempotencyKey }, signal) =>
      call<IssuedLink>(
        {
          method: 'POST',
          path: bundlePath(checkedId(jobId, 'job id')),
          idempotencyKey,
          maxBytes: longestAnswerBytes,
        },
        'an http(s) bundleUrl',
        (answer) => readIssuedLink(readJson(bodyText(answer.bytes)), serverDateOf(answer)),
        signal,
      ),
  };
}
