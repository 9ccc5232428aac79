// What failed, for the engineer on call: which export API, what it answered, what to do, the code to search for, and
// the request id. Pure. Of an answer it has the excerpt that the client made, marked as the export API's words. Refuses all
// other foreign text: a host, a domain, codes and ids only; never a key, link or body.

import type { Failure, JobStatus } from '#operator/staticexport/status-schema.ts';
import { describeConnectionFault } from '#platform/http/connection-fault.ts';
import type { Observation } from '../observation.ts';
import type { ExportInputs } from '../spread.ts';
import { issuerOf, type State } from '../state.ts';

/** Whom a failed call asked. */
export interface FailedCallTarget {
  readonly wanted: ExportInputs;
}

/** Of a message about a failure that is retried. */
interface RetryTold extends FailedCallTarget, Pick<Observation, 'saysNext'> {}

const baseUrlFields = 'the base URL (spec.api.baseUrl or --api-base-url)';

/** By the code of the failure. Other codes have a message of their own, or none. */
const failureWords: Readonly<Record<string, (api: string, domain: string, why?: string) => string>> = {
  NetworkError: (api, _domain, why) => unreachable(api, why),
  ExportApiNotTrusted: (api, _domain, why) => unreachable(api, why),
  RequestTimeout: (api) => `${api} did not answer in time.`,
  ServerError: (api, _domain, why) => `${api} returned a server error${why === undefined ? '' : `: ${why}`}.`,
  RateLimited: (api) => `${api} returned 429; wait, or raise the limit at the vendor.`,
  Forbidden: (api) =>
    `${api} returned 403 for this key; check the key's permissions, your plan, spec.domain and the vendor's IP allow-list.`,
  UnexpectedAnswer: (api, _domain, why) =>
    `${api} did not answer as an export API${why === undefined ? '' : ` (${why})`}; check ${baseUrlFields}.`,
  BadRequest: (api, domain) => `${api} returned 400 or 422; check that it exports ${domain}.`,
  NotFound: (api, domain) =>
    `${api} returned 404 or 405; check ${baseUrlFields}, and that it exports ${domain}. This API may be project-scoped: then set spec.api.projectId (or --project-id).`,
  StartUnconfirmed: (api) => `${api} did not confirm a start in three attempts.`,
  Conflict: (api) => `${api} reports that the job is not complete.`,
  ExpiredOnArrival: (api, _domain, why) =>
    `Every link that ${api} issued had expired on first use${why === undefined ? '' : `. ${why}`}.`,
  LifetimeTooShort: (api) =>
    `Links of ${api} expire before an archive can be read; configure longer links there.`,
  NotFresher: (api) => `${api} issued a link that is not valid longer than the published one.`,
  HostNotAllowed: (_api, _domain, entry) =>
    `--allowed-api-hosts no longer allows the export API of this job. Add ${entry ?? 'it'} there, or request a new export.`,
  JobFailed: () => 'The last job failed.',
  TimedOut: () => 'The last job did not finish within spec.jobTimeout.',
  JobLost: () => 'The export API no longer has the last job or its replacement.',
};

/** The same where the export API is asked by project: it names other causes. */
const projectWords: Readonly<Record<string, (api: string, project: string) => string>> = {
  Forbidden: (api, project) =>
    `${api} returned 403; check whether static export is on for project ${project}, the key's permission to write, and the vendor's IP allow-list.`,
  BadRequest: (api, project) =>
    `${api} returned 400 or 422 for project ${project}; check the base path (spec.api.basePath or --base-path).`,
  NotFound: (api, project) =>
    `${api} returned 404 for project ${project}; check the project id (spec.api.projectId or --project-id), ${baseUrlFields}, and that the key is of the same organization.`,
  RateLimited: (api) =>
    `${api} returned 429; wait. The vendor allows ten starts in an hour for each organization.`,
  AnotherExportRuns: (api, project) => `${api} returned 409, because another job of project ${project} runs.`,
};

/** A failed call: which export API, what it answered, the code to search logs for, and the request id. */
export function describeFailure(failure: Failure, asked: FailedCallTarget): string {
  const { reason, said, requestId } = failure;
  const words = wordsOf(failure, asked);
  return [
    words === undefined ? `${reason}.` : withCode(sentence(words), reason),
    ...(said === undefined ? [] : [describeWords(said)]),
    ...(requestId === undefined ? [] : [describeRequest(requestId)]),
  ].join(' ');
}

