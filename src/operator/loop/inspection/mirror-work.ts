// Looks at the copy of the published bundle and copies it again, between reconciles, in the slots of inspections. One
// reconcile begins the work, and its end requests the reconcile that takes the outcome. A process that stops loses it.
// Invariant: a resource has at most one such work, and an outcome counts for the copy that was asked for only.

import { makesSearch } from '#bundle/transform.ts';
import {
  copyLink,
  expiredDigests,
  isOfOtherRules,
  listedDigests,
  mirrorPlaceName,
} from '#operator/reconcile/mirror.ts';
import type { Observation } from '#operator/reconcile/observation.ts';
import type { ActionResult } from '#operator/reconcile/result.ts';
import type { WantedMirror } from '#operator/staticexport/wanted-mirror.ts';
import { recordedRevision } from '#operator/staticexport/wanted-transform.ts';
import type { ObjectKey, ObjectMeta } from '#platform/wire/cluster.ts';
import { type PublishableFailure, publishableFailure } from '#platform/wire/publishable-error.ts';
import type { ActionContext } from '../context.ts';
import {
  type MirrorOutcome,
  type MirrorWork,
  type ProcessMemory,
  type RememberedLink,
  resourceId,
} from '../memory.ts';
import type { MirrorPlace } from '../ports.ts';
import { findMirrorAccess } from './mirror-access.ts';

/** What the work is about. */
interface MirrorTask {
  readonly work: 'look' | 'copy';
  readonly mirror: WantedMirror;
  readonly active: NonNullable<Observation['status']['active']>;
  readonly digest: string;
}

/**
 * Begins the work, or takes its outcome.
 *
 * @param published the link in the output Secret
 * @returns `mirror-working` until there is an outcome
 */
export async function workOnMirror(
  metadata: ObjectMeta,
  work: MirrorTask['work'],
  observation: Observation,
  published: RememberedLink | undefined,
  context: ActionContext,
  signal: AbortSignal,
): Promise<ActionResult> {
  const { wanted, status } = observation;
  const { active } = status;
  const { mirror } = wanted;
  if (mirror === undefined || active?.digest === undefined) return { kind: 'none' };
  const task: MirrorTask = { work, mirror, active, digest: active.digest };
  const id = resourceId(metadata);
  const name = nameOf(task);
  const known = context.memory.mirrorWorks.get(id);
  if (known?.isRunning === true) return { kind: 'mirror-working' };
  if (known?.done !== undefined) {
    keepLink(context.memory, id, known);
    if (known.name === name) return resultOf(known.done, observation);
  }
  const found = await findMirrorAccess(mirror, metadata, context, signal);
  if (found.kind === 'failed') return { kind: 'mirror-failed', failure: found.failure };
  const link = copyLink(observation) === 'published' ? published : known?.link;
  begin(
    metadata,
    { name, link, isHeavy: work === 'copy', hasSearch: makesSearch(active.repair ?? '') },
    (stopped) => run(task, found.place, link, observation, context, stopped),
    context,
  );
  return { kind: 'mirror-working' };
}

const nameOf = ({ work, mirror, active, digest }: MirrorTask): string =>
  `${work} ${digest} ${active.ref ?? ''} ${active.mirrorCheckTime ?? ''} ${mirror.compression} ${mirrorPlaceName(mirror)}`;

/** A link that was issued for copying serves the next attempt, too. */
function keepLink(
  { mirrorWorks }: ProcessMemory,
  id: string,
  { link, done, stop }: Pick<MirrorWork, 'link' | 'done' | 'stop'>,
): void {
  mirrorWorks.delete(id);
  if (link === undefined || done?.kind !== 'failed' || !done.isLinkUsable) return;
  mirrorWorks.set(id, { name: 'link', link, stop, isRunning: false, done: undefined });
}

function resultOf(done: MirrorOutcome, { output }: Observation): ActionResult {
  switch (done.kind) {
    case 'looked':
      return { ...done, kind: 'mirror-looked' };
    case 'copied': {
      const link = output.kind === 'ours' ? output.published?.link : undefined;
      return { kind: 'mirror-copied', ref: done.ref, link };
    }
    case 'failed':
      return { kind: 'mirror-failed', failure: done.failure };
    default:
      return done satisfies never;
  }
}

function begin(
  key: ObjectKey,
  {
    name,
    link,
    isHeavy,
    hasSearch,
  }: Pick<MirrorWork, 'name' | 'link'> & { readonly isHeavy: boolean; readonly hasSearch: boolean },
  run: (stopped: AbortSignal) => Promise<MirrorOutcome>,
  { memory, clock, settings, wake }: ActionContext,
): void {
  const id = resourceId(key);
  const stop = new AbortController();
  const stopped = AbortSignal.any([memory.signal, stop.signal]);
  const work: MirrorWork = { name, link, stop, isRunning: true, done: undefined };
  memory.mirrorWorks.set(id, work);
  // Looks have a queue of their own; only a copy needs the memory and the disk of an inspection.
  const inSlot = async (): Promise<MirrorOutcome | undefined> => {
    if (!isHeavy) return run(clock.deadline(settings.inspectTimeoutMs, stopped));
    const slot = await memory.slots.take(`${id} mirror`, stopped, hasSearch).catch(() => undefined);
    if (slot === undefined) return undefined;
    try {
      return await run(clock.deadline(settings.inspectTimeoutMs, stopped));
    } finally {
      slot.release();
    }
  };
  void inSlot().then((done) => {
    if (stopped.aborted || memory.mirrorWorks.get(id) !== work) return;
    memory.mirrorWorks.set(id, { ...work, isRunning: false, done });
    wake(key);
  });
}

/** Never rejects. */
async function run(
  { work, mirror, active, digest }: MirrorTask,
  place: MirrorPlace,
  link: RememberedLink | undefined,
  observation: Observation,
  { mirrors }: ActionContext,
  signal: AbortSignal,
): Promise<MirrorOutcome> {
  try {
    if (work === 'look') {
      const known = (observation.status.unlistedCopies ?? []).map((copy) => copy.digest);
      const listed = listedDigests(observation.status);
      const retention = { listed, expired: expiredDigests(observation), known };
      const looked = await mirrors.look(place, { ref: active.ref ?? '', digest }, retention, signal);
      return { kind: 'looked', ...looked };
    }
    if (link === undefined) throw new TypeError('no link');
    const { compression } = mirror;
    const order = { place, compression, isRequired: true, versionStamp: active.version.slice(0, 15) };
    const { repair } = active;
    const { copy } = await mirrors.copy(link.url, { ...order, repair, expectedDigest: digest }, signal);
    return copy.kind === 'copied'
      ? { kind: 'copied', ref: copy.ref }
      : { kind: 'failed', failure: copy.failure, isLinkUsable: true };
  } catch (error) {
    // Of the archive behind the link, or of a look.
    const failure = copyFailure(error);
    const isOfRules = failure.code === 'ContentChanged' && isOfOtherRules(active, observation);
    return {
      ...{ kind: 'failed', isLinkUsable: false },
      failure: isOfRules ? { ...failure, ...rulesChanged(active) } : failure,
    };
  }
}

const rulesChanged = (active: MirrorTask['active']) => ({
  code: 'RulesChanged',
  message: `Version ${active.version} was made by ${recordedRevision(active) ?? 'no step'}.`,
});

/** Of a mirror, or of the archive that was to be copied. */
export function copyFailure(error: unknown): PublishableFailure {
  const failure = publishableFailure(error);
  return failure.code === 'DigestMismatch' ? { ...failure, code: 'ContentChanged' } : failure;
}
