// A bucket in memory, for tests of what is stored in buckets: the same conditional writes and listing as S3, every call in
// a log, and a hook before each call that may wait, fail, or change what is stored. It checks size and SHA-256 as S3 does.

import { createHash } from 'node:crypto';
import type { Bucket, NewObject } from '#mirror/s3/bucket.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import type { VirtualClock } from './virtual-clock.ts';

export interface MemoryBucket extends Bucket {
  /** Content by key. Tests read and change it. */
  readonly objects: Map<string, StoredBytes>;
  /** Such as `put bundles/v1.json`, in order. */
  readonly calls: string[];
  /** Runs before each call. */
  before: (call: string) => Promise<void> | void;
  /** The text of an object. */
  text(key: string): string | undefined;
  keys(): readonly string[];
}

export interface StoredBytes {
  readonly bytes: Buffer;
  readonly modifiedAt: number;
}

const piece = 1000;

export function memoryBucket(clock: Pick<VirtualClock, 'now'>, name = 'docs'): MemoryBucket {
  const objects = new Map<string, StoredBytes>();
  const calls: string[] = [];
  const enter = async (call: string, signal: AbortSignal): Promise<void> => {
    signal.throwIfAborted();
    calls.push(call);
    await bucket.before(call);
  };
  const write = async ({ key, size, sha256, open, replaces = false }: NewObject) => {
    if (objects.has(key) && !replaces) return 'exists' as const;
    const bytes = Buffer.concat(await Array.fromAsync(open()));
    const actual = createHash('sha256').update(bytes).digest('hex');
    if (bytes.length !== size || actual !== sha256) {
      throw new PublishableError('ContentRefused', 'The bytes that arrived are not those announced.');
    }
    objects.set(key, { bytes, modifiedAt: clock.now() });
    return 'written' as const;
  };
  const bucket: MemoryBucket = {
    name,
    objects,
    calls,
    before: () => {},
    text: (key) => objects.get(key)?.bytes.toString('utf8'),
    keys: () => [...objects.keys()].sort(),
    head: async (key, signal) => {
      await enter(`head ${key}`, signal);
      const stored = objects.get(key);
      return stored === undefined ? undefined : { size: stored.bytes.length, modifiedAt: stored.modifiedAt };
    },
    get: async (key, signal) => {
      await enter(`get ${key}`, signal);
      const stored = objects.get(key);
      return stored === undefined ? undefined : pieces(stored.bytes);
    },
    put: async (object, signal) => {
      await enter(`put ${object.key}`, signal);
      return await write(object);
    },
    list: async function* (prefix, signal) {
      await enter(`list ${prefix}`, signal);
      const found = [...objects].filter(([key]) => key.startsWith(prefix));
      for (const [key, { bytes, modifiedAt }] of found) yield { key, size: bytes.length, modifiedAt };
    },
    delete: async (key, signal) => {
      await enter(`delete ${key}`, signal);
      objects.delete(key);
    },
    close: async () => {
      calls.push('close');
    },
  };
  return bucket;
}

async function* pieces(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += piece) yield bytes.subarray(at, at + piece);
}
