// Removes a tag of a bucket and the blobs that it alone names, for one client at a time. Refuses to delete what it cannot
// judge: another tag without a readable manifest stops it. Invariant: a removal holds the lock before it lists the tags,
// and a writer looks for the lock after its tag is there, so that one of the two sees the other.

import type { Bucket } from '#mirror/s3/bucket.ts';
import type { Clock } from '#platform/runtime/clock.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import type { BucketReader } from './bucket-reader.ts';
import { type BucketTree, blobsOfManifest, descriptorText, digestsIn, tagOfKey } from './bucket-tree.ts';
import { writeSmall } from './small-object.ts';

/** A process that ends while it removes leaves its lock. Others ignore it when it is older. */
const lockedForMs = 10 * 60_000;
/** After this a removal deletes nothing more. Clocks may differ by the rest. */
const removesForMs = lockedForMs / 2;

export interface RemovalContext {
  /** Of `mirrorBucket`. */
  readonly bucket: Bucket;
  readonly tree: BucketTree;
  readonly reader: BucketReader;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
}

/**
 * Removes the tag, and finishes removals that broke off. Absent is done.
 *
 * @throws {MirrorError} `Unreachable`, temporary, while another client removes
 */
export async function removeTag(context: RemovalContext, tag: string, signal: AbortSignal): Promise<void> {
  const { bucket, tree, reader, clock } = context;
  const key = tree.bundleKey(tag);
  const deadline = clock.monotonic() + removesForMs;
  await lock(context, signal);
  try {
    const descriptor = await reader.readDescriptor(key, signal).catch(ignoreDamage);
    if (descriptor !== undefined) {
      await writeSmall(bucket, tree.removalKey(tag), descriptorText(descriptor), signal, { replaces: true });
    }
    await bucket.delete(key, signal);
    for (const broken of await listRemovals(context, signal)) await finish(context, broken, deadline, signal);
  } finally {
    // Otherwise it may be another client's by now.
    if (clock.monotonic() < deadline) await bucket.delete(tree.lockKey, signal).catch(() => {});
  }
}

/** @throws {MirrorError} `Unreachable`, temporary, while another client removes blobs */
export async function refuseDuringRemoval(
  { bucket, tree, clock }: Omit<RemovalContext, 'reader'>,
  signal: AbortSignal,
): Promise<void> {
  const held = await bucket.head(tree.lockKey, signal);
  if (held === undefined || clock.now() - held.modifiedAt >= lockedForMs) return;
  throw new PublishableError(
    'Unreachable',
    `Another client is removing a tag of ${tree.name}, which takes 10 minutes at most.`,
    { kind: 'retry' },
  );
}

async function lock(context: RemovalContext, signal: AbortSignal): Promise<void> {
  const { bucket, tree } = context;
  const text = '{}\n';
  if ((await writeSmall(bucket, tree.lockKey, text, signal)) === 'written') return;
  await refuseDuringRemoval(context, signal);
  await writeSmall(bucket, tree.lockKey, text, signal, { replaces: true });
}

/** What is damaged names no blobs, and must not stay for ever. */
function ignoreDamage(error: unknown): undefined {
  if (error instanceof PublishableError && /^(?:NotABundle|BlobDamaged)$/.test(error.code)) return undefined;
  throw error;
}

async function listRemovals(
  { bucket, tree }: RemovalContext,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const tags: string[] = [];
  for await (const { key } of bucket.list(tree.removalsPrefix, signal)) {
    const tag = tagOfKey(key, tree.removalsPrefix);
    if (tag !== undefined) tags.push(tag);
  }
  return tags;
}

async function finish(
  { bucket, tree, reader, clock }: RemovalContext,
  tag: string,
  deadline: number,
  signal: AbortSignal,
): Promise<void> {
  const key = tree.removalKey(tag);
  const descriptor = await reader.readDescriptor(key, signal).catch(ignoreDamage);
  const unnamed = descriptor === undefined ? [] : await findUnnamed(reader, descriptor.digest, signal);
  for (const digest of unnamed) {
    if (clock.monotonic() > deadline) {
      throw new PublishableError('Unreachable', `Removing a tag of ${tree.name} takes too long.`, {
        kind: 'retry',
      });
    }
    await bucket.delete(tree.blobKey(digest), signal);
  }
  await bucket.delete(key, signal);
}

/** @returns blobs of the manifest that no tag names; itself last, because a later attempt finds the others by it */
async function findUnnamed(
  reader: BucketReader,
  digest: string,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const manifest = await reader.readManifest(digest, signal).catch(ignoreDamage);
  const blobs = manifest === undefined ? [] : blobsOfManifest(manifest);
  const unnamed = new Set([...blobs.map((blob) => blob.digest), digest]);
  for (const tag of await reader.listTags(signal)) {
    const named = await reader.readTagged(tag, signal);
    if (named === undefined) continue;
    unnamed.delete(named.descriptor.digest);
    for (const one of digestsIn(named.manifest)) unnamed.delete(one);
  }
  return unnamed;
}