/** The export API's own words. Quoted, so that they are not read as the operator's. */
export function describeWords(said: string): string {
  return `The export API answered: "${said.replaceAll('"', "'")}".`;
}

/** The same as a clause without the code, for a reader that gets the code apart. `undefined`: the code says all. */
export function failureMessage(failure: FailureCode, asked: FailedCallTarget): string | undefined {
  return wordsOf(failure, asked)?.replace(/\.$/, '');
}

type FailureCode = Pick<Failure, 'reason' | 'message'>;

function wordsOf({ reason, message: why }: FailureCode, { wanted }: FailedCallTarget): string | undefined {
  const api = apiName(wanted.baseUrl);
  const ofProject = wanted.project && projectWords[reason]?.(api, wanted.project.id);
  return ofProject ?? failureWords[reason]?.(api, wanted.domain ?? 'the site', why) ?? why;
}

/** Puts the code before the full stop, so that the next sentence begins after one. */
function withCode(text: string, code: string): string {
  return text.endsWith('.') ? `${text.slice(0, -1)} (${code}).` : `${text} (${code})`;
}

function unreachable(api: string, why: string | undefined): string {
  if (why === undefined) return `${api} could not be reached.`;
  const { what, remedy } = describeConnectionFault(why);
  return `${api} ${what}. ${remedy}.`;
}

/** The same, with the time of the retry. The time stays until the call fails again. */
export function describeTry(failure: Failure, asked: RetryTold): string {
  return joined(describeFailure(failure, asked), describeRetry(failure, asked));
}

/**
 * Why the link is not refreshed yet, and when that is retried, unless the export API must not be called. It is the export
 * API that made the published job, whatever the spec names now.
 */
export function describeLinkFailure(
  failure: Failure,
  { wanted, status, saysNext }: Observation,
  { access, link }: State,
): string {
  const isTried = access.kind === 'open' && link.kind !== 'unreadable';
  const { baseUrl, projectId } = issuerOf(status.active, wanted);
  const project = projectId === undefined ? undefined : { id: projectId, basePath: undefined };
  const asked: RetryTold = {
    wanted: { domain: wanted.domain, baseUrl, project },
    ...(saysNext === false && { saysNext }),
  };
  return isTried ? describeTry(failure, asked) : describeFailure(failure, asked);
}

export function describeRetry(
  { retryTime }: Failure,
  about: Pick<Observation, 'saysNext'>,
): string | undefined {
  return nextSentence(`Retrying at ${retryTime}.`, about);
}

/** What the reconciling program does next: the one place that decides whether a message says it. */
export function nextSentence(
  text: string,
  { saysNext = true }: Pick<Observation, 'saysNext'>,
): string | undefined {
  return saysNext ? text : undefined;
}

/** Sentences as one text; those that are not said are left out. */
export function joined(...sentences: readonly (string | undefined)[]): string {
  return sentences.filter((one) => one !== undefined && one !== '').join(' ');
}

/** The id by which the export API's support finds its answer. */
export function describeRequest(requestId: string): string {
  return `Request id: ${requestId}.`;
}

/** The job, and its export API. */
export function describeJob(
  { id, baseUrl }: Pick<JobStatus, 'id' | 'baseUrl'>,
  { wanted }: FailedCallTarget,
): string {
  const host = hostOf(baseUrl ?? wanted.baseUrl);
  return `Job ${shortened(id)}${host === undefined ? '' : ` at ${host}`}.`;
}

function apiName(baseUrl: string | undefined): string {
  const host = hostOf(baseUrl);
  return host === undefined ? 'the export API' : `the export API at ${host}`;
}

/** Host and port; `undefined` where there is none to read. */
export function hostOf(baseUrl: string | undefined): string | undefined {
  return baseUrl !== undefined && URL.canParse(baseUrl) ? new URL(baseUrl).host : undefined;
}

/** An id may be as long as a page. status.job.id has all of it. */
function shortened(id: string): string {
  return id.length > 128 ? `${id.slice(0, 127)}…` : id;
}

/** Makes a sentence of a clause. */
export function sentence(clause: string): string {
  return `${clause.charAt(0).toUpperCase()}${clause.slice(1)}${/[.\u2026?!]$/.test(clause) ? '' : '.'}`;
}
