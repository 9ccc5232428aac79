// Bytes that are written once and read once, kept in a file without a name, because registries, buckets and kits take a
// blob of known size. Invariant: the file's space is free when the spool is closed, or when the process ends.

import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { openNamelessFile } from '#bundle/store/nameless-file.ts';
import { storeFault, storeFullCode } from '#bundle/store/store-fault.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import type { OpenBytes } from './carrier.ts';
import type { MirrorError } from './mirror-error.ts';

export interface Spool {
  /** `sha256:` and 64 hex digits. */
  readonly digest: string;
  readonly size: number;
  readonly open: OpenBytes;
  close(): Promise<void>;
}

/**
 * @param path of the spool file, which has this name for a moment only
 * @throws {MirrorError} `SpoolFull`; {PublishableError} `StoreUnavailable`; what the bytes throw
 */
export async function spoolBytes(bytes: AsyncIterable<Uint8Array>, path: string): Promise<Spool> {
  const file = await openNamelessFile(path).catch((error: unknown) => {
    throw spoolFault(error);
  });
  try {
    const { digest, size } = await write(file, bytes);
    return { digest, size, open: () => readAll(file, size), close: () => file.close() };
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function write(
  file: FileHandle,
  bytes: AsyncIterable<Uint8Array>,
): Promise<{ readonly digest: string; readonly size: number }> {
  const whole = createHash('sha256');
  let size = 0;
  for await (const chunk of bytes) {
    whole.update(chunk);
    size += chunk.length;
    await file.appendFile(chunk).catch((error: unknown) => {
      throw spoolFault(error);
    });
  }
  return { digest: `sha256:${whole.digest('hex')}`, size };
}

const pieceBytes = 256 * 1024;

async function* readAll(file: FileHandle, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < size; ) {
    const piece = Buffer.allocUnsafe(Math.min(pieceBytes, size - at));
    const { bytesRead } = await file.read(piece, 0, piece.length, at);
    if (bytesRead === 0) throw new Error('the spooled bytes became fewer');
    at += bytesRead;
    yield piece.subarray(0, bytesRead);
  }
}

function spoolFault(error: unknown): unknown {
  const fault = error instanceof PublishableError ? error : storeFault(error);
  return fault.code === storeFullCode ? spoolFull(error) : fault;
}

export const spoolFull = (cause: unknown): MirrorError =>
  new PublishableError(
    'SpoolFull',
    'The disk has no room for a copy of the bundle. Give the work volume more.',
    { kind: 'retry', cause },
  );
