// Why a site could not be opened in a browser: a stable code and a remedy. Refuses what the browser printed, which may hold paths
// of the machine.

import { PublishableError } from '#platform/wire/publishable-error.ts';

export const libraryMissing = (cause: unknown): PublishableError =>
  new PublishableError(
    'BrowserLibraryMissing',
    'the package playwright-core is not installed; run npm install playwright-core where this program is installed',
    { cause },
  );

/** @param asRoot its sandbox does not run as root */
export const browserNotStarted = (asRoot: boolean, cause?: unknown): PublishableError =>
  new PublishableError(
    'BrowserNotStarted',
    asRoot
      ? 'the browser of --verify-in-browser does not run as root with its sandbox; run as another user, or name a script that adds --no-sandbox'
      : 'the browser of --verify-in-browser did not start; check that the path is a Chromium that this user can run with --headless',
    { cause },
  );

export const browserEnded = (cause?: unknown): PublishableError =>
  new PublishableError(
    'BrowserEnded',
    'the browser of --verify-in-browser ended before all pages were opened; give it more memory',
    { cause, kind: 'retry' },
  );
