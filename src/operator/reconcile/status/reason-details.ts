// The details of a reason: which Secret, which host, which page counts, and which annotation to set.
// Refuses: details that change with time alone, and secrets. An origin, a name or a code; never a key, link or body.

import { annotations, outputKeys } from '#operator/staticexport/names.ts';
import type { HoldReason } from '#operator/staticexport/reasons.ts';
import { recordedRevision } from '#operator/staticexport/wanted-transform.ts';
import { readHttpOrigin, shortOriginEntry } from '#platform/wire/http-origin.ts';
import { formatInstant, readInstant } from '#platform/wire/instant.ts';
import { refreshTime } from '../link-timing.ts';
import { isOfOtherRules } from '../mirror.ts';
import { type Observation, publishedTimes, unreadOutput } from '../observation.ts';
import { scheduleProblem } from '../schedule.ts';
import {
  describeJob,
  describeRequest,
  describeWords,
  hostOf,
  joined,
  nextSentence,
  sentence,
} from './failure-words.ts';

/** @returns sentences, or `undefined` where the reason's own sentence is enough */
export function describeDetails(reason: string, observation: Observation): string | undefined {
  const { wanted, namesKeySecret = true } = observation;
  const { keySecret } = wanted;
  const secret = namesKeySecret ? `Secret ${keySecret.name}, key ${keySecret.key}.` : undefined;
  const rechecked = nextSentence('Rechecked every minute.', observation);
  switch (reason) {
    case 'KeyMissing':
      return joined(missingKey(observation), rechecked);
    case 'KeyUnreadable':
      return joined(unreadKey(observation), secret, rechecked);
    case 'KeyEmpty':
    case 'KeyInvalid':
      return joined(secret, rechecked);
    case 'KeyRefused':
      return joined(
        wanted.project && 'Or your plan has no access to the export API, or the project may not be exported.',
        describeRefusedKey(observation, secret, attemptOf(observation)),
      );
    case 'KeyForbidden':
      return describeRefusedKey(observation, secret, 'Retrying every 15m.');
    case 'HostNotAllowed':
      return describeAllowedHosts(observation);
    case 'InvalidSchedule':
      return describeSchedule(observation);
    case 'OutputNotOwned':
      return describeForeignOutput(observation);
    case 'OutputUnreadable':
      return joined(describeUnreadOutput(observation), rechecked);
    case 'PinnedVersionUnknown':
      return describePin(observation);
    case 'PinnedContentChanged':
      return describeChangedPin(observation);
    case 'PinnedJobGone':
      return `Pinned: ${wanted.pin?.version ?? `job ${wanted.pin?.jobId ?? ''}`}.`;
    case 'LinkExpired':
    case 'Expired':
      return describeExpiredLink(observation);
    case 'Fresh':
      return describeFreshLink(observation);
    case 'Due':
      return describeDueLink(observation);
    case 'JobGone':
      return describeGoneJob(observation);
    case 'Exporting':
    case 'Inspecting':
    case 'JobFailed':
    case 'PinnedJobFailed':
    case 'TimedOut':
    case 'JobLost':
    case 'BundleRejected':
      return describeJobOutcome(reason, observation);
    case 'AwaitingPromotion':
    case 'TooFewPages':
    case 'HomePageMissing':
    case 'PageCountDropped':
      return describeCandidate(reason, observation);
    case 'Rejected':
      return describeRejected(observation);
    default:
      return undefined;
  }
}

function attemptOf({ wanted }: Observation): string {
  const attempt = 'A new requestedAt token causes one attempt.';
  return wanted.project === undefined ? attempt : `${attempt} Retrying once a day.`;
}

/** Distinguishes a missing Secret from a Secret without the key. */
function missingKey({ wanted, key }: Observation): string {
  const { keySecret } = wanted;
  const isThere = key.kind === 'missing' && key.isSecretThere === true;
  const what = isThere ? 'the Secret exists, but not this key' : 'the Secret does not exist';
  return `Secret ${keySecret.name}, key ${keySecret.key}: ${what}.`;
}

/** The missing permission, or the error of the read. */
function unreadKey({ key }: Observation): string {
  return key.kind === 'unreadable' ? sentence(key.why) : '';
}

