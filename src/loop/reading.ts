// Reading a candidate's archive goes on between passes: a download may take minutes, and the published link must
// be refreshed meanwhile. One pass starts it, its end asks for another; the process that dies loses it and starts
// again. The process has few places for it, and who finds none waits in line, its pass does not.
// Invariants: at most one reading per resource, its outcome is looked at exactly once, and a reading that nobody
// wants any more ends without one. A link that died in the line costs one link request, when the place is there.

import { BundleError } from '../bundle/bundle-error.ts';
import { isWorthReading } from '../reconcile/choose.ts';
import type { ActionResult } from '../reconcile/result.ts';
import type { Plan, State } from '../reconcile/state.ts';
import { wholeSecond } from '../staticexport/instant.ts';
import type { Wanted } from '../staticexport/wanted.ts';
import type { Link } from '../wire/link.ts';
import { publishableCode, publishableMessage } from '../wire/publishable-error.ts';
import type { PassEdge } from './edge.ts';
import {
  type CandidateWork,
  dropCandidate,
  type ProcessMemory,
  type ReadingOutcome,
  resourceId,
} from './memory.ts';
import type { ObjectKey, StaticExportObject } from './ports.ts';

/** The pass that starts a reading waits this long; small archives are done by then. */
const patienceMs = 2000;
/** Issuing a link and probing it: an inspection slot waits for a new link no longer than both may take. */
const callsToFreshLink = 2;

/** Starts the reading, or looks whether it has ended; its end asks for the pass that takes the outcome. */
export async function readCandidate(
  { metadata }: StaticExportObject,
  { maxBundleBytes }: Wanted['promotion'],
  edge: PassEdge,
  signal: AbortSignal,
): Promise<{ readonly result: ActionResult; readonly link: Link | undefined }> {
  const id = resourceId(metadata);
  const work = edge.memory.candidates.get(id);
  const hasBegun = work?.reading !== undefined || work?.done !== undefined;
  if (hasBegun && work.maxBytes !== maxBundleBytes) {
    // What was read under another limit says nothing under this one.
    dropCandidate(edge.memory, id);
    return { result: { kind: 'inspecting' }, link: undefined };
  }
  const done =
    work?.done ??
    (work?.reading === undefined ? await beginReading(metadata, maxBundleBytes, edge, signal) : undefined);
  if (work === undefined || done === undefined) return { result: { kind: 'inspecting' }, link: undefined };
  if (done.kind === 'failed') {
    dropCandidate(edge.memory, id);
    return { result: { kind: 'inspect-failed', failure: done.failure }, link: undefined };
  }
  const { issuedAt, expiresAt, link } = work;
  return { result: { kind: 'inspected', content: done.inspection, clock: { issuedAt, expiresAt } }, link };
}

/** Ends a reading whose job is no longer what shall be published next: pinned, suspended, or for other inputs. */
export function stopUnwantedReading(
  key: ObjectKey,
  { export: operation }: State,
  memory: ProcessMemory,
): void {
  const work = memory.candidates.get(resourceId(key));
  const isWanted = operation.kind === 'complete' && operation.subject.jobId === work?.jobId;
  if (work !== undefined && !isWanted) dropCandidate(memory, resourceId(key));
}

/**
 * Leaves the place that waits for a fresh link, where none is coming: the API refused it, or may not be called now.
 *
 * @param next what would be done next
 */
export function leaveIdlePlace(key: ObjectKey, { action }: Plan, { places }: ProcessMemory): void {
  if (action.kind !== 'issue' && action.kind !== 'inspect') places.giveUp(resourceId(key));
}

/** @returns the outcome, if there is one before the patience of a pass is over */
async function beginReading(
  key: ObjectKey,
  maxBytes: number | undefined,
  edge: PassEdge,
  signal: AbortSignal,
): Promise<ReadingOutcome | undefined> {
  const { memory } = edge;
  const id = resourceId(key);
  const work = memory.candidates.get(id);
  if (work === undefined) return undefined;
  const hasRoom = memory.places.hasRoom(id);
  const reading = startReading(id, { ...work, maxBytes }, edge);
  let hasWaited = false;
  void reading.then(() => {
    // Also where it never began. Who stopped it need not be told.
    const isStopped = memory.signal.aborted || work.stop.signal.aborted;
    if (hasWaited && !isStopped) edge.wake(key);
  });
  try {
    return hasRoom ? await waitFor(reading, edge, signal) : undefined;
  } finally {
    hasWaited = true;
  }
}

function startReading(id: string, work: CandidateWork, edge: PassEdge): Promise<ReadingOutcome | undefined> {
  const { candidates } = edge.memory;
  const noted = readInTurn(id, work, edge).then((done) => {
    const now = candidates.get(id);
    if (now?.reading === noted) candidates.set(id, { ...now, done });
    return done;
  });
  candidates.set(id, { ...work, reading: noted });
  return noted;
}

/** Waits for a place, and reads there; without an outcome if it was stopped, or if the link died in the line. */
async function readInTurn(
  id: string,
  work: CandidateWork,
  edge: PassEdge,
): Promise<ReadingOutcome | undefined> {
  const { memory, clock, settings } = edge;
  const { places } = memory;
  const stopped = AbortSignal.any([memory.signal, work.stop.signal]);
  const hasQueued = !places.hasRoom(id);
  const place = await places.take(id, stopped).catch(() => undefined);
  if (place === undefined) return undefined;
  const isLate = !isWorthReading(work, wholeSecond(clock.now()));
  const outcome = isLate ? undefined : await readArchive(work, stopped, edge);
  // Links die sooner than they say, too, and that of one that waited says nothing against the archive.
  const hasDied = hasQueued && outcome?.kind === 'failed' && outcome.failure.kind === 'dead-link';
  if (stopped.aborted || !(isLate || hasDied)) {
    place.leave();
    return outcome;
  }
  const patience = clock.deadline(callsToFreshLink * settings.requestTimeoutMs, memory.signal);
  places.keep(id, place, patience);
  const expiresAt = Math.min(work.expiresAt, wholeSecond(clock.now()));
  memory.candidates.set(id, { ...work, expiresAt });
  return undefined;
}

async function readArchive(
  { link, maxBytes }: CandidateWork,
  stopped: AbortSignal,
  { clock, settings, bundles }: PassEdge,
): Promise<ReadingOutcome | undefined> {
  try {
    const deadline = clock.deadline(settings.inspectTimeoutMs, stopped);
    return { kind: 'read', inspection: await bundles.inspect(link, deadline, maxBytes) };
  } catch (error) {
    // What was stopped says nothing about the archive.
    return stopped.aborted ? undefined : { kind: 'failed', failure: describeFailure(error) };
  }
}

function describeFailure(error: unknown): Extract<ReadingOutcome, { kind: 'failed' }>['failure'] {
  const kind = error instanceof BundleError ? error.kind : 'transient';
  return { kind, code: publishableCode(error), message: publishableMessage(error) };
}

async function waitFor(
  reading: Promise<ReadingOutcome | undefined>,
  { clock }: PassEdge,
  signal: AbortSignal,
): Promise<ReadingOutcome | undefined> {
  const enough = new AbortController();
  const patience = clock.after(patienceMs, AbortSignal.any([signal, enough.signal]));
  try {
    return await Promise.race([reading, patience.then(() => undefined)]);
  } finally {
    enough.abort();
  }
}
