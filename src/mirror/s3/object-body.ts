// The body of an object that is written: its source, with the source's own errors kept apart from those of the connection.
// Invariant: no stream is left without a listener, because its error would end the process.

import { Readable } from 'node:stream';
import type { NewObject } from './bucket.ts';

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
