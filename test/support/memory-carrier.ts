// A carrier of bundles in memory, with the rules that registries and buckets share, and with faults that a test sets.

import { hash } from 'node:crypto';
import type { Carrier, Descriptor } from '#mirror/carrier.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';

export interface MemoryCarrier extends Carrier {
  readonly blobs: Map<string, Buffer>;
  /** Bytes of the manifest by tag. */
  readonly tags: Map<string, Buffer>;
  /** Calls in order, for example `writeBlob` or `writeManifest`. */
  readonly calls: string[];
  /** Called before each call takes effect; what it throws is the call's error. */
  beforeCall: (call: string) => void;
}

export function createMemoryCarrier(name = 'oci://registry.example.com/docs'): MemoryCarrier {
  const blobs = new Map<string, Buffer>();
  const tags = new Map<string, Buffer>();
  const calls: string[] = [];
  const begin = (call: string): void => {
    calls.push(call);
    carrier.beforeCall(call);
  };
  const digestOf = (bytes: Buffer): string => `sha256:${hash('sha256', bytes, 'hex')}`;
  const carrier: MemoryCarrier = {
    name,
    blobs,
    tags,
    calls,
    beforeCall: () => {},
    readManifest: async (reference) => {
      begin('readManifest');
      if (!reference.startsWith('sha256:')) return tags.get(reference);
      return [...tags.values()].find((bytes) => digestOf(bytes) === reference);
    },
    readBlob: async function* (blob) {
      begin('readBlob');
      const bytes = blobs.get(blob.digest);
      if (bytes === undefined) throw new PublishableError('BlobMissing', 'A blob is missing. Copy it again.');
      for (let at = 0; at < bytes.length; at += 1024) yield bytes.subarray(at, at + 1024);
      if (digestOf(bytes) !== blob.digest)
        throw new PublishableError('BlobDamaged', 'A blob is damaged. Remove it.');
    },
    hasBlob: async ({ digest }) => {
      begin('hasBlob');
      return blobs.has(digest);
    },
    writeBlob: async (blob: Descriptor, open) => {
      begin('writeBlob');
      if (blobs.has(blob.digest)) return;
      const chunks: Uint8Array[] = [];
      for await (const chunk of open()) chunks.push(chunk);
      const bytes = Buffer.concat(chunks);
      if (digestOf(bytes) !== blob.digest || bytes.length !== blob.size) {
        throw new PublishableError('BlobDamaged', 'The written bytes are others than were announced. Retry.');
      }
      blobs.set(blob.digest, bytes);
    },
    writeManifest: async (tag, _mediaType, manifest) => {
      begin('writeManifest');
      const known = tags.get(tag);
      if (known !== undefined && !known.equals(manifest)) {
        throw new PublishableError('TagOccupied', 'The tag names other content. Remove it.');
      }
      tags.set(tag, Buffer.from(manifest));
    },
    listTags: async () => {
      begin('listTags');
      return [...tags.keys()].sort();
    },
    removeTag: async (tag) => {
      begin('removeTag');
      tags.delete(tag);
    },
    close: async () => {},
  };
  return carrier;
}
