// Reads a tar into an assembly: first the guard, then the parser, entry by entry. Invariant: reading always ends. Each
// entry is drained, and each wait also ends when the parser fails. At the end the parser has delivered as many whole
// entries as the guard saw.

import { type Extract, extract } from 'tar-stream';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { type Bytes, letGo } from '../byte-stream.ts';
import type { BundleLimits } from '../limits.ts';
import { refusal } from '../refusal.ts';
import type { Assembly } from './assembly.ts';
import { createTarGuard, type TarGuard } from './tar-guard.ts';

/** @throws {PublishableError} rejected, or what the bytes' own source threw */
export async function readTar(bytes: Bytes, assembly: Assembly, limits: BundleLimits): Promise<void> {
  const guard = createTarGuard(limits);
  const parser = extract();
  const orFailure = watchFailure(parser);
  takeEntries(parser, guard, assembly);
  const iterator = bytes[Symbol.asyncIterator]();
  try {
    // A refusal may come while the next chunk is still awaited, from a storage that has gone silent.
    const next = (): Promise<IteratorResult<Buffer>> => orFailure(iterator.next());
    for (let chunk = await next(); chunk.done !== true; chunk = await next()) {
      guard.feed(chunk.value);
      await orFailure(handOver(parser, chunk.value));
    }
    guard.finish();
    await orFailure(endOf(parser));
  } finally {
    letGo(iterator);
    parser.destroy();
  }
  if (guard.unconfirmed > 0) throw refusal('InvalidTarHeader');
}

/**
 * Ends one wait at a time when the parser fails. Racing against one long-lived promise would leak memory, because that
 * promise remembers every race, and with it every chunk of the archive.
 */
function watchFailure(parser: Extract): <T>(work: Promise<T>) => Promise<T> {
  let failure: PublishableError | undefined;
  let endWait: (error: PublishableError) => void = () => {};
  parser.on('error', (error) => {
    failure = parserFault(error);
    endWait(failure);
  });
  return (work) =>
    new Promise((resolve, reject) => {
      endWait = reject;
      work.then(resolve, reject);
      if (failure !== undefined) reject(failure);
    });
}

function endOf(parser: Extract): Promise<void> {
  return new Promise((resolve) => {
    parser.on('close', () => resolve());
    parser.end(null);
  });
}

function handOver(parser: Extract, chunk: Buffer): Promise<void> {
  if (parser.write(chunk)) return Promise.resolve();
  return new Promise((resolve) => {
    parser.once('drain', () => resolve());
  });
}

function takeEntries(parser: Extract, guard: TarGuard, assembly: Assembly): void {
  parser.on('entry', (header, stream, next) => {
    const attempt = (work: () => void): void => {
      try {
        work();
      } catch (error) {
        parser.destroy(error instanceof Error ? error : undefined);
      }
    };
    stream.on('error', () => {}); // the parser reports it as its own
    attempt(() => {
      const { name, size } = header;
      const { kind, isNameCut } = guard.confirm({ name, size, headerOffset: stream.offset });
      const file = kind === 'file' ? assembly.beginFile(name, size) : undefined;
      if (kind === 'folder') assembly.passFolder(name);
      if (kind === 'link') assembly.linkFile(name, header.linkname ?? '');
      if (isNameCut && kind !== 'folder') assembly.noteCutName(name);
      stream.on('data', (chunk) => {
        if (chunk instanceof Uint8Array) attempt(() => file?.write(chunk));
      });
      stream.on('end', () =>
        attempt(() => {
          file?.end();
          next();
        }),
      );
    });
  });
}

function parserFault(error: unknown): PublishableError {
  return error instanceof PublishableError ? error : refusal('InvalidTarHeader', { cause: error });
}
