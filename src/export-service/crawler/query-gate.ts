// Which queries of a file are asked for. A query is often a stamp of the cache (`?v=1`), and sometimes another file
// (`/_next/image?url=…`). Owns the difference: some are tried, and the others only if those had different bodies. Widths of one
// picture are all asked for: those above its own have one body, and say nothing of those below. Pure.
// Invariant: what is held back is asked for as soon as two bodies of its group differ, or it is counted as not tried.

import type { BodyLink } from '#site/references/link-pool.ts';
import type { Address } from '#site/site-scope.ts';

/** A link with a query, as it came. */
export interface QueriedLink {
  readonly link: BodyLink;
  readonly depth: number;
  readonly askedBy: string | undefined;
}

export interface QueryGate {
  /** False for a link that is held back. */
  admits(queried: QueriedLink): boolean;
  /** @returns links that were held back and are asked for now that the bodies of a group differ */
  learn(address: Address, sha256: string): readonly QueriedLink[];
  /** By path. */
  notTried(): ReadonlyMap<string, number>;
}

/** Of one group; if these have the same body, the query is a stamp. */
const triedQueries = 4;
/** Of one group, however different its bodies are. */
const mostQueries = 5000;

interface Group {
  readonly path: string;
  /** A picture of an optimizer. */
  readonly isOptimized: boolean;
  readonly keys: Set<string>;
  readonly held: Map<string, QueriedLink>;
  readonly bodies: Set<string>;
}

export function createQueryGate(): QueryGate {
  const groups = new Map<string, Group>();
  const groupOf = (address: Address): Group => {
    const key = groupKey(address);
    const known = groups.get(key);
    if (known !== undefined) return known;
    const group = {
      path: address.path,
      isOptimized: key !== address.path,
      keys: new Set<string>(),
      held: new Map(),
      bodies: new Set<string>(),
    };
    groups.set(key, group);
    return group;
  };
  return {
    admits: (queried) => {
      const { address } = queried.link;
      const { keys, held, bodies, isOptimized } = groupOf(address);
      if (keys.has(address.query)) return true;
      const most = bodies.size > 1 || isOptimized ? mostQueries : triedQueries;
      if (keys.size < most) {
        keys.add(address.query);
        return true;
      }
      if (held.size < mostQueries && !held.has(address.query)) held.set(address.query, queried);
      return false;
    },
    learn: (address, sha256) => {
      const { held, bodies } = groupOf(address);
      if (bodies.size < 2) bodies.add(sha256);
      if (bodies.size < 2 || held.size === 0) return [];
      const released = [...held.values()];
      held.clear();
      return released;
    },
    notTried: () => {
      const counts = new Map<string, number>();
      for (const { path, held } of groups.values()) {
        if (held.size > 0) counts.set(path, (counts.get(path) ?? 0) + held.size);
      }
      return counts;
    },
  };
}

/** An optimizer of pictures has one path for all of them: each source is a group of its own. */
function groupKey({ path, query }: Address): string {
  const source = new URLSearchParams(query).get('url');
  return source === null ? path : `${path}?url=${source}`;
}
