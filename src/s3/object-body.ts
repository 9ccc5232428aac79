// Bodies of objects on their way: the source of what is written, with its own errors kept apart, and the stream of what is
// read, with errors as faults. Invariant: no stream is left without a listener, because its error would end the process.

import { Readable } from 'node:stream';
import type { PutObjectCommand } from '@aws-sdk/client-s3';
import type { NewObject } from './bucket.ts';
import { connectionFault } from './library-fault.ts';

/** What the source of a body threw, apart from errors of the connection. */
export class SourceFailure extends Error {}

export interface WatchedSource {
  readonly body: Readable;
  readonly failure: SourceFailure | undefined;
}

export function watchSource(open: NewObject['open']): WatchedSource {
  let failure: SourceFailure | undefined;
  async function* bytes(): AsyncGenerator<Uint8Array> {
    const source = open()[Symbol.asyncIterator]();
    let isOpen = true;
    try {
      for (;;) {
        const next = await source.next().catch((cause: unknown) => {
          isOpen = false;
          failure = new SourceFailure('the source of a body failed', { cause });
          throw failure;
        });
        isOpen = next.done !== true;
        if (next.done === true) return;
        // The stream throws errors of the connection into this line. They are not the source's.
        yield next.value;
      }
    } finally {
      if (isOpen) await source.return?.();
    }
  }
  const body = Readable.from(bytes(), { objectMode: false }).on('error', () => {});
  return {
    body,
    get failure() {
      return failure;
    },
  };
}

/** The library signs `UNSIGNED-PAYLOAD` for a stream, unless the hash is there already. */
export function signContent(command: PutObjectCommand, sha256: string): void {
  command.middlewareStack.add(
    (next) => (args) => {
      const { request } = args;
      if (!hasHeaders(request)) throw new TypeError('the S3 library gave no request');
      request.headers['x-amz-content-sha256'] = sha256;
      return next(args);
    },
    { step: 'build', name: 'signContent' },
  );
}

const hasHeaders = (request: unknown): request is { readonly headers: Record<string, string> } =>
  typeof request === 'object' &&
  request !== null &&
  'headers' in request &&
  typeof request.headers === 'object';

/** Must be read to its end, or left early; until then it holds a connection. */
export async function* readBody(
  body: Readable,
  asked: { readonly bucket: string; readonly host: string },
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of body) yield Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk);
  } catch (error) {
    signal.throwIfAborted();
    throw connectionFault(asked, error);
  }
}
