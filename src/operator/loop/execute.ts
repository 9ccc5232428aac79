// Executes the one action of a reconcile and reports its outcome: polls and links here, starts in start-job.ts, archives
// in inspection. Refuses: deciding. Invariant: a link reaches the memory or the result, and nothing else.

import type { PublishedLink } from '#bundle/published-bundle.ts';
import type { ExportApi, IssuedLink } from '#export-api/answers.ts';
import { needsInspection } from '#operator/reconcile/choose.ts';
import { isValidLongEnough, measureTimes } from '#operator/reconcile/link-timing.ts';
import type { Observation } from '#operator/reconcile/observation.ts';
import type { ActionResult, CallFailure } from '#operator/reconcile/result.ts';
import type { Action, Plan } from '#operator/reconcile/state.ts';
import type { StaticExportObject } from '#platform/wire/cluster.ts';
import { readHttpOrigin, shortOriginEntry } from '#platform/wire/http-origin.ts';
import type { Link } from '#platform/wire/link.ts';
import type { PublishableFailure } from '#platform/wire/publishable-error.ts';
import { isAllowedHost } from './allowed-host.ts';
import { call, connect, notePoll } from './calls/api-call.ts';
import { startJob } from './calls/start-job.ts';
import type { ActionContext } from './context.ts';
import { inspectCandidate } from './inspection/inspection.ts';
import { findMirrorAccess, missingMirror } from './inspection/mirror-access.ts';
import { workOnMirror } from './inspection/mirror-work.ts';
import { dropMirrorWork, type RememberedLink, replaceCandidate, resourceId } from './memory.ts';

export interface Execution {
  readonly result: ActionResult;
  /** The link that a publication by this reconcile would carry. */
  readonly link: Link | undefined;
  /** As last stored: writing the start record changes it. */
  readonly object: StaticExportObject;
}

export interface ExecutionInput {
  readonly plan: Plan;
  readonly observation: Observation;
  readonly object: StaticExportObject;
  readonly key: string | undefined;
  /** The link in the output Secret. */
  readonly published: PublishedLink | undefined;
}

/** If a new link has already expired, the operator issues another at once. This is the number of attempts in total. */
const maxIssued = 3;

/**
 * @throws {ClusterError} when the start record could not be written
 * @throws the signal's reason when aborted; the start record then leads to the job
 */
export async function execute(
  input: ExecutionInput,
  context: ActionContext,
  signal: AbortSignal,
): Promise<Execution> {
  const { object, plan } = input;
  const { action } = plan;
  switch (action.kind) {
    case 'none':
      return { result: { kind: 'none' }, link: undefined, object };
    case 'start':
      return { ...(await startJob(action, input, context, signal)), link: undefined };
    case 'poll':
      return {
        result: await pollJob(action.jobId, connect(input, context), input, context, signal),
        link: undefined,
        object,
      };
    case 'issue':
      return { ...(await issueLink(action, input, context, signal)), object };
    case 'mirror': {
      const { observation, published } = input;
      const { work } = action;
      const result = await workOnMirror(object.metadata, work, observation, published, context, signal);
      return { result, link: published?.url, object };
    }
    case 'inspect':
      return {
        ...(await inspectCandidate(object, action, input.observation, context, signal)),
        object,
      };
    default:
      return action satisfies never;
  }
}

async function pollJob(
  jobId: string,
  api: ExportApi,
  input: ExecutionInput,
  context: ActionContext,
  signal: AbortSignal,
): Promise<ActionResult> {
  const { object } = input;
  notePoll(object, context, jobId, undefined);
  const sentAt = context.clock.now();
  return call<ActionResult, ActionResult>(
    async () => {
      const { retryAfterMs, raw: _raw, issued, ...report } = await api.readJob(jobId, signal);
      notePoll(object, context, jobId, retryAfterMs);
      if (issued !== undefined) await keepPolledLink(jobId, issued, sentAt, input, context, signal);
      return { kind: 'polled', ...report };
    },
    (failure) => ({ kind: 'poll-failed', failure }),
    signal,
  );
}

/** A completed job may carry a link, which then needs no call of its own. An unusable one is issued again. */
async function keepPolledLink(
  jobId: string,
  issued: IssuedLink,
  sentAt: number,
  input: ExecutionInput,
  context: ActionContext,
  signal: AbortSignal,
): Promise<void> {
  const { link, times, fault } = await tryLink(issued, sentAt, context, signal);
  if (fault === undefined && isValidLongEnough(times, context.clock.now()))
    keepCandidate(jobId, { ...times, url: link }, input, context);
}

