// Time in a page of a browser: the one file of the search element that touches the timers of the page. Owns nothing else. Refuses
// intervals: what runs again and again would keep a page busy that a reader left open.

import type { PageTimers } from './page-timers.ts';

/** An idle moment is not waited for longer. */
const longestIdleMs = 1000;
const shortWaitMs = 50;

export const browserTimers: PageTimers = {
  after: (milliseconds, run) => {
    const timer = setTimeout(run, milliseconds);
    return () => clearTimeout(timer);
  },
  whenIdle: (run) => {
    // Safari has no idle callbacks.
    if (typeof requestIdleCallback === 'function') requestIdleCallback(run, { timeout: longestIdleMs });
    else setTimeout(run, shortWaitMs);
  },
};
