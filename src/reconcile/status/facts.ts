// The names and numbers that belong to a reason: which Secret, which host, which page counts, and what to type.
// Facts that do not tick, and nothing secret: an origin, a name, a code, never a key, a link or an answer's body.

import { formatInstant } from '../../staticexport/instant.ts';
import { annotations, outputKeys } from '../../staticexport/names.ts';
import { readHttpOrigin, shortOriginEntry } from '../../wire/http-origin.ts';
import { refreshTime } from '../link-timing.ts';
import { knownClock, type Observation, unreadOutput } from '../observation.ts';
import { scheduleProblem } from '../schedule.ts';
import { describeJob, describeRequest, hostOf, sentence } from './failure-words.ts';

/** @returns a sentence, or `undefined` where the reason's own says all */
export function factsOf(reason: string, observation: Observation): string | undefined {
  const { wanted } = observation;
  const secret = `Secret ${wanted.keySecret.name}, key ${wanted.keySecret.key}.`;
  switch (reason) {
    case 'KeyMissing':
      return `${missingKey(observation)} It is looked for again within a minute.`;
    case 'KeyUnreadable':
      return `${unreadKey(observation)}${secret} It is looked at again within a minute.`;
    case 'KeyEmpty':
    case 'KeyInvalid':
      return `${secret} It is looked at again within a minute.`;
    case 'KeyRefused':
    case 'KeyForbidden':
      return refusedKeyFacts(observation, secret);
    case 'HostNotAllowed':
      return hostFacts(observation);
    case 'InvalidSchedule':
      return scheduleFacts(observation);
    case 'OutputNotOwned':
      return outputFacts(observation);
    case 'OutputUnreadable':
      return unreadFacts(observation);
    case 'PinnedVersionUnknown':
      return pinFacts(observation);
    case 'PinnedJobGone':
    case 'PinnedContentChanged':
      return `Pinned: ${wanted.pin?.version ?? `job ${wanted.pin?.jobId ?? ''}`}.`;
    case 'LinkExpired':
    case 'Expired':
      return deadLinkFacts(observation);
    case 'Fresh':
    case 'Due':
      return linkTimes(observation);
    case 'JobGone':
      return lostJobFacts(observation);
    case 'Exporting':
    case 'Inspecting':
    case 'JobFailed':
    case 'PinnedJobFailed':
    case 'TimedOut':
    case 'JobLost':
    case 'BundleRejected':
      return jobFacts(reason, observation);
    case 'AwaitingPromotion':
    case 'TooFewPages':
    case 'PageCountDropped':
      return candidateFacts(reason, observation);
    default:
      return undefined;
  }
}

/** Whether to make the Secret, or to put the key into it. */
function missingKey({ wanted, key }: Observation): string {
  const { keySecret } = wanted;
  const isThere = key.kind === 'missing' && key.isSecretThere === true;
  const what = isThere ? 'the Secret exists and does not hold it' : 'the Secret does not exist';
  return `Secret ${keySecret.name}, key ${keySecret.key}: ${what}.`;
}

/** Which right is missing, or what else keeps the Secret from us. */
function unreadKey({ key }: Observation): string {
  return key.kind === 'unreadable' ? `${sentence(key.why)} ` : '';
}

/** Who refused it, and how soon another one is seen. */
function refusedKeyFacts({ wanted, status }: Observation, secret: string): string {
  const requestId = status.refusedKey?.requestId;
  const host = hostOf(wanted.baseUrl);
  return [
    secret,
    host && `API at ${host}.`,
    'A new key is seen within a minute.',
    requestId && describeRequest(requestId),
  ]
    .filter((part) => part !== undefined && part !== '')
    .join(' ');
}

function hostFacts({ wanted, allowedHosts = [] }: Observation): string | undefined {
  if (wanted.baseUrl === undefined) return undefined;
  const origin = readHttpOrigin(wanted.baseUrl);
  if (origin === undefined) return undefined;
  const shown = allowedHosts.slice(0, 10).join(', ');
  const more = allowedHosts.length > 10 ? `, and ${allowedHosts.length - 10} more` : '';
  const allowed = shown === '' ? 'none' : `${shown}${more}`;
  return `${allowance(origin)} Allowed: ${allowed}.`;
}