/** Its times on this machine's clock, and what its storage answers while it is valid. */
async function tryLink(
  { link: issued, expiresAt, serverDate }: IssuedLink,
  sentAt: number,
  context: ActionContext,
  signal: AbortSignal,
) {
  const link = issued.validUntil(expiresAt);
  const signed = link.signedLifetime();
  const times = measureTimes({ sentAt, serverDate, claimedExpiresAt: expiresAt, signed });
  const isTried = times.expiresAt > context.clock.now();
  return { link, times, fault: isTried ? await context.bundles.probe(link, signal) : undefined };
}

async function issueLink(
  action: Extract<Action, { kind: 'issue' }>,
  input: ExecutionInput,
  context: ActionContext,
  signal: AbortSignal,
): Promise<{ readonly result: ActionResult; readonly link: Link | undefined }> {
  // The spec may name another export API by now; the job stays with the export API that made it.
  const { baseUrl } = action.issuer;
  if (baseUrl !== undefined && !isAllowedHost(baseUrl, context.settings)) {
    const origin = readHttpOrigin(baseUrl);
    const why = origin && shortOriginEntry(origin);
    return issueFailed({ code: 'HostNotAllowed', retryAfterMs: undefined, why });
  }
  const unready = action.cause === 'subject' ? await findUnreadyMirror(input, context, signal) : undefined;
  if (unready !== undefined) return { result: { kind: 'copy-failed', failure: unready }, link: undefined };
  const api = connect(input, context, action.issuer);
  let why: string | undefined;
  for (let issues = 0; issues < maxIssued; issues += 1) {
    const sentAt = context.clock.now();
    const idempotencyKey = context.random.uuid();
    const answer = await call(
      async () => api.issueLink({ jobId: action.jobId, idempotencyKey }, signal),
      (failure): { readonly failure: CallFailure } => ({ failure }),
      signal,
    );
    if ('failure' in answer) return issueFailed(answer.failure);
    const { link, times, fault } = await tryLink(answer, sentAt, context, signal);
    if (action.cause !== 'refresh' && !isValidLongEnough(times, context.clock.now())) {
      return issueFailed({ code: 'LifetimeTooShort', retryAfterMs: undefined });
    }
    // Of the storage, which refuses the next link too.
    if (fault?.code === 'LinkRefused') {
      return issueFailed({ code: 'LinkRefused', retryAfterMs: undefined, why: fault.message });
    }
    why = fault?.message ?? why;
    // The next link would not be valid earlier than one that is not valid yet.
    const hasExpired = times.expiresAt <= context.clock.now() || fault?.code === 'LinkExpired';
    if (!hasExpired) {
      const issued = { ...times, url: link };
      if (action.cause === 'subject') keepCandidate(action.jobId, issued, input, context);
      if (action.cause === 'mirror') keepCopyLink(issued, input, context);
      return { result: { kind: 'issued', times, isPublished: link.isSame(input.published?.url) }, link };
    }
  }
  return issueFailed({ code: 'ExpiredOnArrival', retryAfterMs: undefined, why });
}

function issueFailed(failure: CallFailure): Pick<Execution, 'result' | 'link'> {
  return { result: { kind: 'issue-failed', failure }, link: undefined };
}

/** Keeps the link for inspecting and publishing. An earlier inspection of the same job stays known. */
function keepCandidate(
  jobId: string,
  link: RememberedLink,
  { object }: ExecutionInput,
  { memory }: ActionContext,
): void {
  const id = resourceId(object.metadata);
  const before = memory.candidates.get(id);
  const done = before?.jobId === jobId && before.done?.kind === 'read' ? before.done : undefined;
  const stop = new AbortController();
  const rules = before?.rules;
  replaceCandidate(memory, id, { jobId, link, stop, inspection: undefined, done, rules });
}

/** Keeps the link for copying the published version again. */
function keepCopyLink(link: RememberedLink, { object }: ExecutionInput, { memory }: ActionContext): void {
  const id = resourceId(object.metadata);
  dropMirrorWork(memory, id);
  const stop = new AbortController();
  memory.mirrorWorks.set(id, { name: 'link', link, stop, isRunning: false, done: undefined });
}

/** A mirror that is required and cannot be used would waste the link and the download. */
async function findUnreadyMirror(
  { object, observation, plan }: ExecutionInput,
  context: ActionContext,
  signal: AbortSignal,
): Promise<PublishableFailure | undefined> {
  const { mirror } = observation.wanted;
  const { export: operation } = plan.state;
  if (operation.kind !== 'complete') return undefined;
  const { subject } = operation;
  if (mirror === undefined && subject.repair !== undefined) return missingMirror(subject);
  const isCopied = needsInspection(subject, observation);
  if (mirror?.isRequired !== true || !isCopied) return undefined;
  const found = await findMirrorAccess(mirror, object.metadata, context, signal);
  return found.kind === 'failed' ? found.failure : undefined;
}
