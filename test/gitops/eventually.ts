// Waiting in a cluster where other controllers work too: whole chains of reconciles, on a machine that they keep busy. So
// the limit is long, and a look, which starts kubectl, comes rarely. It says nothing about how fast anything is.

import { eventually as eventuallyWithin } from '../support/eventually.ts';

/** Long enough for three of the operator's checks that come once a minute. */
export const patienceMs = 180_000;

/** As the `eventually` of all tests, with a longer limit. */
export const eventually: typeof eventuallyWithin = (what, look, options) =>
  eventuallyWithin(what, look, { timeoutMs: patienceMs, everyMs: 250, ...options });
