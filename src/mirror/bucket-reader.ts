// Reads the tree of a mirror in a bucket: descriptors, manifests and blobs, each bounded and checked against its digest.
// Refuses to hand out a manifest before its last byte is checked.

import { createHash } from 'node:crypto';
import type { Bucket } from '#mirror/s3/bucket.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { type BucketTree, hexOf, maxDescriptorBytes, readDescriptorText, tagOfKey } from './bucket-tree.ts';
import type { Descriptor } from './carrier.ts';
import { maxManifestBytes } from './image.ts';
import type { MirrorError } from './mirror-error.ts';

/** Retention keeps a few dozen; more are not a mirror. */
const mostTags = 10_000;

export interface TaggedManifest {
  readonly descriptor: Descriptor;
  readonly manifest: Buffer;
}

export class BucketReader {
  readonly #bucket: Bucket;
  readonly #tree: BucketTree;

  /** @param bucket of `mirrorBucket` */
  constructor(bucket: Bucket, tree: BucketTree) {
    this.#bucket = bucket;
    this.#tree = tree;
  }

  /** @returns `undefined` if there is no such object */
  async readDescriptor(key: string, signal: AbortSignal): Promise<Descriptor | undefined> {
    const bytes = await this.#readSmall(key, maxDescriptorBytes, signal);
    if (bytes === undefined) return undefined;
    const descriptor = readDescriptorText(bytes.toString('utf8'));
    if (descriptor !== undefined && descriptor.size <= maxManifestBytes) return descriptor;
    throw new PublishableError(
      'NotABundle',
      `Object ${key} in ${this.#tree.name} does not describe a bundle. Remove it, or use another prefix.`,
    );
  }

  /** @returns `undefined` if there is no such tag */
  async readTagged(tag: string, signal: AbortSignal): Promise<TaggedManifest | undefined> {
    const key = this.#tree.bundleKey(tag);
    const descriptor = await this.readDescriptor(key, signal);
    if (descriptor === undefined) return undefined;
    const manifest = await this.readManifest(descriptor.digest, signal);
    if (manifest !== undefined) return { descriptor, manifest };
    // Another client may have removed the tag between both reads.
    if ((await this.readDescriptor(key, signal)) === undefined) return undefined;
    throw new PublishableError(
      'BlobMissing',
      `The manifest of tag ${tag} in ${this.#tree.name} is missing. Remove the tag, and copy the bundle again.`,
    );
  }

  /** @returns `undefined` if there is none of this digest */
  async readManifest(digest: string, signal: AbortSignal): Promise<Buffer | undefined> {
    const bytes = await this.#readSmall(this.#tree.blobKey(digest), maxManifestBytes, signal);
    if (bytes === undefined) return undefined;
    const actual = createHash('sha256').update(bytes).digest('hex');
    if (actual !== hexOf(this.#tree.name, digest)) throw this.#damaged(digest);
    return bytes;
  }

  async *readBlob(blob: Descriptor, signal: AbortSignal): AsyncGenerator<Buffer> {
    const hex = hexOf(this.#tree.name, blob.digest);
    const body = await this.#bucket.get(this.#tree.blobKey(blob.digest), signal);
    if (body === undefined) {
      throw new PublishableError(
        'BlobMissing',
        `Blob ${blob.digest} is missing in ${this.#tree.name}. Copy the bundle again.`,
      );
    }
    const hash = createHash('sha256');
    let length = 0;
    for await (const chunk of body) {
      length += chunk.length;
      if (length > blob.size) throw this.#damaged(blob.digest);
      hash.update(chunk);
      yield chunk;
    }
    if (length !== blob.size || hash.digest('hex') !== hex) throw this.#damaged(blob.digest);
  }

  async listTags(signal: AbortSignal): Promise<string[]> {
    const tags: string[] = [];
    for await (const { key } of this.#bucket.list(this.#tree.bundlesPrefix, signal)) {
      const tag = tagOfKey(key, this.#tree.bundlesPrefix);
      if (tag !== undefined) tags.push(tag);
      if (tags.length > mostTags) {
        throw new PublishableError(
          'NotABundle',
          `${this.#tree.name} has more than ${mostTags} tags, too many for a mirror. Use another prefix.`,
        );
      }
    }
    return tags;
  }

  #damaged(digest: string): MirrorError {
    return new PublishableError(
      'BlobDamaged',
      `Blob ${digest} in ${this.#tree.name} does not have its SHA-256 and length. Delete the object, and copy the bundle again.`,
    );
  }

  async #readSmall(key: string, maxBytes: number, signal: AbortSignal): Promise<Buffer | undefined> {
    const body = await this.#bucket.get(key, signal);
    if (body === undefined) return undefined;
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of body) {
      length += chunk.length;
      if (length > maxBytes) {
        throw new PublishableError(
          'NotABundle',
          `Object ${key} in ${this.#tree.name} is larger than ${maxBytes} bytes. Remove it, or use another prefix.`,
        );
      }
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  }
}