/** What to add, and what that would mean. */
function allowance(origin: string): string {
  const entry = `${shortOriginEntry(origin)} to --allowed-api-hosts (allowedApiHosts of the chart)`;
  return origin.startsWith('http:')
    ? `Use https in spec.api.baseUrl, or add ${entry}; the key is then sent in clear text.`
    : `Add ${entry}.`;
}

/** Which of the two, and what of it. */
function scheduleFacts({ wanted }: Observation): string {
  const { schedule = '', timeZone } = wanted;
  const problem = scheduleProblem(schedule, timeZone);
  return `schedule "${schedule}", timeZone "${timeZone}"${problem === undefined ? '' : `: ${problem}`}.`;
}

/** Which job it was: by its id the API's owner finds what went wrong. */
function jobFacts(reason: string, observation: Observation): string | undefined {
  const { job } = observation.status;
  if (job === undefined) return undefined;
  const named = describeJob(job, observation);
  switch (reason) {
    case 'TimedOut':
      return job.state === undefined ? named : `${named} Its last status was "${job.state}".`;
    case 'JobLost':
      return job.cause === 'JobLost'
        ? `${named} It stood in for a lost one already.`
        : `${named} One new job is started in its place.`;
    case 'BundleRejected':
      return job.message === undefined ? named : `${job.message}. ${named}`;
    default:
      return named;
  }
}

/** Since when it waits for its replacement, if it does, and how long it lives. */
function linkTimes(observation: Observation): string | undefined {
  const { uid, wanted, now } = observation;
  const published = knownClock(observation);
  const refreshAt = published && refreshTime(uid, published, wanted);
  const isWaiting = refreshAt !== undefined && refreshAt <= now;
  const since = isWaiting ? `It is due to be replaced since ${formatInstant(refreshAt)}.` : undefined;
  return [since, linkEnd(observation)].filter((part) => part !== undefined).join(' ');
}

/** How long there is to act. */
function linkEnd(observation: Observation): string | undefined {
  const published = knownClock(observation);
  return published && `The published link ends at ${formatInstant(published.expiresAt)}.`;
}

function lostJobFacts(observation: Observation): string | undefined {
  const { active } = observation.status;
  if (active === undefined) return undefined;
  const job = describeJob({ id: active.jobId, baseUrl: active.baseUrl }, observation);
  return [job, linkEnd(observation)].filter((part) => part !== undefined).join(' ');
}

function deadLinkFacts(observation: Observation): string {
  const { output, wanted, status } = observation;
  const published = knownClock(observation);
  const version = status.active?.version ?? '';
  if (published !== undefined) {
    return `The link of version ${version} ended at ${formatInstant(published.expiresAt)}.`;
  }
  if (output.kind === 'unreadable')
    return `No link of version ${version} was there when it could be read last.`;
  const lost = output.kind === 'ours' ? `no longer holds ${outputKeys.bundle}` : 'was deleted';
  return `Secret ${wanted.outputName} ${lost}; it is written again, under the version ${version}, as soon as a link can be had.`;
}

/** Which right is missing, and how much time is left. */
function unreadFacts(observation: Observation): string {
  const { output, now } = observation;
  const why = sentence(unreadOutput(observation) ?? '');
  // The Secret of an output whose ConfigMap alone may not be read is refreshed as ever.
  if (output.kind !== 'unreadable' || observation.status.active === undefined) return why;
  const isDead = (knownClock(observation)?.expiresAt ?? 0) <= now;
  return [why, isDead ? deadLinkFacts(observation) : linkEnd(observation)].join(' ');
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
  return `Candidate ${candidate.version}${counts[reason]}. To publish it, annotate: ${annotations.promote}=${candidate.version}${other === '' ? '' : `.${other}`}`;
}
