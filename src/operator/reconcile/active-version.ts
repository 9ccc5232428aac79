// The active version of the status, as the output Secret and what the status knows of its job or version make it. Pure.
// Invariant: what the Secret names is never replaced by what the status remembers.

import type { ActiveVersion, JobStatus, Status } from '#operator/staticexport/status-schema.ts';
import { formatInstant } from '#platform/wire/instant.ts';
import type { Publication } from '#platform/wire/publication.ts';

/**
 * The Secret determines what is published. Fields that it lacks come from the job or version that it names.
 *
 * @param published as the output Secret has it
 * @param now epoch ms
 */
export function activeVersion(
  { active, job, candidate, history }: Status,
  published: Publication,
  now: number,
): ActiveVersion {
  const known =
    active?.version === published.version
      ? active
      : (history?.find(({ version }) => version === published.version) ??
        (candidate?.version === published.version ? candidate : undefined));
  const trackedJob = job?.id === published.jobId ? job : undefined;
  return {
    version: published.version,
    digest: published.digest,
    jobId: published.jobId,
    pages: published.pages,
    sizeBytes: published.sizeBytes,
    inputHash: known?.inputHash ?? trackedJob?.inputHash,
    ...madeBy(known, trackedJob, published),
    ...(published.repair !== undefined && { repair: published.repair }),
    ...(published.repairRevision !== undefined && { repairRevision: published.repairRevision }),
    exportTime: known?.exportTime ?? trackedJob?.completionTime,
    publishTime:
      (known !== undefined && 'publishTime' in known ? known.publishTime : undefined) ??
      formatInstant(published.link?.issuedAt ?? now),
    ref: published.ref,
    ...(published.ref !== undefined && copyTimes(active, published, now)),
    lastCheckTime: active?.version === published.version ? active.lastCheckTime : undefined,
    linkIssueTime: published.link && formatInstant(published.link.issuedAt),
    linkExpirationTime: published.link && formatInstant(published.link.expiresAt),
  };
}

function madeBy(
  known: Partial<ActiveVersion> | undefined,
  job: JobStatus | undefined,
  { basePath = known?.basePath ?? job?.basePath }: Publication,
): Partial<ActiveVersion> {
  const { baseUrl, projectId } = (job?.baseUrl === undefined ? known : job) ?? {};
  return { baseUrl, projectId, ...(basePath !== undefined && { basePath }) };
}

/** A copy is published only after it was found or read back. */
function copyTimes(
  active: ActiveVersion | undefined,
  { version, ref }: Publication,
  now: number,
): Pick<ActiveVersion, 'mirrorCheckTime' | 'copyLossTime'> {
  if (active?.version !== version || active.ref !== ref)
    return { mirrorCheckTime: formatInstant(now), copyLossTime: undefined };
  const { mirrorCheckTime = formatInstant(now), copyLossTime } = active;
  return { mirrorCheckTime, copyLossTime };
}
