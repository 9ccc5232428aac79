// The names and numbers that belong to a reason: which Secret, which host, which page counts, and what to type.
// Facts that do not tick, and nothing secret: a host, a name, a code, never a key, a link or an answer's body.

import { annotations } from '../staticexport/names.ts';
import type { Failure } from '../staticexport/status-schema.ts';
import type { Observation } from './observation.ts';

/** What failed, in words, by the code of the failure. Any other code speaks for itself. */
const failureWords: Readonly<Record<string, (api: string) => string>> = {
  NetworkError: (api) => `${api} could not be reached.`,
  RequestTimeout: (api) => `${api} did not answer in time.`,
  ServerError: (api) => `${api} answered with a server error.`,
  RateLimited: (api) => `${api} asked for fewer calls.`,
  UnexpectedAnswer: (api) =>
    `${api} answered with something else than the export API does; is the base URL right?`,
  BadRequest: (api) => `${api} does not accept the request; is the domain one that it exports?`,
  NotFound: (api) => `${api} has no such endpoint; is the base URL right?`,
};

/** A failed call in words: who was called, what came of it, and the code to search logs for. */
export function describeFailure(failure: Failure, { wanted }: Pick<Observation, 'wanted'>): string {
  const words = failureWords[failure.reason]?.(apiName(wanted.baseUrl));
  return words === undefined ? `${failure.reason}.` : `${words} (${failure.reason})`;
}

function apiName(baseUrl: string | undefined): string {
  return baseUrl !== undefined && URL.canParse(baseUrl) ? `The API at ${new URL(baseUrl).host}` : 'The API';
}

/** @returns a sentence, or `undefined` where the reason's own says all */
export function factsOf(reason: string, observation: Observation): string | undefined {
  const { wanted } = observation;
  const secret = `Secret ${wanted.keySecret.name}, key ${wanted.keySecret.key}.`;
  switch (reason) {
    case 'KeyMissing':
      return `${secret} It is looked for again within a minute.`;
    case 'KeyUnreadable':
    case 'KeyEmpty':
    case 'KeyInvalid':
    case 'KeyRefused':
    case 'KeyForbidden':
      return secret;
    case 'HostNotAllowed':
      return wanted.baseUrl !== undefined && URL.canParse(wanted.baseUrl)
        ? `Host ${new URL(wanted.baseUrl).hostname}.`
        : undefined;
    case 'InvalidSchedule':
      return `schedule "${wanted.schedule ?? ''}", timeZone "${wanted.timeZone}".`;
    case 'OutputNotOwned':
      return outputFacts(observation);
    case 'PinnedVersionUnknown':
      return pinFacts(observation);
    case 'AwaitingPromotion':
    case 'TooFewPages':
    case 'PageCountDropped':
      return candidateFacts(reason, observation);
    default:
      return undefined;
  }
}

function outputFacts({ output, wanted }: Observation): string {
  const kind = output.kind === 'foreign' ? output.objectKind : 'ConfigMap';
  return `${kind} ${wanted.outputName}: delete it, or make the resource again with another output.name.`;
}

function pinFacts({ wanted, status }: Observation): string {
  const known = (status.history ?? []).map(({ version }) => version);
  return `Pinned: ${wanted.pin?.version ?? ''}. Known: ${known.length === 0 ? 'none' : known.join(', ')}.`;
}

function candidateFacts(
  reason: 'AwaitingPromotion' | 'TooFewPages' | 'PageCountDropped',
  { status, wanted, promote }: Observation,
): string {
  const { candidate, active } = status;
  if (candidate === undefined) return '';
  const pages = candidate.pages ?? 0;
  const counts = {
    AwaitingPromotion: '',
    TooFewPages: ` has ${pages} of at least ${wanted.promotion.minPages} pages`,
    PageCountDropped: ` has ${pages} pages after ${active?.pages ?? 0}, more than ${wanted.promotion.maxShrinkPercent} % fewer`,
  };
  const other =
    promote !== undefined && promote !== candidate.version
      ? ` The annotation names ${promote}, which is not the candidate.`
      : '';
  return `Candidate ${candidate.version}${counts[reason]}. To publish it: ${annotations.promote}=${candidate.version}${other === '' ? '' : `.${other}`}`;
}
