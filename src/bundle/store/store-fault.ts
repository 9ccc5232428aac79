// Explains a failing disk. Every file operation of the store and of a preparation that may fail for lack of space or
// permissions ends here. Invariant: always transient; the content is not the cause.

import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { PublishableError, publishableCode } from '#platform/wire/publishable-error.ts';

const fullCodes: readonly string[] = ['ENOSPC', 'EDQUOT', 'EFBIG'];

/** A write that failed, as far as it is known. */
export interface FailedWrite {
  /** The file that was written. */
  readonly path: string;
  /** Written to it before. */
  readonly writtenBytes: number;
}

/**
 * What a failing disk means: `StoreFull` or `StoreUnavailable`, both transient.
 *
 * @param write only in a thread: the free space of its disk is read at once
 */
export function storeFault(cause: unknown, write?: FailedWrite): PublishableError {
  const code = publishableCode(cause);
  return fullCodes.includes(code)
    ? storeFull(write && roomAfter(write, code), cause)
    : new PublishableError(
        storeUnavailableCode,
        `the store cannot be read or written (${code}); check its volume and permissions`,
        { kind: 'retry', cause },
      );
}

/** Names the path where a folder cannot be made: it was given, and holds no secret. @throws always */
export function rethrowFolderFault(folder: string, cause: unknown): never {
  const code = publishableCode(cause);
  if (code !== 'ENOTDIR' && code !== 'EEXIST') throw cause;
  const message = `the store ${folder} is a file or lies below a file (${code}), and must be a folder; name a folder with --store`;
  throw new PublishableError(storeUnavailableCode, message, { kind: 'retry', cause });
}

/** Turns the disk's errors into BundleErrors. */
export async function inStore<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof PublishableError ? error : storeFault(error);
  }
}

/** What is missing, and where. */
export interface MissingRoom {
  readonly folder: string;
  /** At least. */
  readonly neededBytes: number;
  readonly freeBytes: number | undefined;
  /** Whether free space alone decides: a quota or the largest size of a file may refuse earlier. */
  readonly isJudgedByFree: boolean;
}

/** Found out by writing, or by asking before the archive is fetched. */
export function storeFull(room?: MissingRoom, cause?: unknown): PublishableError {
  if (room === undefined) {
    const path = cause instanceof Error && 'path' in cause ? cause.path : undefined;
    const where = typeof path === 'string' ? `disk of ${storeOf(path)}` : "store's disk";
    const message = `The ${where} has no room for the bundle. Free space, or enlarge the volume`;
    return new PublishableError(storeFullCode, message, { kind: 'retry', cause });
  }
  const { folder, neededBytes, freeBytes, isJudgedByFree } = room;
  const needed = `the bundle needs at least ${roundSize(neededBytes)}`;
  const free =
    freeBytes === undefined ? '' : `, and ${roundSize(freeBytes)} ${isJudgedByFree ? 'are' : 'seem'} free`;
  const message = `The disk of ${folder} has no room: ${needed}${free}. Free space, or enlarge the volume`;
  return new PublishableError(
    storeFullCode,
    message,
    isJudgedByFree ? { kind: 'wait', neededBytes, cause } : { kind: 'retry', cause },
  );
}

/** The next block did not fit after those that were written, which are removed by then. */
function roomAfter({ path, writtenBytes }: FailedWrite, code: string): MissingRoom {
  const freeBytes = freeBytesNow(dirname(path));
  const neededBytes = writtenBytes + (freeBytes ?? 0) + blockBytes;
  return { folder: storeOf(path), neededBytes, freeBytes, isJudgedByFree: code === 'ENOSPC' };
}

/** The folder that a person knows: work folders in it come and go. */
function storeOf(path: string): string {
  const at = path.indexOf('/.incoming-');
  return at === -1 ? dirname(path) : path.slice(0, at);
}

function freeBytesNow(folder: string): number | undefined {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return undefined;
  }
}

const blockBytes = 1024 * 1024;

function roundSize(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  return `${Number((bytes / 1024 ** power).toFixed(1))} ${units[power]}`;
}

export const storeFullCode = 'StoreFull';
export const storeUnavailableCode = 'StoreUnavailable';
