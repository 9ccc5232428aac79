// Decides about a complete export after its archive was inspected: published, unchanged, held by a promotion gate,
// or rejected. Pinned versions and promoted candidates skip the gates, but their content must match.

import type { JobStatus, Status } from '#operator/staticexport/status-schema.ts';
import { recordedRevision, revisionOfSteps } from '#operator/staticexport/wanted-transform.ts';
import { formatInstant } from '#platform/wire/instant.ts';
import type { LinkTimes, Publication } from '#platform/wire/publication.ts';
import { isOfOtherRules } from '../mirror.ts';
import { type Observation, rejectedNow } from '../observation.ts';
import type { InspectedContent } from '../result.ts';
import type { Subject } from '../state.ts';
import { linkBeside, makingOf, republish, withCopy } from './mirrored.ts';
import { judge } from './promotion.ts';
import { reportLines, rulesLine } from './report-lines.ts';
import { longFailure } from './subject-failure.ts';
import { nameVersion, readyTime } from './version.ts';

/** With the revision of the rules that gave the content. */
interface JudgedSubject extends Subject {
  /** What is remembered of its content, another revision of its rules gave. */
  readonly isOfOtherRules: boolean;
}

interface SubjectSettled {
  readonly status: Status;
  readonly publish: Publication | undefined;
}

/** @param content what the inspection found, or the subject's stored content if nothing was inspected */
export function settleSubject(
  observation: Observation,
  { repairRevision, ...complete }: Subject,
  content: InspectedContent,
  times: LinkTimes | undefined,
): SubjectSettled {
  const { repair } = complete;
  const isMade = repair !== undefined && content.repaired !== undefined;
  const subject: JudgedSubject = {
    ...{ ...complete, isOfOtherRules: isOfOtherRules({ repair, repairRevision }, observation) },
    // What is read from the mirror was made when it was copied.
    repairRevision: isMade ? revisionOfSteps(repair, observation.stepRevisions) : repairRevision,
  };
  switch (subject.cause) {
    case 'job':
      return settleJob(observation, subject, content, times);
    case 'pin':
      return settlePin(observation, subject, content, times);
    case 'release':
      return settleRelease(observation, subject, content, times);
    default:
      return subject.cause satisfies never;
  }
}

function settleJob(
  observation: Observation,
  subject: Subject,
  content: InspectedContent,
  times: LinkTimes | undefined,
): SubjectSettled {
  const { status, wanted, now, inputHash, promote } = observation;
  const { job, active } = status;
  if (job === undefined) return { status, publish: undefined };
  // The same content keeps its version. Held again, because a person may be about to promote that version.
  const named = [status.candidate, observation.baseline?.last].find(
    (one) => content.digest !== undefined && one?.digest === content.digest,
  );
  const version = named?.version ?? nameVersion(readyTime(job) ?? now, content.digest, job.id);
  const rejected = rejectedNow(observation)?.versions;
  const known = active ?? observation.baseline?.content;
  const verdict = judge(content, known, wanted.promotion, promote === version, rejected);
  const calm = { ...status, failures: { ...status.failures, export: undefined, poll: undefined } };
  const { notes, repaired, ...kept } = content;
  const { repair, repairRevision } = subject;
  const changed = content.digest === known?.digest ? undefined : rulesLine(active, subject);
  const report = reportLines(notes, repaired, changed);
  const reported = { ...job, repair, repairRevision, report };
  switch (verdict.kind) {
    case 'promote':
    case 'unchanged': {
      const ended = verdict.kind === 'promote' ? 'Promoted' : 'Unchanged';
      const judged: Status = { ...calm, job: { ...reported, verdict: ended, message: undefined } };
      // The content of a baseline is published elsewhere, and here for the first time.
      return verdict.kind === 'unchanged' && active !== undefined
        ? confirmActive(observation, judged, { ...subject, ref: content.ref }, times)
        : {
            status: { ...published(judged), candidate: undefined },
            publish: publication(observation, subject, version, content, times),
          };
    }
    case 'reject':
      return {
        status: { ...calm, job: { ...reported, verdict: 'Rejected', message: verdict.version } },
        publish: undefined,
      };
    case 'hold':
      return {
        status: {
          ...calm,
          job: { ...reported, verdict: 'Held', message: verdict.reason },
          candidate: {
            version,
            ...kept,
            jobId: subject.jobId,
            ...makingOf(subject),
            inputHash,
            exportTime: job.completionTime,
            reason: verdict.reason,
          },
        },
        publish: undefined,
      };
    default:
      return verdict satisfies never;
  }
}

/** The content is unchanged, so only the time of the check is new, unless the published job is gone. */
function confirmActive(
  observation: Observation,
  status: Status,
  { ref, repair, repairRevision }: Pick<Subject, 'ref' | 'repair' | 'repairRevision'>,
  times: LinkTimes | undefined,
): SubjectSettled {
  const { now, inputHash } = observation;
  const { job, failures } = status;
  const hasNewCopy = ref !== undefined && ref !== status.active?.ref;
  const active =
    ref === undefined || status.active === undefined ? status.active : withCopy(status.active, ref, now);
  if (active === undefined || job === undefined) return { status, publish: undefined };
  const checked: Status = {
    ...status,
    active: { ...active, inputHash, lastCheckTime: formatInstant(now) },
    candidate: undefined,
  };
  // If the published job is gone, has another base path, was made by other steps, or belongs to an export API that the spec
  // no longer names, the new job replaces it.
  const { basePath = active.basePath } = job;
  const isElsewhere =
    active.baseUrl !== undefined &&
    job.baseUrl !== undefined &&
    (active.baseUrl !== job.baseUrl || active.projectId !== job.projectId);
  const isMadeOtherwise =
    active.repair !== repair || recordedRevision(active) !== recordedRevision({ repair, repairRevision });
  const hasMoved = isElsewhere || active.basePath !== basePath || isMadeOtherwise;
  if (failures?.link?.reason !== 'JobGone' && !hasMoved && !hasNewCopy)
    return { status: checked, publish: undefined };
  const moved = { ...active, basePath, repair, repairRevision };
  const link = linkBeside(moved, times, observation);
  return { status: published(checked), publish: republish(moved, job.id, link) };
}

