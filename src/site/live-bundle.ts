// A bundle while it is served: its routes, its pack, and who still reads from it.
// Invariant: the pack stays open until the bundle is retired and the last request under way has let go.

import type { StoredBundle } from '../bundle/stored-bundle.ts';
import { buildRouteTable, type RouteTable } from './route-table.ts';

export interface LiveBundle {
  readonly digest: string;
  readonly stored: StoredBundle;
  readonly routes: RouteTable;
  /** Every hold is followed by exactly one release. */
  hold(): void;
  release(): void;
  /** Closes the pack as soon as nobody holds it, and resolves then. Idempotent. */
  retire(): Promise<void>;
}

/** Takes over the stored bundle: closing it is this one's business from here on. */
export function goLive(stored: StoredBundle): LiveBundle {
  let holders = 0;
  let isRetired = false;
  const { promise: idle, resolve: letClose } = Promise.withResolvers<void>();
  // A failing close leaves nothing that could be done better by failing somewhere else.
  const closed = idle.then(() => stored.close()).catch(() => {});
  return {
    digest: stored.index.digest,
    stored,
    routes: buildRouteTable(stored.index),
    hold: () => {
      holders += 1;
    },
    release: () => {
      holders -= 1;
      if (isRetired && holders === 0) letClose();
    },
    retire: () => {
      isRetired = true;
      if (holders === 0) letClose();
      return closed;
    },
  };
}
