// The library that drives a browser: playwright-core, which the user installs next to this program. Refuses to load it before a
// browser is asked for: it takes seconds, and 50 MB of memory.

import { publishableCode } from '#platform/wire/publishable-error.ts';
import { libraryMissing } from './browser-fault.ts';

export type BrowserLibrary = Pick<typeof import('playwright-core'), 'chromium'>;

/** Before work that takes long. @throws {PublishableError} `BrowserLibraryMissing` */
export function requireBrowserLibrary(): void {
  try {
    import.meta.resolve('playwright-core');
  } catch (cause) {
    throw libraryMissing(cause);
  }
}

/** @throws {PublishableError} `BrowserLibraryMissing` */
export async function loadBrowserLibrary(): Promise<BrowserLibrary> {
  try {
    return await import('playwright-core');
  } catch (cause) {
    throw publishableCode(cause) === 'ERR_MODULE_NOT_FOUND' ? libraryMissing(cause) : cause;
  }
}
