// Explains a failing disk. Every file operation of the store and of a preparation that may fail for lack of space or
// permissions ends here. Invariant: always transient; the content is not the cause.

import { publishableCode } from '../../wire/publishable-error.ts';
import { BundleError } from '../bundle-error.ts';

const fullCodes: readonly string[] = ['ENOSPC', 'EDQUOT', 'EFBIG'];

/** What a failing disk means: `StoreFull` or `StoreUnavailable`, both transient. */
export function storeFault(cause: unknown): BundleError {
  const code = publishableCode(cause);
  return fullCodes.includes(code)
    ? storeFull(cause)
    : new BundleError(
        'transient',
        'StoreUnavailable',
        `the store cannot be read or written (${code}); check its volume and permissions`,
        { cause },
      );
}

/** Turns the disk's errors into BundleErrors. */
export async function inStore<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof BundleError ? error : storeFault(error);
  }
}

/** Found out by writing, or by asking before the archive is fetched. */
export function storeFull(cause?: unknown): BundleError {
  const message = 'the store has no room for the bundle; enlarge its volume';
  return new BundleError('transient', storeFullCode, message, { cause });
}

export const storeFullCode = 'StoreFull';
