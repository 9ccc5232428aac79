// Reading a candidate's archive goes on between passes: a download may take minutes, and the published link must
// be refreshed meanwhile. One pass starts it, later ones look; the process that dies loses it and starts again.
// Invariant: at most one reading per resource, and its outcome is looked at exactly once.

import { BundleError } from '../bundle/bundle-error.ts';
import type { Observation } from '../reconcile/observation.ts';
import type { ActionResult } from '../reconcile/result.ts';
import type { Link } from '../wire/link.ts';
import { publishableCode, publishableMessage } from '../wire/publishable-error.ts';
import type { PassEdge } from './edge.ts';
import { type CandidateWork, type ReadingOutcome, resourceId } from './memory.ts';
import type { StaticExportObject } from './ports.ts';

/** A pass waits this long for a reading; small archives are done by then. */
const patienceMs = 2000;

export async function readCandidate(
  { metadata }: StaticExportObject,
  _observation: Observation,
  edge: PassEdge,
  signal: AbortSignal,
): Promise<{ readonly result: ActionResult; readonly link: Link | undefined }> {
  const id = resourceId(metadata);
  const work = edge.memory.candidates.get(id);
  if (work === undefined) return { result: { kind: 'inspecting' }, link: undefined };
  const done = work.done ?? (await waitFor(startReading(id, work, edge), edge, signal));
  if (done === undefined) return { result: { kind: 'inspecting' }, link: undefined };
  if (done.kind === 'failed') {
    edge.memory.candidates.delete(id);
    return { result: { kind: 'inspect-failed', failure: done.failure }, link: undefined };
  }
  const { issuedAt, expiresAt, link } = work;
  return { result: { kind: 'inspected', content: done.inspection, clock: { issuedAt, expiresAt } }, link };
}

function startReading(id: string, work: CandidateWork, edge: PassEdge): Promise<ReadingOutcome> {
  if (work.reading !== undefined) return work.reading;
  const { memory, clock, settings, bundles } = edge;
  const signal = clock.deadline(settings.inspectTimeoutMs, memory.signal);
  const reading = bundles.inspect(work.link, signal).then(
    (inspection): ReadingOutcome => ({ kind: 'read', inspection }),
    (error: unknown): ReadingOutcome => ({ kind: 'failed', failure: describeFailure(error) }),
  );
  memory.candidates.set(id, { ...work, reading });
  return reading.then((done) => {
    const now = memory.candidates.get(id);
    if (now?.reading === reading) memory.candidates.set(id, { ...now, done });
    return done;
  });
}

function describeFailure(error: unknown): Extract<ReadingOutcome, { kind: 'failed' }>['failure'] {
  const kind = error instanceof BundleError ? error.kind : 'transient';
  return { kind, code: publishableCode(error), message: publishableMessage(error) };
}

async function waitFor(
  reading: Promise<ReadingOutcome>,
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
