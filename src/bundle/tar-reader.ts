// Reads a tar into an assembly: guard first, then the parser, entry by entry.
// Invariant: it ends. Each entry is drained, each wait also ends with the parser's failure, and at the end the
// parser has delivered as many whole entries as the guard saw.

import { type Extract, extract } from 'tar-stream';
import type { Assembly } from './assembly.ts';
import { BundleError } from './bundle-error.ts';
import type { Bytes } from './byte-stream.ts';
import type { BundleLimits } from './limits.ts';
import { refusal } from './refusal.ts';
import { createTarGuard, type TarGuard } from './tar-guard.ts';

/** @throws {BundleError} refused, or what the bytes' own source threw */
export async function readTar(bytes: Bytes, assembly: Assembly, limits: BundleLimits): Promise<void> {
  const guard = createTarGuard(limits);
  const parser = extract();
  const settled = new Promise<void>((resolve, reject) => {
    parser.on('error', (error) => reject(parserFault(error)));
    parser.on('close', () => resolve());
  });
  settled.catch(() => {}); // awaited below; until then a failure must not count as unhandled
  takeEntries(parser, guard, assembly);
  try {
    for await (const chunk of bytes) {
      guard.feed(chunk);
      await Promise.race([settled, handOver(parser, chunk)]);
    }
    guard.finish();
    parser.end(null);
    await settled;
  } finally {
    parser.destroy();
  }
  if (guard.unconfirmed > 0) throw refusal('InvalidTarHeader');
}

function handOver(parser: Extract, chunk: Buffer): Promise<void> | undefined {
  if (parser.write(chunk)) return undefined;
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
      const kind = guard.confirm({ headerOffset: stream.offset, size: header.size });
      const file = kind === 'file' ? assembly.beginFile(header.name, header.size) : undefined;
      if (kind === 'folder') assembly.passFolder(header.name);
      if (kind === 'link') assembly.linkFile(header.name, header.linkname ?? '');
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

function parserFault(error: unknown): BundleError {
  return error instanceof BundleError ? error : refusal('InvalidTarHeader', { cause: error });
}
