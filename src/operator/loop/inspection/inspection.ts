// Inspects a candidate's archive between reconciles, because a download may take minutes while the published link
// must be refreshed. One reconcile starts the inspection, and its end requests another. A process that stops loses
// it, and the next process starts again. The process has few slots; an inspection without a slot queues, its
// reconcile does not wait. Invariants: a resource has at most one inspection, and exactly one reconcile takes its
// outcome. An inspection that is no longer needed ends without an outcome. A link that expires in the queue costs
// one link request, when a slot is free.

import { bundleErrorKind } from '#bundle/bundle-error.ts';
import { makesSearch } from '#bundle/transform.ts';
import { isWorthInspecting } from '#operator/reconcile/link-timing.ts';
import { isOfOtherRules, mirrorPlaceName } from '#operator/reconcile/mirror.ts';
import type { Observation } from '#operator/reconcile/observation.ts';
import type { ActionResult, InspectionFailure } from '#operator/reconcile/result.ts';
import { readyTime, stampOf } from '#operator/reconcile/settle/version.ts';
import type { Plan, State, Subject } from '#operator/reconcile/state.ts';
import { hasWaited } from '#platform/runtime/clock.ts';
import { waitAtMost } from '#platform/runtime/time-limit.ts';
import type { ObjectKey, ObjectMeta, StaticExportObject } from '#platform/wire/cluster.ts';
import { wholeSecond } from '#platform/wire/instant.ts';
import type { Link } from '#platform/wire/link.ts';
import { PublishableError, publishableFailure } from '#platform/wire/publishable-error.ts';
import type { ActionContext } from '../context.ts';
import {
  type CandidateWork,
  dropCandidate,
  type InspectionOutcome,
  type ProcessMemory,
  replaceCandidate,
  resourceId,
} from '../memory.ts';
import { type FoundMirrorAccess, findMirrorAccess, missingMirror } from './mirror-access.ts';
import { copyFailure } from './mirror-work.ts';

/** The reconcile that starts an inspection waits this long. Small archives are inspected by then. */
const graceMs = 2000;
/** Issuing a link and probing it: an inspection slot waits for a new link no longer than both may take. */
const callsToFreshLink = 2;

/** Of a mirrored resource: what the archive must be copied to, or where the copy is read. */
export interface InspectionSource {
  readonly subject: Subject;
  readonly from: 'link' | 'mirror';
}

/** Starts the inspection, or checks whether it has ended. Its end requests the reconcile that takes the outcome. */
export async function inspectCandidate(
  { metadata }: StaticExportObject,
  source: InspectionSource,
  observation: Observation,
  context: ActionContext,
  signal: AbortSignal,
): Promise<{ readonly result: ActionResult; readonly link: Link | undefined }> {
  const id = resourceId(metadata);
  const { candidates } = context.memory;
  if (source.from === 'mirror' && isOther(candidates.get(id), source))
    replaceCandidate(context.memory, id, copyCandidate(source.subject));
  const work = candidates.get(id);
  const rules = rulesOf(source, observation);
  const hasBegun = work?.inspection !== undefined || work?.done !== undefined;
  if (hasBegun && work.rules !== rules) {
    // An inspection under another limit, or without a copy, says nothing under these rules.
    dropCandidate(context.memory, id);
    return inspecting;
  }
  const done =
    work?.done ??
    (work?.inspection === undefined
      ? await beginInspection(metadata, source, observation, context, signal)
      : undefined);
  if (work === undefined || done === undefined) return inspecting;
  if (done.kind !== 'read') {
    dropCandidate(context.memory, id);
    const result: ActionResult =
      done.kind === 'uncopied'
        ? { kind: 'copy-failed', failure: done.failure }
        : { kind: 'inspect-failed', failure: done.failure };
    return { result, link: undefined };
  }
  const { inspection: content, uncopied } = done;
  const { link } = work;
  const times = link && { issuedAt: link.issuedAt, expiresAt: link.expiresAt };
  return { result: { kind: 'inspected', content, link: times, uncopied }, link: link?.url };
}

const inspecting = { result: { kind: 'inspecting' }, link: undefined } as const;