function publication(
  observation: Observation,
  subject: Subject,
  version: string,
  { digest, pages, sizeBytes, ref }: InspectedContent,
  times: LinkTimes | undefined,
): Publication {
  const link = linkBeside({ ref, repair: subject.repair }, times, observation);
  return { version, digest, pages, sizeBytes, ref, ...makingOf(subject), jobId: subject.jobId, link };
}

/** A new link is being published, so failures of the old link are cleared. */
function published(status: Status): Status {
  return { ...status, failures: { ...status.failures, link: undefined } };
}

function settlePin(
  observation: Observation,
  subject: JudgedSubject,
  content: InspectedContent,
  times: LinkTimes | undefined,
): SubjectSettled {
  const { status, now } = observation;
  const { job, active } = status;
  const calm = published({ ...status, failures: { ...status.failures, poll: undefined } });
  const known = knownContent(content, subject);
  const isOther = isOtherContent(subject, content);
  // A pin of the job is for what this operator makes of its archive, once nothing holds what was published of it.
  if (isOther && !(subject.isOfOtherRules && observation.wanted.pin?.version === undefined)) {
    const changed = longFailure(observation, subject.jobId, 'PinnedContentChanged');
    return { status: { ...status, failures: { ...status.failures, poll: changed } }, publish: undefined };
  }
  if (subject.version === undefined && active?.digest !== undefined && active.digest === content.digest) {
    return {
      status: { ...calm, job: verdictOf(job, subject, 'Unchanged') },
      publish: publication(
        observation,
        { ...subject, basePath: subject.basePath ?? active.basePath },
        active.version,
        { ...contentOf(active), ref: known.ref ?? active.ref },
        times,
      ),
    };
  }
  const completedAt = job?.id === subject.jobId ? readyTime(job) : undefined;
  return {
    status: { ...calm, job: verdictOf(job, subject, 'Promoted') },
    publish: publication(
      observation,
      subject,
      (isOther ? undefined : subject.version) ??
        nameVersion((isOther ? undefined : completedAt) ?? now, content.digest, subject.jobId),
      known,
      times,
    ),
  };
}

/** What is remembered of the subject's content is not what was found. */
function isOtherContent({ digest }: Subject, content: InspectedContent): boolean {
  return digest !== undefined && content.digest !== undefined && digest !== content.digest;
}

function contentOf({ digest, pages, sizeBytes, ref }: Partial<InspectedContent>): InspectedContent {
  return { digest, pages, sizeBytes, ref };
}

/** What the inspection found, and what is remembered of the version otherwise. */
function knownContent(content: InspectedContent, subject: Subject): InspectedContent {
  return {
    digest: content.digest ?? subject.digest,
    pages: content.pages ?? subject.pages,
    sizeBytes: content.sizeBytes ?? subject.sizeBytes,
    ref: content.ref ?? subject.ref,
  };
}

function verdictOf(
  job: JobStatus | undefined,
  subject: Subject,
  verdict: 'Promoted' | 'Unchanged',
): JobStatus | undefined {
  const { jobId, repair, repairRevision } = subject;
  return job?.id === jobId ? { ...job, repair, repairRevision, verdict, message: undefined } : job;
}

function settleRelease(
  observation: Observation,
  subject: JudgedSubject,
  content: InspectedContent,
  times: LinkTimes | undefined,
): SubjectSettled {
  const { status, now } = observation;
  const { jobId } = subject;
  // A person promoted what was held, and this is not it.
  if (isOtherContent(subject, content)) return holdAgain(observation, subject, content);
  const version = subject.version ?? nameVersion(now, subject.digest, jobId);
  const publish = publication(observation, subject, version, knownContent(content, subject), times);
  const { job } = status;
  // The candidate stays until the Secret names its version, because its stored content is needed until then.
  return {
    status: published({
      ...status,
      job: job?.id === jobId ? { ...job, verdict: 'Promoted', message: undefined } : job,
      failures: { ...status.failures, export: undefined, poll: undefined },
    }),
    publish,
  };
}

/** The candidate is what this operator makes of its archive, under another version. */
function holdAgain(
  { status, now }: Observation,
  subject: JudgedSubject,
  content: InspectedContent,
): SubjectSettled {
  const { candidate } = status;
  if (candidate === undefined) return { status, publish: undefined };
  const version = nameVersion(now, content.digest, subject.jobId);
  const held = { ...candidate, ...contentOf(knownContent(content, subject)), ...makingOf(subject), version };
  return {
    status: { ...status, candidate: held, failures: { ...status.failures, poll: undefined } },
    publish: undefined,
  };
}
