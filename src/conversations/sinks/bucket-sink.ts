// Turns as objects of a bucket: one object for each commit, because an object cannot grow. Owns the names. Invariant: a
// commit that a kill repeats writes the same name again, so that an object without a commit is replaced.

import { createHash } from 'node:crypto';
import type { Bucket } from '#mirror/s3/bucket.ts';
import { printable } from '#platform/wire/printable-text.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import type { PartLedger, Sink } from '../sink.ts';
import type { LineFormat } from './line-sink.ts';

export interface BucketPlace {
  readonly bucket: Bucket;
  /** Without a slash at its end; may be empty. */
  readonly prefix: string;
}

/** An object of this size is worth a request. */
const fullLength = 4 * 1024 * 1024;

export function bucketSink(
  { bucket, prefix }: BucketPlace,
  { ending, header, lineOf }: LineFormat,
  ledger: PartLedger,
  signal: AbortSignal,
): Sink {
  let lines: string[] = [];
  let length = 0;
  const requireOwn = async (key: string): Promise<void> => {
    if (ledger.partSize(key) !== undefined) return;
    if ((await bucket.head(key, signal)) !== undefined) {
      const message = `the bucket has ${printable(key)} already, which was not written with this state; name another prefix, or the state`;
      throw new PublishableError('DestinationExists', message);
    }
    ledger.registerPart(key);
  };
  return {
    write: async (turns) => {
      for (const turn of turns) {
        const line = lineOf(turn);
        lines.push(line);
        length += line.length;
      }
    },
    isFull: () => length >= fullLength,
    flush: async () => {
      if (lines.length === 0) return new Map();
      const bytes = Buffer.from(header + lines.join(''));
      const name = `turns-${String(ledger.committedParts() + 1).padStart(10, '0')}${ending}`;
      const key = prefix === '' ? name : `${prefix}/${name}`;
      await requireOwn(key);
      await bucket.put(
        {
          key,
          size: bytes.length,
          sha256: createHash('sha256').update(bytes).digest('hex'),
          contentType: ending === '.csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson',
          open: async function* () {
            yield bytes;
          },
          replaces: true,
        },
        signal,
      );
      lines = [];
      length = 0;
      return new Map([[key, bytes.length]]);
    },
    close: () => bucket.close(),
  };
}
