// A mirror in a prefix of an S3 bucket. Refuses to move a tag to other content, and to write one while blobs are being
// removed. Invariant: the descriptor of a tag is written last, after its manifest and all blobs.

import { createHash } from 'node:crypto';
import type { Bucket } from '#mirror/s3/bucket.ts';
import type { Clock } from '#platform/runtime/clock.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { BucketReader } from './bucket-reader.ts';
import { type RemovalContext, refuseDuringRemoval, removeTag } from './bucket-removal.ts';
import {
  type BucketTree,
  blobsOfManifest,
  bucketTree,
  descriptorText,
  hexOf,
  layoutText,
} from './bucket-tree.ts';
import type { Carrier, Descriptor, OpenBytes } from './carrier.ts';
import { maxManifestBytes } from './image.ts';
import { mirrorBucket } from './mirror-bucket.ts';
import { inOnePiece, writeSmall } from './small-object.ts';

export interface BucketCarrierOptions {
  /** Of `openBucket`; closed with the carrier. */
  readonly bucket: Bucket;
  /** Of `readBucketReference`. */
  readonly prefix: string;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
}

/**
 * Several clients may write and remove at the same time. A removal holds a lock, an object of 10 minutes at most, before it
 * lists the tags, and deletes only blobs that none of them names. A writer refuses to begin while there is a lock. After its
 * tag is there, it looks for the lock and for each blob again. If it finds a lock or misses a blob, it throws a temporary
 * error, and the next attempt writes what is missing.
 */
export function createBucketCarrier({ bucket, prefix, clock }: BucketCarrierOptions): Carrier {
  return new BucketCarrier(mirrorBucket(bucket), bucketTree(bucket.name, prefix), clock);
}

class BucketCarrier implements Carrier {
  readonly #bucket: Bucket;
  readonly #tree: BucketTree;
  readonly #reader: BucketReader;
  readonly #removal: RemovalContext;

  constructor(bucket: Bucket, tree: BucketTree, clock: BucketCarrierOptions['clock']) {
    this.#bucket = bucket;
    this.#tree = tree;
    this.#reader = new BucketReader(bucket, tree);
    this.#removal = { bucket, tree, reader: this.#reader, clock };
  }

  get name(): string {
    return this.#tree.name;
  }

  async readManifest(reference: string, signal: AbortSignal): Promise<Buffer | undefined> {
    if (reference.includes(':')) return await this.#reader.readManifest(reference, signal);
    return (await this.#reader.readTagged(reference, signal))?.manifest;
  }

  readBlob(blob: Descriptor, signal: AbortSignal): AsyncIterable<Buffer> {
    return this.#reader.readBlob(blob, signal);
  }

  async hasBlob(blob: Descriptor, signal: AbortSignal): Promise<boolean> {
    const stored = await this.#bucket.head(this.#tree.blobKey(blob.digest), signal);
    return stored?.size === blob.size;
  }

  async writeBlob(blob: Descriptor, open: OpenBytes, signal: AbortSignal): Promise<void> {
    const key = this.#tree.blobKey(blob.digest);
    const stored = await this.#bucket.head(key, signal);
    if (stored?.size === blob.size) return;
    const sha256 = hexOf(this.name, blob.digest);
    // One of another length is damaged, and would otherwise stay for ever.
    const replaces = stored !== undefined;
    const object = { key, size: blob.size, sha256, contentType: 'application/octet-stream', open, replaces };
    await this.#bucket.put(object, signal);
  }

  async writeManifest(tag: string, mediaType: string, manifest: Buffer, signal: AbortSignal): Promise<void> {
    // Before anything is written.
    this.#tree.bundleKey(tag);
    if (manifest.length > maxManifestBytes) {
      throw new PublishableError(
        'NotABundle',
        `The manifest for ${this.name} is larger than ${maxManifestBytes} bytes.`,
      );
    }
    const digest = `sha256:${sha256Of(manifest)}`;
    const descriptor: Descriptor = { mediaType, digest, size: manifest.length };
    await refuseDuringRemoval(this.#removal, signal);
    await this.writeBlob(descriptor, () => inOnePiece(manifest), signal);
    await writeSmall(this.#bucket, this.#tree.layoutKey, layoutText, signal);
    await this.#writeDescriptor(tag, descriptor, signal);
    await refuseDuringRemoval(this.#removal, signal);
    for (const blob of [descriptor, ...blobsOfManifest(manifest)]) {
      if (await this.hasBlob(blob, signal)) continue;
      throw new PublishableError(
        'BlobMissing',
        `Blob ${blob.digest} of tag ${tag} is missing in ${this.name}.`,
        { kind: 'retry' },
      );
    }
  }

  async #writeDescriptor(tag: string, wanted: Descriptor, signal: AbortSignal): Promise<void> {
    const key = this.#tree.bundleKey(tag);
    let stored = await this.#reader.readDescriptor(key, signal);
    if (stored === undefined) {
      if ((await writeSmall(this.#bucket, key, descriptorText(wanted), signal)) === 'written') return;
      stored = await this.#reader.readDescriptor(key, signal);
    }
    if (stored?.digest === wanted.digest) return;
    throw new PublishableError(
      'TagOccupied',
      `Tag ${tag} in ${this.name} names other content, and is not overwritten. Use another tag, or remove it first.`, // Written and removed by others at this moment.
      { kind: stored === undefined ? 'retry' : 'stall' },
    );
  }

  listTags(signal: AbortSignal): Promise<readonly string[]> {
    return this.#reader.listTags(signal);
  }

  /**
   * The tag's descriptor first, then the blobs that no other tag's manifest names. Reads the manifests of all tags. Keeps
   * every blob of which a digest occurs in another manifest.
   */
  removeTag(tag: string, signal: AbortSignal): Promise<void> {
    return removeTag(this.#removal, tag, signal);
  }

  close(): Promise<void> {
    return this.#bucket.close();
  }
}

const sha256Of = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
