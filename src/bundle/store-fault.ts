// What a failing disk means, in our words. Every file operation of the store and of a preparation that may
// fail for want of room or rights ends here. Invariant: transient always; the content is not at fault.

import { publishableCode } from '../wire/publishable-error.ts';
import { BundleError } from './bundle-error.ts';

const fullCodes: readonly string[] = ['ENOSPC', 'EDQUOT', 'EFBIG'];

/** What a failing disk means: `StoreFull` or `StoreUnavailable`, both transient. */
export function storeFault(cause: unknown): BundleError {
  const code = publishableCode(cause);
  return fullCodes.includes(code)
    ? new BundleError(
        'transient',
        'StoreFull',
        'the store has no room for the bundle; give its volume more',
        {
          cause,
        },
      )
    : new BundleError(
        'transient',
        'StoreUnavailable',
        `the store cannot be read or written (${code}); check its volume and its rights`,
        { cause },
      );
}
