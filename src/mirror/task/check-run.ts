// The thread's side of later checks: a copy is read whole, or only looked for, and expired copies are removed. Refuses to remove
// what another resource wrote or this project did not. Invariant: nothing is removed where the place had no record of its
// owner before.

import { join } from 'node:path';
import { type ProgressContext, throttleProgress } from '#bundle/bundle-task.ts';
import { createCountingSink } from '#bundle/store/pack.ts';
import type { Clock } from '#platform/runtime/clock.ts';
import { PublishableError, publishableFailure } from '#platform/wire/publishable-error.ts';
import type { BlobReader, Carrier } from '../carrier.ts';
import type { MirrorError } from '../mirror-error.ts';
import { findImage, readImage } from '../mirrored-content.ts';
import type { Inspected, LookAnswer, LookTask, VerifyTask } from './mirror-task.ts';
import { copyLimits, findName } from './opened-mirror.ts';
import { claimPlace, findOwner } from './owner-record.ts';

/** @throws {MirrorError} {PublishableError} */
export async function runVerify(
  { ref, digest, limits, workDir }: VerifyTask,
  carrier: BlobReader,
  context: ProgressContext,
  signal: AbortSignal,
): Promise<Inspected> {
  const named = findName(ref, carrier);
  const image = named === undefined ? undefined : await findImage(carrier, digest, named, signal);
  if (image === undefined) throw missing(carrier, digest);
  const report = throttleProgress(context);
  const sink = {
    limits: copyLimits(limits),
    pack: createCountingSink(),
    spoolPath: join(workDir, 'spool'),
    onProgress: (receivedBytes: number, files: number): void => report({ receivedBytes, files }),
  };
  const { pages, sizeBytes, notes } = await readImage(carrier, image, sink, signal);
  return { digest, pages, sizeBytes, notes };
}

const missing = ({ name }: BlobReader, digest: string): MirrorError =>
  new PublishableError('BlobMissing', `${name} has no copy of bundle ${digest}. Copy it again.`);

/** @throws {MirrorError} */
export async function runPresenceCheck(
  task: LookTask,
  carrier: Carrier,
  { clock }: Pick<ProgressContext, 'clock'>,
  signal: AbortSignal,
): Promise<LookAnswer> {
  const { owner, isExclusive } = task.place;
  const isOwned = (await findOwner(carrier, owner, signal)) !== undefined;
  const tidied = isExclusive
    ? await tidy(task, isOwned, carrier, clock, signal)
    : { unlisted: [], retentionFailure: undefined };
  return { isThere: await isThere(task, carrier, signal), ...tidied };
}

async function isThere({ ref, digest }: LookTask, carrier: Carrier, signal: AbortSignal): Promise<boolean> {
  const named = findName(ref, carrier);
  if (named === undefined) return false;
  try {
    const image = await findImage(carrier, digest, named, signal);
    return (
      image !== undefined &&
      (await carrier.hasBlob(image.layer, signal)) &&
      (await carrier.hasBlob(image.config, signal))
    );
  } catch (error) {
    // A bucket's descriptor whose manifest is gone.
    if (error instanceof PublishableError && error.code === 'BlobMissing') return false;
    throw error;
  }
}

/** A person who reads status needs a few; the next look removes more. */
const mostUnlisted = 64;
/** In a bucket each removal reads the manifests of all tags. */
const mostRemovals = 16;
/** No removal begins later. Other namespaces wait for this thread. */
const tidiesForMs = 60_000;
const isBundleTag = (tag: string): boolean => /^[0-9a-f]{64}$/.test(tag);

type Tidied = Omit<LookAnswer, 'isThere'>;
/** The fault is one tag's, and says nothing about another. */
const isOfOneTag = ({ code }: MirrorError): boolean =>
  /^(?:Protected|Refused|BlobMissing|BlobDamaged)$/.test(code);

/** @param isOwned the place has the record of this owner; otherwise it is written, and nothing is removed yet */
async function tidy(
  { place, digest, listed, expired, known }: LookTask,
  isOwned: boolean,
  carrier: Carrier,
  clock: Pick<Clock, 'monotonic'>,
  signal: AbortSignal,
): Promise<Tidied> {
  const kept = new Set([...listed, digest]);
  const endsAt = clock.monotonic() + tidiesForMs;
  const removable = expired.filter((tag) => isOwned && isBundleTag(tag) && !kept.has(tag));
  let fault: MirrorError | undefined;
  let removed = 0;
  try {
    if (!isOwned) await claimPlace(carrier, place.owner, signal);
    for (const tag of removable) {
      if (removed === mostRemovals || clock.monotonic() > endsAt) break;
      const failed = await removeBundle(tag, carrier, signal);
      if (failed === undefined) removed += 1;
      fault ??= failed;
      if (failed !== undefined && !isOfOneTag(failed)) break;
    }
    const tags = await carrier.listTags(signal);
    const remembered = new Set(known);
    const [again, fresh] = [true, false].map((isKnown) =>
      tags.filter((tag) => isBundleTag(tag) && !kept.has(tag) && remembered.has(tag) === isKnown).sort(),
    );
    const unlisted = [...(again ?? []), ...(fresh ?? [])].slice(0, mostUnlisted);
    return { unlisted, retentionFailure: fault && publishableFailure(fault) };
  } catch (error) {
    if (!(error instanceof PublishableError)) throw error;
    return { unlisted: undefined, retentionFailure: publishableFailure(fault ?? error) };
  }
}

/** @returns why it is still there */
async function removeBundle(
  tag: string,
  carrier: Carrier,
  signal: AbortSignal,
): Promise<MirrorError | undefined> {
  try {
    if (await isBundle(tag, carrier, signal)) await carrier.removeTag(tag, signal);
    return undefined;
  } catch (error) {
    if (error instanceof PublishableError) return error;
    throw error;
  }
}

/** Whether the tag names a bundle of this project with that content. */
async function isBundle(tag: string, carrier: BlobReader, signal: AbortSignal): Promise<boolean> {
  try {
    return (await findImage(carrier, tag, tag, signal)) !== undefined;
  } catch (error) {
    if (error instanceof PublishableError && error.code === 'NotABundle') return false;
    throw error;
  }
}
