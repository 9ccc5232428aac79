// `--wait`: polls a StaticExport until its status is about what was requested, and final. Refuses: an end that an earlier
// export or link left. Invariant: it ends with `--timeout` at the latest, whatever the Kubernetes API server answers
// meanwhile.

import { parseStaticExport } from '#operator/staticexport/parse.ts';
import { blockingReasons, type ExportedReason, readHoldReason } from '#operator/staticexport/reasons.ts';
import type { Condition, Failure, Status } from '#operator/staticexport/status-schema.ts';
import type { StaticExportObject } from '#platform/wire/cluster.ts';
import { CliError, failureOf } from '../cli-error.ts';
import type { CliContext } from '../context.ts';
import { keyReasons, needsPerson, outcomeOf, type RunOutcome, runOutcome } from '../run-outcome.ts';
import type { ClusterClient } from './client.ts';
import { nextSteps } from './next-steps.ts';
import { exportSummaryOf } from './summary.ts';

const pollMs = 2_000;

export interface Wait {
  readonly name: string;
  readonly timeoutMs: number;
}

/** What is waited for. */
export interface Awaited {
  readonly phase: string;
  /** For the message of the deadline. @param status the last one; `undefined` where none was read */
  goesOn(status: Status | undefined): string;
  /** @returns `undefined` while the operator works on it */
  endOf(object: StaticExportObject): RunOutcome | undefined;
  /** @returns the condition that says why the operator retries */
  obstacleOf(status: Status): Condition | undefined;
  /** @returns the failure of what is awaited */
  failureOf(status: Status): Failure | undefined;
}

/** @param token of the request */
export const awaitedExport = (token: string): Awaited => ({
  phase: 'Waiting for the export',
  goesOn: (status) =>
    status === undefined || status.lastHandledRequest === token
      ? 'the export goes on'
      : 'no export has started for this request, and the operator keeps it',
  endOf: (object) => endOfExport(object, token),
  obstacleOf: (status) => {
    const { failures, conditions, lastHandledRequest } = status;
    const isHeldUp = [failures?.export, failures?.start].some((one) => one?.request === token);
    if (isHeldUp) return find(conditions, 'Exported');
    if (failureOfExport(status, token) !== undefined) return retriedExport(conditions);
    if (lastHandledRequest === token) return undefined;
    // What holds up every start holds up this one.
    const hasFailed = [failures?.export, failures?.start, failures?.poll].some((one) => one !== undefined);
    return blockedBy(conditions) ?? (hasFailed ? retriedExport(conditions) : undefined);
  },
  failureOf: (status) => failureOfExport(status, token),
});

/** Another job than that of the request may fail: the status holds the last failure alone. */
const failureOfExport = (
  { lastHandledRequest, job, failures }: Status,
  token: string,
): Failure | undefined =>
  lastHandledRequest === token && failures?.poll?.subject === job?.id ? failures?.poll : undefined;

/** @param token of the request */
export const awaitedLink = (token: string): Awaited => ({
  phase: 'Waiting for the link',
  goesOn: () => 'the operator goes on',
  endOf: (object) => endOfRefresh(object, token),
  obstacleOf: ({ failures, conditions }) =>
    failures?.link?.refreshRequest === token ? find(conditions, 'LinkFresh') : blockedBy(conditions),
  failureOf: ({ failures }) => (failures?.link?.refreshRequest === token ? failures.link : undefined),
});

/**
 * @param version of a pin, or of the candidate that is promoted
 * @param earlier the failure in the status before the request, which says nothing about it
 */
export const awaitedVersion = (version: string, by: 'pin' | 'promote', earlier?: Failure): Awaited => {
  const failureOf = ({ candidate, history, failures }: Status): Failure | undefined => {
    const versions = by === 'pin' ? history : candidate && [candidate];
    const jobId = versions?.find((one) => one.version === version)?.jobId;
    const failure = failures?.poll;
    const isEarlier =
      failure?.count === earlier?.count && failure?.lastFailureTime === earlier?.lastFailureTime;
    return jobId === undefined || failure?.subject !== jobId || isEarlier ? undefined : failure;
  };
  return {
    phase: `Waiting for version ${version}`,
    goesOn: () => 'the operator goes on',
    endOf: (object) => endOfVersion(object, version, by),
    obstacleOf: (status) => {
      if (failureOf(status) === undefined) return undefined;
      const obstacle = find(status.conditions, by === 'pin' ? 'Ready' : 'Exported');
      const isAbout = by === 'pin' || retriedReasons.has(obstacle?.reason ?? '');
      return obstacle?.status === 'False' && isAbout ? obstacle : undefined;
    },
    failureOf,
  };
};

