// Inspects a candidate's archive between reconciles, because a download may take minutes while the published link
// must be refreshed. One reconcile starts the inspection, and its end requests another. A process that stops loses
// it, and the next process starts again. The process has few slots; an inspection without a slot queues, its
// reconcile does not wait. Invariants: a resource has at most one inspection, and exactly one reconcile takes its
// outcome. An inspection that is no longer needed ends without an outcome. A link that expires in the queue costs
// one link request, when a slot is free.

import { BundleError } from '../bundle/bundle-error.ts';
import { isWorthInspecting } from '../reconcile/choose.ts';
import type { ActionResult, InspectionFailure } from '../reconcile/result.ts';
import type { Plan, State } from '../reconcile/state.ts';
import { waitAtMost } from '../runtime/time-limit.ts';
import type { Wanted } from '../staticexport/wanted.ts';
import type { ObjectKey, StaticExportObject } from '../wire/cluster.ts';
import { wholeSecond } from '../wire/instant.ts';
import type { Link } from '../wire/link.ts';
import { publishableCode, publishableMessage } from '../wire/publishable-error.ts';
import type { ActionContext } from './context.ts';
import {
  type CandidateWork,
  dropCandidate,
  type InspectionOutcome,
  type ProcessMemory,
  resourceId,
} from './memory.ts';

/** The reconcile that starts an inspection waits this long. Small archives are inspected by then. */
const graceMs = 2000;
/** Issuing a link and probing it: an inspection slot waits for a new link no longer than both may take. */
const callsToFreshLink = 2;

/** Starts the inspection, or checks whether it has ended. Its end requests the reconcile that takes the outcome. */
export async function inspectCandidate(
  { metadata }: StaticExportObject,
  { maxBundleBytes }: Wanted['promotion'],
  context: ActionContext,
  signal: AbortSignal,
): Promise<{ readonly result: ActionResult; readonly link: Link | undefined }> {
  const id = resourceId(metadata);
  const work = context.memory.candidates.get(id);
  const hasBegun = work?.inspection !== undefined || work?.done !== undefined;
  if (hasBegun && work.maxBytes !== maxBundleBytes) {
    // An inspection under another limit says nothing under this one.
    dropCandidate(context.memory, id);
    return { result: { kind: 'inspecting' }, link: undefined };
  }
  const done =
    work?.done ??
    (work?.inspection === undefined
      ? await beginInspection(metadata, maxBundleBytes, context, signal)
      : undefined);
  if (work === undefined || done === undefined) return { result: { kind: 'inspecting' }, link: undefined };
  if (done.kind === 'failed') {
    dropCandidate(context.memory, id);
    return { result: { kind: 'inspect-failed', failure: done.failure }, link: undefined };
  }
  const { issuedAt, expiresAt, link } = work;
  return { result: { kind: 'inspected', content: done.inspection, times: { issuedAt, expiresAt } }, link };
}

/** Stops an inspection whose job must no longer be published: after a pin, a suspension, or a change of inputs. */
export function stopUnwantedInspection(
  key: ObjectKey,
  { export: operation }: State,
  memory: ProcessMemory,
): void {
  const work = memory.candidates.get(resourceId(key));
  const isWanted = operation.kind === 'complete' && operation.subject.jobId === work?.jobId;
  if (work !== undefined && !isWanted) dropCandidate(memory, resourceId(key));
}

/**
 * Frees the slot kept for a new link, if no link will come: the export API refused it or must not be called now.
 *
 * @param next the next plan
 */
export function releaseUnusedSlot(key: ObjectKey, { action }: Plan, { slots }: ProcessMemory): void {
  if (action.kind !== 'issue' && action.kind !== 'inspect') slots.giveUp(resourceId(key));
}

/** @returns the outcome, if there is one before the reconcile's grace period ends */
async function beginInspection(
  key: ObjectKey,
  maxBytes: number | undefined,
  context: ActionContext,
  signal: AbortSignal,
): Promise<InspectionOutcome | undefined> {
  const { memory } = context;
  const id = resourceId(key);
  const work = memory.candidates.get(id);
  if (work === undefined) return undefined;
  const hasRoom = memory.slots.hasRoom(id);
  const inspection = startInspection(id, { ...work, maxBytes }, context);
  let hasWaited = false;
  void inspection.then(() => {
    // True also if it never began. The caller that stopped it needs no wake-up.
    const isStopped = memory.signal.aborted || work.stop.signal.aborted;
    if (hasWaited && !isStopped) context.wake(key);
  });
  try {
    return hasRoom ? await waitAtMost(inspection, graceMs, context.clock, signal) : undefined;
  } finally {
    hasWaited = true;
  }
}

function startInspection(
  id: string,
  work: CandidateWork,
  context: ActionContext,
): Promise<InspectionOutcome | undefined> {
  const { candidates } = context.memory;
  const noted = inspectInSlot(id, work, context).then((done) => {
    const now = candidates.get(id);
    if (now?.inspection === noted) candidates.set(id, { ...now, done });
    return done;
  });
  candidates.set(id, { ...work, inspection: noted });
  return noted;
}

/** Waits for a slot and inspects. Returns no outcome if it was stopped, or if the link expired in the queue. */
async function inspectInSlot(
  id: string,
  work: CandidateWork,
  context: ActionContext,
): Promise<InspectionOutcome | undefined> {
  const { memory, clock, settings } = context;
  const { slots } = memory;
  const stopped = AbortSignal.any([memory.signal, work.stop.signal]);
  const hasQueued = !slots.hasRoom(id);
  const slot = await slots.take(id, stopped).catch(() => undefined);
  if (slot === undefined) return undefined;
  const isLate = !isWorthInspecting(work, wholeSecond(clock.now()));
  const outcome = isLate ? undefined : await inspectArchive(work, stopped, context);
  // Links also expire earlier than they claim. A link that expired in the queue says nothing against the archive.
  const hasExpired = hasQueued && outcome?.kind === 'failed' && outcome.failure.kind === 'expired-link';
  if (stopped.aborted || !(isLate || hasExpired)) {
    slot.release();
    return outcome;
  }
  const grace = clock.deadline(callsToFreshLink * settings.requestTimeoutMs, memory.signal);
  slots.keep(id, slot, grace);
  const expiresAt = Math.min(work.expiresAt, wholeSecond(clock.now()));
  memory.candidates.set(id, { ...work, expiresAt });
  return undefined;
}

async function inspectArchive(
  { link, maxBytes }: CandidateWork,
  stopped: AbortSignal,
  { clock, settings, bundles }: ActionContext,
): Promise<InspectionOutcome | undefined> {
  try {
    const deadline = clock.deadline(settings.inspectTimeoutMs, stopped);
    return { kind: 'read', inspection: await bundles.inspect(link, deadline, maxBytes) };
  } catch (error) {
    // A stopped inspection says nothing about the archive.
    return stopped.aborted ? undefined : { kind: 'failed', failure: describeFailure(error) };
  }
}

function describeFailure(error: unknown): InspectionFailure {
  const kind = error instanceof BundleError ? error.kind : 'transient';
  return { kind, code: publishableCode(error), message: publishableMessage(error) };
}
