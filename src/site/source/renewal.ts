// Content that the disk no longer gives: it is got anew, as if it had never been there, while the old view goes on
// answering what it still can. Refuses: doing so more often than once a minute, because each time all of the content is
// checked or fetched, and a disk that fails may go on failing.

import type { Clock } from '../../runtime/clock.ts';
import type { LiveSite, ServedVersion } from '../content/live-site.ts';

const pauseMs = 60_000;

export interface Renewal {
  /** What is served, or `undefined` where it has to be got anew. */
  readonly intact: () => ServedVersion | undefined;
  /** What has to be got anew, where it was served under this version. */
  readonly lost: (version: string | undefined) => ServedVersion | undefined;
  /** To be told of each content that was got. */
  readonly note: () => void;
}

export function watchDisk(site: LiveSite, clock: Pick<Clock, 'monotonic'>): Renewal {
  let renewedAt = Number.NEGATIVE_INFINITY;
  const isUnreadable = (): boolean => site.view()?.active.bundle.isUnreadable() ?? false;
  const isDue = (): boolean => isUnreadable() && clock.monotonic() - renewedAt >= pauseMs;
  return {
    intact: () => (isDue() ? undefined : site.view()?.active),
    lost: (version) => {
      const active = site.view()?.active;
      return version !== undefined && active?.version === version && isDue() ? active : undefined;
    },
    note: () => {
      if (isUnreadable()) renewedAt = clock.monotonic();
    },
  };
}
