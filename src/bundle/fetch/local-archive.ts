// Reads the archive's bytes from a `file:` link, only where the caller allows it. A tenant's text could otherwise open
// any file of this machine. The size is bounded; no error holds the path.

import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Link } from '#platform/wire/link.ts';
import { PublishableError, publishableCode } from '#platform/wire/publishable-error.ts';
import type { BundleLimits } from '../limits.ts';
import { oddAnswer, refusal } from '../refusal.ts';

export interface LocalArchiveOptions {
  readonly limits: Pick<BundleLimits, 'maxArchiveBytes'>;
  readonly allowFileLinks: boolean;
  /** Receives the archive's size before any byte is read; throws if it is too large. */
  readonly admit?: ((archiveBytes: number) => Promise<void>) | undefined;
}

const chunkBytes = 1024 * 1024;

/** @throws {PublishableError} `FileLink`, `ArchiveTooLarge`, `FileUnreadable`, `FileIsFolder`; what `admit` throws */
export async function* readLocalArchive(link: Link, options: LocalArchiveOptions): AsyncGenerator<Buffer> {
  if (!options.allowFileLinks) throw refusal('FileLink');
  try {
    const path = fileURLToPath(link.reveal());
    const found = await stat(path);
    if (found.isDirectory()) throw folderRefusal();
    if (!found.isFile()) throw oddAnswer('UnknownArchiveType');
    await options.admit?.(found.size);
    let received = 0;
    for await (const chunk of createReadStream(path, { highWaterMark: chunkBytes })) {
      if (!(chunk instanceof Buffer)) continue;
      received += chunk.length;
      if (received > options.limits.maxArchiveBytes) throw refusal('ArchiveTooLarge');
      yield chunk;
    }
  } catch (error) {
    if (error instanceof PublishableError) throw error;
    const message = `the file of the link does not exist or cannot be read (${publishableCode(error)}); check its path and its mount`;
    throw new PublishableError('FileUnreadable', message, { kind: 'retry', cause: error });
  }
}

function folderRefusal(): PublishableError {
  const message = 'the file of the link is a folder; name the archive in it, or pack the folder';
  return new PublishableError('FileIsFolder', message, { kind: 'retry' });
}

/** What another reading of the disk may change: reading costs little, so a caller may poll. */
export const isFileMissing = (error: unknown): boolean =>
  error instanceof PublishableError && (error.code === 'FileUnreadable' || error.code === 'FileIsFolder');
