// Reading a candidate's archive goes on between passes: a download may take minutes, and the published link must
// be refreshed meanwhile. One pass starts it, its end asks for another; the process that dies loses it and starts
// again. Invariants: at most one reading per resource, its outcome is looked at exactly once, and a reading that
// nobody wants any more ends without one.

import { BundleError } from '../bundle/bundle-error.ts';
import type { ActionResult } from '../reconcile/result.ts';
import type { State } from '../reconcile/state.ts';
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
export function stopUnwantedReading(key: ObjectKey, { export: lane }: State, memory: ProcessMemory): void {
  const work = memory.candidates.get(resourceId(key));
  const isWanted = lane.kind === 'complete' && lane.subject.jobId === work?.jobId;
  if (work !== undefined && !isWanted) dropCandidate(memory, resourceId(key));
}

/** @returns the outcome, if there is one before the patience of a pass is over */
async function beginReading(
  key: ObjectKey,
  maxBytes: number | undefined,
  edge: PassEdge,
  signal: AbortSignal,
): Promise<ReadingOutcome | undefined> {
  const work = edge.memory.candidates.get(resourceId(key));
  if (work === undefined) return undefined;
  const reading = startReading(resourceId(key), { ...work, maxBytes }, edge);
  let hasWaited = false;
  void reading.then((done) => {
    if (hasWaited && done !== undefined) edge.wake(key);
  });
  try {
    return await waitFor(reading, edge, signal);
  } finally {
    hasWaited = true;
  }
}

function startReading(
  id: string,
  work: CandidateWork,
  { memory, clock, settings, bundles }: PassEdge,
): Promise<ReadingOutcome | undefined> {
  const stopped = AbortSignal.any([memory.signal, work.stop.signal]);
  const deadline = clock.deadline(settings.inspectTimeoutMs, stopped);
  const reading = bundles.inspect(work.link, deadline, work.maxBytes).then(
    (inspection): ReadingOutcome => ({ kind: 'read', inspection }),
    // What was stopped says nothing about the archive.
    (error: unknown): ReadingOutcome | undefined =>
      stopped.aborted ? undefined : { kind: 'failed', failure: describeFailure(error) },
  );
  const noted = reading.then((done) => {
    const now = memory.candidates.get(id);
    if (now?.reading === noted) memory.candidates.set(id, { ...now, done });
    return done;
  });
  memory.candidates.set(id, { ...work, reading: noted });
  return noted;
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