const isOther = (work: CandidateWork | undefined, { subject }: InspectionSource): boolean =>
  work?.jobId !== subject.jobId || work.link !== undefined;

function copyCandidate({ jobId }: Subject): CandidateWork {
  const stop = new AbortController();
  return { jobId, link: undefined, stop, inspection: undefined, done: undefined, rules: undefined };
}

/** Names all rules that an inspection follows. */
function rulesOf({ subject }: InspectionSource, { wanted }: Observation): string {
  const { mirror, promotion } = wanted;
  const place = mirror && `${mirrorPlaceName(mirror)} ${mirror.compression} ${mirror.isRequired}`;
  return `${promotion.maxBundleBytes ?? ''} ${place ?? ''} ${subject.repair ?? ''}`;
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
  metadata: ObjectMeta,
  source: InspectionSource,
  observation: Observation,
  context: ActionContext,
  signal: AbortSignal,
): Promise<InspectionOutcome | undefined> {
  const { memory } = context;
  const key: ObjectKey = metadata;
  const id = resourceId(key);
  if (!memory.candidates.has(id)) return undefined;
  const { mirror } = observation.wanted;
  const { subject, from } = source;
  const isRepaired = subject.repair !== undefined;
  if (mirror === undefined && isRepaired) return { kind: 'uncopied', failure: missingMirror(subject) };
  const place = mirror && (await findMirrorAccess(mirror, metadata, context, signal));
  const isNeeded = from === 'mirror' || mirror?.isRequired === true || isRepaired;
  if (place?.kind === 'failed' && isNeeded) return { kind: 'uncopied', failure: place.failure };
  const work = memory.candidates.get(id);
  if (work === undefined) return undefined;
  const reading: Reading = {
    read: readerOf(work, source, place, observation, context),
    makesSearch: from === 'link' && subject.repair !== undefined && makesSearch(subject.repair),
  };
  const hasRoom = memory.slots.hasRoom(id, reading.makesSearch);
  const inspection = startInspection(id, { ...work, rules: rulesOf(source, observation) }, reading, context);
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
  reading: Reading,
  context: ActionContext,
): Promise<InspectionOutcome | undefined> {
  const { candidates } = context.memory;
  const noted = inspectWhenValid(id, work, reading, context).then((done) => {
    const now = candidates.get(id);
    if (now?.inspection === noted) candidates.set(id, { ...now, done });
    return done;
  });
  candidates.set(id, { ...work, inspection: noted });
  return noted;
}

/** As far as signers' clocks are ahead in practice. A clock that is further ahead is a failure to report. */
const longestEarlyMs = 15 * 60_000;

/** Inspects, and again once a link that was not valid yet is valid: another link would not be valid earlier. */
async function inspectWhenValid(
  id: string,
  work: CandidateWork,
  reading: Reading,
  context: ActionContext,
): Promise<InspectionOutcome | undefined> {
  const stopped = AbortSignal.any([context.memory.signal, work.stop.signal]);
  for (let waitedMs = 0; ; ) {
    const done = await inspectInSlot(id, work, reading, context);
    const isEarly = done?.kind === 'failed' && done.failure.kind === 'early-link';
    const { retryAfterMs = longestEarlyMs } = isEarly ? done.failure : {};
    waitedMs += retryAfterMs;
    if (!isEarly || waitedMs > longestEarlyMs) return done;
    if (!(await hasWaited(context.clock, retryAfterMs, stopped))) return undefined;
  }
}