/**
 * @returns the object whose status says that the request is complete, and its message
 * @throws {CliError} the outcome, `DeadlineExceeded`, the signal's reason; what `read` throws for good
 */
export async function waitFor(
  awaited: Awaited,
  { name, timeoutMs }: Wait,
  client: Pick<ClusterClient, 'read'>,
  { clock, signal, progress }: Pick<CliContext, 'clock' | 'signal' | 'progress'>,
): Promise<{ readonly object: StaticExportObject; readonly message: string }> {
  const { phase, goesOn } = awaited;
  const deadline = clock.deadline(timeoutMs, signal);
  let noted: string | undefined;
  let last: Status | undefined;
  progress.phase(phase);
  for (;;) {
    const object = await readAgain(name, client);
    if (object !== undefined) {
      const { status } = parseStaticExport(object);
      last = status;
      showJob(status, progress);
      const obstacle = awaited.obstacleOf(status);
      const ended = awaited.endOf(object) ?? endByPerson(awaited.failureOf(status), obstacle);
      if (ended?.outcome === 'done') return { object, message: ended.message };
      if (ended !== undefined) {
        const next = nextSteps(exportSummaryOf(object));
        throw new CliError(ended.outcome, ended.code, ended.message, { next });
      }
      const seen =
        obstacle && `${obstacle.type}=${obstacle.status} (${obstacle.reason}): ${obstacle.message}`;
      if (seen !== undefined && seen !== noted) progress.note(seen, 'warning');
      noted = seen;
    }
    await clock.after(pollMs, deadline).catch((cause: unknown) => {
      signal.throwIfAborted();
      const seen = noted === undefined ? '' : `. The last condition seen: ${noted}`;
      const message = `--timeout has passed (${Math.round(timeoutMs / 1000)} s); ${goesOn(last)}${seen}`;
      throw new CliError('deadline', 'DeadlineExceeded', message, { cause });
    });
  }
}

/** A completed job is not the end: its archive is inspected then. */
function showJob({ job }: Status, progress: Pick<CliContext['progress'], 'advance'>): void {
  if (job?.state === undefined) return;
  const isInspected = job.completionTime !== undefined && job.verdict === undefined;
  if (isInspected) progress.advance(undefined, 'the exported archive is inspected');
  else progress.advance(job.progress, job.state);
}

/** The operator retries, and each attempt fails the same way until a person changes something. */
function endByPerson(failure: Failure | undefined, obstacle: Condition | undefined): RunOutcome | undefined {
  if (failure === undefined || obstacle === undefined || !needsPerson(failure.reason)) return undefined;
  const said = `${obstacle.type}=${obstacle.status}: ${obstacle.message}`;
  const message = `${said} The operator retries, but needs a change first.`;
  return { outcome: 'temporary', code: failure.reason, message };
}

/** Before a job is started for the request, the status is about an earlier export. */
function endOfExport(object: StaticExportObject, token: string): RunOutcome | undefined {
  const { spec, status } = parseStaticExport(object);
  const ended = runOutcome(status, object.metadata.generation ?? 0);
  if (status.lastCompletedRequest === token) return ended;
  if (status.lastHandledRequest === token) {
    // The version before is still ready, and the operator replaces a lost job once.
    return ended?.outcome === 'done' || ended?.code === 'JobLost' ? undefined : ended;
  }
  if (status.refusedKey?.request === token) return keyRefused;
  return heldBack(spec, 'The export');
}

const keyRefused: RunOutcome = {
  outcome: 'key',
  code: 'KeyRefused',
  message: 'the export API refused the key, so no export starts; check the key Secret',
};

/** @returns `undefined` where neither `spec.suspend` nor `spec.pin` delays what is requested */
export function heldBack(
  spec: { readonly suspend?: boolean | undefined; readonly pin?: unknown } | undefined,
  what: string,
): RunOutcome | undefined {
  const [isSuspended, isPinned] = [spec?.suspend === true, spec?.pin !== undefined];
  if (!isSuspended && !isPinned) return undefined;
  const why = [isSuspended ? 'suspended' : '', isPinned ? 'pinned' : ''].filter(Boolean).join(' and ');
  const until = [isSuspended ? 'resume' : '', isPinned ? 'unpin' : ''].filter(Boolean).join(' and ');
  const message = `The StaticExport is ${why}. ${what} stays requested, and starts after ${until}.`;
  return { outcome: 'held', code: 'RequestPending', message };
}