/** Which export API refused the key, and how soon a new key is used. */
function describeRefusedKey(observation: Observation, secret: string | undefined, attempt: string): string {
  const { wanted, status } = observation;
  const { requestId, said } = status.refusedKey ?? {};
  const host = hostOf(wanted.baseUrl);
  return joined(
    secret,
    host && `Export API: ${host}.`,
    said && describeWords(said),
    nextSentence(`A new key is used within a minute. ${attempt}`, observation),
    requestId && describeRequest(requestId),
  );
}

function describeAllowedHosts(observation: Observation): string | undefined {
  const { wanted, allowedHosts = [] } = observation;
  if (wanted.baseUrl === undefined) return undefined;
  const origin = readHttpOrigin(wanted.baseUrl);
  if (origin === undefined) return undefined;
  const shown = allowedHosts.slice(0, 10).join(', ');
  const more = allowedHosts.length > 10 ? `, and ${allowedHosts.length - 10} more` : '';
  const allowed = shown === '' ? 'none' : `${shown}${more}`;
  const chart = nextSentence('The chart sets it with allowedApiHosts.', observation);
  return joined(allowance(origin), `Allowed: ${allowed}.`, chart);
}

/** The entry to add, and its consequence. */
function allowance(origin: string): string {
  const entry = `${shortOriginEntry(origin)} to --allowed-api-hosts`;
  return origin.startsWith('http:')
    ? `Use https in spec.api.baseUrl, or add ${entry}. The key is then sent in clear text.`
    : `Add ${entry}.`;
}

/** Which field is wrong, and how. */
function describeSchedule({ wanted }: Observation): string {
  const { schedule = '', timeZone } = wanted;
  const problem = scheduleProblem(schedule, timeZone);
  return `spec.schedule "${schedule}", spec.timeZone "${timeZone}"${problem === undefined ? '' : `: ${problem}`}.`;
}

/** The job's id, by which the export API's support finds it. */
function describeJobOutcome(reason: string, observation: Observation): string | undefined {
  const { job } = observation.status;
  if (job === undefined) return undefined;
  const named = describeJob(job, observation);
  switch (reason) {
    case 'TimedOut':
      return job.state === undefined ? named : `${named} Its last status was "${job.state}".`;
    case 'JobLost':
      return job.cause === 'JobLost'
        ? joined(
            `${named} This job replaced a lost job and is not replaced at once. Ask the owner of the export API.`,
            nextSentence(`Then set the annotation ${annotations.requestedAt} to a new token.`, observation),
          )
        : `${named} One new job replaces it.`;
    case 'BundleRejected':
      return job.message === undefined ? named : `${job.message}. ${named}`;
    case 'JobFailed':
    case 'PinnedJobFailed':
      return job.message === undefined || job.message === 'JobLost' || job.verdict !== 'JobFailed'
        ? named
        : `${named} ${describeWords(job.message)}`;
    default:
      return named;
  }
}

/** The whole message: a refresh that is not overdue may still be due. */
function describeFreshLink(observation: Observation): string | undefined {
  const { uid, wanted, now } = observation;
  const published = publishedTimes(observation);
  if (published === undefined) return undefined;
  const valid = `Link is valid until ${formatInstant(published.expiresAt)}`;
  const refreshAt = refreshTime(uid, published, wanted);
  return refreshAt > now
    ? `${valid} and is not due for refresh.`
    : `${valid}. Its refresh was due at ${formatInstant(refreshAt)} and has not succeeded yet.`;
}

/** When the refresh was due, and until when the link is valid. */
function describeDueLink(observation: Observation): string | undefined {
  const { uid, wanted } = observation;
  const published = publishedTimes(observation);
  const refreshAt = published && refreshTime(uid, published, wanted);
  const due = refreshAt === undefined ? undefined : `Refresh was due at ${formatInstant(refreshAt)}.`;
  return joined(due, linkEnd(observation));
}

function linkEnd(observation: Observation): string | undefined {
  const published = publishedTimes(observation);
  if (published === undefined) return undefined;
  const isExpired = published.expiresAt <= observation.now;
  return `Link ${isExpired ? 'expired at' : 'is valid until'} ${formatInstant(published.expiresAt)}.`;
}

function describeGoneJob(observation: Observation): string | undefined {
  const { active } = observation.status;
  if (active === undefined) return undefined;
  const job = describeJob({ id: active.jobId, baseUrl: active.baseUrl }, observation);
  return joined(job, describeReplacement(observation), linkEnd(observation));
}

