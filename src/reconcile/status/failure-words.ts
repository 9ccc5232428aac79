// What failed, in words for whoever is woken by it: who was asked, what came of it, what to do, the code to search
// for, and the id by which the API knows its answer. Pure.
// Refuses: words of an answer. A host, a domain, codes and ids only; never a key, a link or a body.

import type { Failure, JobStatus } from '../../staticexport/status-schema.ts';
import type { Observation } from '../observation.ts';
import type { State } from '../state.ts';

type Asked = Pick<Observation, 'wanted'>;

/** By the code of the failure. Any other code comes with words of its own, or speaks for itself. */
const failureWords: Readonly<Record<string, (api: string, domain: string, why?: string) => string>> = {
  NetworkError: (api, _domain, why) => unreachable(api, why),
  RequestTimeout: (api) => `${api} did not answer in time.`,
  ServerError: (api, _domain, why) =>
    `${api} answered with a server error${why === undefined ? '' : `: ${why}`}.`,
  RateLimited: (api) => `${api} asked for fewer calls.`,
  Forbidden: (api, domain) => `${api} forbids this to the key: may it export ${domain}?`,
  UnexpectedAnswer: (api) =>
    `${api} answered with something else than the export API does; is the base URL right?`,
  BadRequest: (api, domain) => `${api} does not accept the request; is ${domain} a domain that it exports?`,
  NotFound: (api, domain) =>
    `${api} knows nothing at this address; is the base URL right, and ${domain} a domain that it exports?`,
  StartUnconfirmed: (api) => `${api} was asked three times and never said whether an export began.`,
  Conflict: (api) => `${api} says that the job is not complete after all.`,
  DeadOnArrival: (api) => `Every link that ${api} gave was dead when it was tried.`,
  LifetimeTooShort: (api) => `Links of ${api} die before an archive can be read; have it make longer ones.`,
  NotFresher: (api) => `${api} gave a link that lives no longer than the published one.`,
  HostNotAllowed: (_api, _domain, entry) =>
    `The operator no longer allows the export API that made the job. Add ${entry ?? 'it'} to --allowed-api-hosts, or request a new export.`,
  JobFailed: () => 'The last job failed.',
  TimedOut: () => 'The last job did not finish within jobTimeout.',
  JobLost: () => 'The API lost the last job, and the one in its place.',
};

/** A failed call in words: who was called, what came of it, and what to search logs and the API's support for. */
export function describeFailure(failure: Failure, { wanted }: Asked): string {
  const { reason, message: why, requestId } = failure;
  const words = failureWords[reason]?.(apiName(wanted.baseUrl), wanted.domain, why) ?? why;
  const said = words === undefined ? `${reason}.` : `${sentence(words)} (${reason})`;
  return requestId === undefined ? said : `${said} ${describeRequest(requestId)}`;
}

/** By the system's or the library's code. */
const ofCertificates = /CERT|SELF_SIGNED|UNABLE_TO_(GET|VERIFY)|^ERR_TLS/;

/** Of these, whose issuer is not known here. */
const ofAuthorities = /SELF_SIGNED|UNABLE_TO_(GET|VERIFY)/;

function unreachable(api: string, why: string | undefined): string {
  if (why === undefined) return `${api} could not be reached.`;
  if (!ofCertificates.test(why)) return `${api} could not be reached: ${why}.`;
  const ways = ofAuthorities.test(why)
    ? '; name its authority with --extra-ca-file (extraCa of the chart)'
    : '';
  return `${api} shows a certificate that is not accepted: ${why}${ways}.`;
}

/** The same, and when it is tried again: an instant that stays until it failed once more. */
export function describeTry(failure: Failure, asked: Asked): string {
  return `${describeFailure(failure, asked)} ${describeRetry(failure)}`;
}

/** Why the link is not replaced yet; and when that is tried again, unless the API may not be called at all. */
export function describeLinkFailure(failure: Failure, asked: Asked, { access, link }: State): string {
  const isTried = access.kind === 'open' && link.kind !== 'unreadable';
  return isTried ? describeTry(failure, asked) : describeFailure(failure, asked);
}

export function describeRetry({ retryTime }: Failure): string {
  return `Next try at ${retryTime}.`;
}

/** For words that outlast the next try. */
export function withoutRetry(text: string): string {
  return text.replaceAll(/ ?Next try at [^ ]+\./g, '');
}

/** What the API's support finds its own answer by. */
export function describeRequest(requestId: string): string {
  return `Request id of the API: ${requestId}.`;
}

/** Which job, and where it ran. */
export function describeJob({ id, baseUrl }: Pick<JobStatus, 'id' | 'baseUrl'>, { wanted }: Asked): string {
  const host = hostOf(baseUrl ?? wanted.baseUrl);
  return `Job ${shortened(id)}${host === undefined ? '' : ` at ${host}`}.`;
}

function apiName(baseUrl: string | undefined): string {
  const host = hostOf(baseUrl);
  return host === undefined ? 'the API' : `the API at ${host}`;
}

/** Host and port; `undefined` where there is none to read. */
export function hostOf(baseUrl: string | undefined): string | undefined {
  return baseUrl !== undefined && URL.canParse(baseUrl) ? new URL(baseUrl).host : undefined;
}

/** An id may be as long as a page; the whole of it is in status. */
function shortened(id: string): string {
  return id.length > 128 ? `${id.slice(0, 127)}…` : id;
}

/** Our own words elsewhere are clauses; here they stand alone. */
export function sentence(clause: string): string {
  return `${clause.charAt(0).toUpperCase()}${clause.slice(1)}${/[.\u2026?!]$/.test(clause) ? '' : '.'}`;
}