/** Only of the condition that is about this version: the export before may have failed. */
function endOfVersion(
  object: StaticExportObject,
  version: string,
  by: 'pin' | 'promote',
): RunOutcome | undefined {
  const { spec, status } = parseStaticExport(object);
  const { active, candidate, rejected, conditions = [], observedGeneration } = status;
  if (observedGeneration !== (object.metadata.generation ?? 0)) return undefined;
  if (active?.version === version)
    return { outcome: 'done', code: 'Published', message: publishedWords(undefined, version) };
  const obstacle = conditions.find(
    ({ type, status: is, reason }) =>
      (type === 'Stalled' && is === 'True' && !(by === 'promote' && readHoldReason(reason) !== undefined)) ||
      (type === 'Ready' && is === 'False' && keyReasons.has(reason)) ||
      (by === 'promote' && type === 'Exported' && is === 'False' && keyReasons.has(reason)),
  );
  if (obstacle !== undefined) return outcomeOf(obstacle);
  const pin = by === 'pin' ? undefined : spec?.pin;
  const delayed = heldBack({ suspend: spec?.suspend, pin }, by === 'pin' ? 'The pin' : 'The promotion');
  if (delayed !== undefined) return delayed;
  if (by === 'pin') return spec === undefined || spec.pin?.version === version ? undefined : pinReplaced;
  if (candidate?.version === version) return undefined;
  return rejected?.versions.some((one) => one.version === version) ? candidateRejected : candidateGone;
}

const pinReplaced: RunOutcome = {
  outcome: 'temporary',
  code: 'PinReplaced',
  message: 'another client has changed spec.pin since; check its value, then pin again',
};
const candidateRejected: RunOutcome = {
  outcome: 'held',
  code: 'Rejected',
  message: 'the candidate was rejected, so it is not published; request an export to offer its content again',
};
const candidateGone: RunOutcome = {
  outcome: 'exportFailed',
  code: 'CandidateGone',
  message: 'the candidate is no longer held and was not published; request an export to replace it',
};

/** What readers get, compared with what they got. */
export function publishedWords(before: string | undefined, now: string | undefined): string {
  if (before === now) return `The content is unchanged; version ${now} stays published.`;
  return `Version ${now} is published${before === undefined ? '' : `; it replaces ${before}`}.`;
}

function endOfRefresh(object: StaticExportObject, token: string): RunOutcome | undefined {
  const { lastHandledRefresh, failures, active } = parseStaticExport(object).status;
  if (lastHandledRefresh === token) {
    const until = active?.linkExpirationTime;
    return { outcome: 'done', code: 'Refreshed', message: `The new link is valid until ${until}.` };
  }
  const isSame = failures?.link?.refreshRequest === token && failures.link.reason === 'NotFresher';
  return isSame ? sameLink : undefined;
}

const sameLink: RunOutcome = {
  outcome: 'temporary',
  code: 'SameLink',
  message: 'the export API issued the published link again; it issues another when this one expires',
};

/** Why the export API cannot be called, which a link needs too. */
function blockedBy(conditions: Status['conditions']): Condition | undefined {
  return conditions?.find(({ status: is, reason }) => is !== 'Unknown' && blockingReasons.has(reason));
}

const find = (conditions: Status['conditions'], type: string): Condition | undefined =>
  conditions?.find((one) => one.type === type);

/** Of `Exported`, while the operator retries; another reason is about the export before. */
const retriedReasons: ReadonlySet<string> = new Set([
  'InspectionFailed',
  'MirrorFailed',
  'OutputWriteFailed',
  'ExportApiUnreachable',
  'AnotherExportRuns',
  'StartBudgetUsed',
] satisfies readonly ExportedReason[]);

function retriedExport(conditions: Status['conditions']): Condition | undefined {
  const exported = find(conditions, 'Exported');
  if (exported !== undefined && retriedReasons.has(exported.reason)) return exported;
  return find(conditions, 'Reconciling');
}

/** @returns `undefined` where the Kubernetes API server may answer later */
async function readAgain(
  name: string,
  client: Pick<ClusterClient, 'read'>,
): Promise<StaticExportObject | undefined> {
  try {
    return await client.read(name);
  } catch (error) {
    if (failureOf(error).retryable) return undefined;
    throw error;
  }
}