/** Whether a new export replaces the job, and when: as `startCause` decides. */
function describeReplacement({ wanted, status, now }: Observation): string {
  const { candidate, job, failures } = status;
  if (wanted.isSuspended) return 'No export replaces it while spec.suspend is true.';
  if (wanted.pin !== undefined) return 'No export replaces it while spec.pin is set.';
  if (candidate !== undefined) return `Candidate ${candidate.version} replaces it when promoted.`;
  if (job?.cause === 'JobGone' && job.verdict === 'Rejected')
    return 'Its replacement was rejected; request an export.';
  if (job !== undefined && job.verdict === undefined) return `Job ${job.id.slice(0, 128)} replaces it.`;
  const retry = failures?.start?.retryTime ?? failures?.export?.retryTime;
  const isLater = (readInstant(retry) ?? 0) > now;
  return isLater ? `The next export starts at ${retry}.` : 'A new export starts next.';
}

function describeExpiredLink(observation: Observation): string {
  const { output, wanted, status } = observation;
  const published = publishedTimes(observation);
  const version = status.active?.version ?? '';
  if (published !== undefined) {
    return `The link of version ${version} expired at ${formatInstant(published.expiresAt)}.`;
  }
  if (output.kind === 'unreadable')
    return `The output Secret had no link for version ${version} when last readable.`;
  const lost = output.kind === 'ours' ? `no longer holds ${outputKeys.bundle}` : 'was deleted';
  return `Secret ${wanted.outputName} ${lost}. It is written again for version ${version} with the next link.`;
}

/** The missing permission, and until when the link is valid. */
function describeUnreadOutput(observation: Observation): string {
  const { output, now } = observation;
  const why = sentence(unreadOutput(observation) ?? '');
  // Where the ConfigMap alone cannot be read, the link in the Secret is still refreshed.
  if (output.kind !== 'unreadable' || observation.status.active === undefined) return why;
  const isExpired = (publishedTimes(observation)?.expiresAt ?? 0) <= now;
  return joined(why, isExpired ? describeExpiredLink(observation) : linkEnd(observation));
}

function describeForeignOutput({ output, wanted }: Observation): string {
  const kind = output.kind === 'foreign' ? output.objectKind : 'ConfigMap';
  return `${kind} ${wanted.outputName}: delete it, or create this resource again with another spec.output.name.`;
}

/** Without a copy, other rules cannot give the version again; the archive of its job is there all the same. */
function describeChangedPin(observation: Observation): string {
  const { wanted, status } = observation;
  const pinned = `Pinned: ${wanted.pin?.version ?? `job ${wanted.pin?.jobId ?? ''}`}.`;
  const entry = status.history?.find(({ version }) => version === wanted.pin?.version);
  if (entry === undefined || !isOfOtherRules(entry, observation)) return pinned;
  const job = entry.jobId.slice(0, 128);
  return `${pinned} It was made by ${recordedRevision(entry) ?? 'no step'}, and the operator has other rules now. To publish the archive of its job under these, set spec.pin.jobId to ${job} instead of spec.pin.version.`;
}

function describePin({ wanted, status }: Observation): string {
  const known = (status.history ?? []).map(({ version }) => version);
  return `Pinned: ${wanted.pin?.version ?? ''}. In status.history: ${known.length === 0 ? 'none' : known.join(', ')}.`;
}

function describeCandidate(reason: HoldReason, { status, wanted, promote, baseline }: Observation): string {
  const { candidate, active } = status;
  if (candidate === undefined) return '';
  const pages = `${candidate.pages ?? 0} ${candidate.pages === 1 ? 'page' : 'pages'}`;
  const counts = {
    AwaitingPromotion: '',
    TooFewPages: ` has ${pages} (minPages: ${wanted.promotion.minPages})`,
    HomePageMissing: ` has ${pages}, and none is its home page`,
    PageCountDropped: ` has ${pages}, down from ${(active ?? baseline?.content)?.pages ?? 0} (maxShrinkPercent: ${wanted.promotion.maxShrinkPercent})`,
  };
  const other =
    promote !== undefined && promote !== candidate.version
      ? ` The annotation names ${promote}, which is not the candidate.`
      : '';
  return `Candidate ${candidate.version}${counts[reason]}. To publish it, set the annotation ${annotations.promote}=${candidate.version}.${other}`;
}

function describeRejected({ status: { rejected, job } }: Observation): string | undefined {
  const version = rejected?.versions[0]?.version ?? job?.message;
  return version && `Rejected: ${version}.`;
}
