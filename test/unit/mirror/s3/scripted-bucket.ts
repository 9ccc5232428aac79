// A bucket over a scripted server on loopback, for answers that a real service gives rarely. Waits between attempts take no
// time and are recorded.

import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Bucket, BucketSettings, NewObject } from '#mirror/s3/bucket.ts';
import type { BucketFaultCode } from '#mirror/s3/bucket-fault.ts';
import { openBucket } from '#mirror/s3/open-bucket.ts';
import type { Clock } from '#platform/runtime/clock.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { type Storage, type StorageAnswer, startStorage } from '../../../support/storage-server.ts';

export const { signal } = new AbortController();
export const secretAccessKey = 'wJalrXUtnFEMI-secret';
export const sessionToken = 'FwoGZXIvYXdzE-token';
export const now = Date.parse('2026-11-25T12:00:00Z');

export interface ScriptedBucket {
  readonly bucket: Bucket;
  readonly server: Storage;
  /** Milliseconds of each wait between two attempts. */
  readonly pauses: readonly number[];
}

export function hastyClock(pauses: number[]): Clock {
  return {
    now: () => now,
    monotonic: () => 0,
    after: async (ms, abort) => {
      abort?.throwIfAborted();
      pauses.push(ms);
    },
    deadline: (_ms, parent) => parent ?? new AbortController().signal,
  };
}

export async function withScriptedBucket(
  answer: StorageAnswer,
  work: (scripted: ScriptedBucket) => Promise<void>,
  settings: Partial<BucketSettings> = {},
): Promise<void> {
  const server = await startStorage(answer);
  const pauses: number[] = [];
  const bucket = await openBucket(
    {
      bucket: 'docs',
      region: 'eu-west-1',
      endpoint: server.origin,
      pathStyle: true,
      isHttpAllowed: true,
      allowPrivateAddresses: true,
      idleTimeoutMs: 10_000,
      credentials: { kind: 'AccessKey', accessKeyId: 'AKIATEST', secretAccessKey, sessionToken },
      ...settings,
    },
    hastyClock(pauses),
  );
  try {
    await work({ bucket, server, pauses });
  } finally {
    await bucket.close();
    await server.close();
  }
}

export function sendError(
  response: ServerResponse,
  status: number,
  code: string,
  {
    words = secretAccessKey,
    fields = '',
    headers = {},
  }: { readonly words?: string; readonly fields?: string; readonly headers?: Record<string, string> } = {},
): void {
  const text = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${words}</Message>${fields}</Error>`;
  response.writeHead(status, { 'content-type': 'application/xml', ...headers }).end(text);
}

export function objectOf(text: string, change: Partial<NewObject> = {}): NewObject {
  const bytes = Buffer.from(text);
  return {
    key: 'site/blob',
    size: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    contentType: 'application/octet-stream',
    open: async function* () {
      yield bytes;
    },
    ...change,
  };
}

/** For `assert.rejects`. Also checks that nothing secret is in the error. */
export const failsWith =
  (code: BucketFaultCode, message?: RegExp, isTemporary = false) =>
  (error: unknown): boolean => {
    if (!(error instanceof PublishableError)) throw error;
    if (error.code !== code || error.isTemporary !== isTemporary) throw error;
    if (message !== undefined && !message.test(error.message)) throw error;
    for (let at: unknown = error; at instanceof Error; at = at.cause) {
      const shown = `${at.message} ${at.stack} ${JSON.stringify(at)}`;
      if (shown.includes(secretAccessKey) || shown.includes(sessionToken))
        throw new Error('a secret is shown');
    }
    return true;
  };

export async function readAll(body: AsyncIterable<Buffer> | undefined): Promise<string | undefined> {
  return body === undefined ? undefined : Buffer.concat(await Array.fromAsync(body)).toString('utf8');
}