/** Waits for a slot and inspects. Returns no outcome if it was stopped, or if the link expired in the queue. */
async function inspectInSlot(
  id: string,
  work: CandidateWork,
  reading: Reading,
  context: ActionContext,
): Promise<InspectionOutcome | undefined> {
  const { memory, clock, settings } = context;
  const { link } = work;
  const { slots } = memory;
  const stopped = AbortSignal.any([memory.signal, work.stop.signal]);
  const hasQueued = !slots.hasRoom(id, reading.makesSearch);
  const slot = await slots.take(id, stopped, reading.makesSearch).catch(() => undefined);
  if (slot === undefined) return undefined;
  const isLate = link !== undefined && !isWorthInspecting(link, wholeSecond(clock.now()));
  const outcome = isLate ? undefined : await readWithin(reading.read, stopped, context);
  // Links also expire earlier than they claim. A link that expired in the queue says nothing against the archive.
  const hasExpired = hasQueued && outcome?.kind === 'failed' && outcome.failure.kind === 'expired-link';
  if (stopped.aborted || link === undefined || !(isLate || hasExpired)) {
    slot.release();
    return outcome;
  }
  const grace = clock.deadline(callsToFreshLink * settings.requestTimeoutMs, memory.signal);
  slots.keep(id, slot, grace, reading.makesSearch);
  const expiresAt = Math.min(link.expiresAt, wholeSecond(clock.now()));
  memory.candidates.set(id, { ...work, link: { ...link, expiresAt } });
  return undefined;
}

/** @throws {PublishableError} of the archive */
type Reader = (signal: AbortSignal) => Promise<InspectionOutcome>;

interface Reading {
  readonly read: Reader;
  readonly makesSearch: boolean;
}

/** What the inspection reads, and whether it copies. */
function readerOf(
  { link }: CandidateWork,
  { subject, from }: InspectionSource,
  found: FoundMirrorAccess | undefined,
  observation: Observation,
  { bundles, mirrors }: ActionContext,
): Reader {
  const { jobId, ref, digest, repair } = subject;
  const { wanted, status, now } = observation;
  const { mirror, promotion } = wanted;
  const maxBytes = promotion.maxBundleBytes;
  const place = found?.kind === 'found' ? found.place : undefined;
  if (from === 'mirror' || link === undefined) {
    return async (signal) => {
      if (place === undefined || ref === undefined || digest === undefined)
        throw new TypeError(`no copy of ${jobId}`);
      try {
        return { kind: 'read', inspection: { ...(await mirrors.verify(place, ref, digest, signal)), ref } };
      } catch (error) {
        // A damaged copy says nothing about the archive behind a link.
        const failure = copyFailure(error);
        const isDamaged = error instanceof PublishableError && error.kind === 'refused';
        const code = isDamaged ? 'CopyDamaged' : failure.code;
        return { kind: 'uncopied', failure: { ...failure, code } };
      }
    };
  }
  const uncopied = found?.kind === 'failed' ? { uncopied: found.failure } : {};
  if (mirror === undefined || place === undefined) {
    if (repair !== undefined) throw new TypeError(`no mirror for the repair of ${jobId}`);
    return async (signal) => ({
      kind: 'read',
      inspection: await bundles.inspect(link.url, signal, maxBytes),
      ...uncopied,
    });
  }
  const { compression, isRequired } = mirror;
  const completedAt = status.job?.id === jobId ? readyTime(status.job) : undefined;
  const versionStamp = subject.version?.slice(0, 15) ?? stampOf(completedAt ?? now);
  // A version is pinned for its content. In other cases, what these rules give is the next version.
  const isExact = wanted.pin?.version !== undefined || !isOfOtherRules(subject, observation);
  const expectedDigest = isExact ? digest : undefined;
  const order = { place, compression, versionStamp, isRequired, repair, expectedDigest };
  return async (signal) => {
    const copied = await mirrors.copy(link.url, order, signal, maxBytes);
    if (!('digest' in copied)) return { kind: 'uncopied', failure: copied.copy.failure };
    const { copy, ...inspection } = copied;
    if (copy.kind === 'copied') return { kind: 'read', inspection: { ...inspection, ref: copy.ref } };
    const { failure } = copy;
    return isRequired ? { kind: 'uncopied', failure } : { kind: 'read', inspection, uncopied: failure };
  };
}

async function readWithin(
  read: Reader,
  stopped: AbortSignal,
  { clock, settings }: ActionContext,
): Promise<InspectionOutcome | undefined> {
  try {
    return await read(clock.deadline(settings.inspectTimeoutMs, stopped));
  } catch (error) {
    // A stopped inspection says nothing about the archive.
    if (stopped.aborted) return undefined;
    return { kind: 'failed', failure: describeFailure(error) };
  }
}

function describeFailure(error: unknown): InspectionFailure {
  return { kind: bundleErrorKind(error), ...publishableFailure(error) };
}
