// Visitors of a Service that never stop while something happens to its pods: a steady number of requests a second
// from inside the cluster's network, counted by status and content. A request without the answer that its order wants failed.

import { join } from 'node:path';
import { eventuallyInCluster } from '../eventually.ts';
import type { TestNodes } from './node.ts';

export interface VisitOrder {
  /** Asked in turn. */
  readonly urls: readonly string[];
  readonly perSecond: number;
  /** Whether connections are used again, as browsers do, or every request makes its own. */
  readonly keepsConnections: boolean;
  /**
   * Sends a request a second time when a connection from before was closed without an answer, as browsers do (RFC 9112,
   * section 9.3.1). A server may close an idle connection at the moment when a slow client uses it.
   */
  readonly resends?: boolean;
  /** Sends the ETag of an address's last answer with the next request, as browsers do: 304 is right, too. */
  readonly revalidates?: boolean;
  /** Asks for so many bytes from the start: 206 is right, and 200 is not. */
  readonly firstBytes?: number;
}

export interface Tally {
  readonly requests: number;
  readonly failed: number;
  /** Requests that were sent a second time. */
  readonly resent: number;
  /** Status → how often. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Path and the first hex digits of its body's SHA-256 → how often it was answered. */
  readonly contents: Readonly<Record<string, number>>;
  /** The first failures, in words. */
  readonly examples: readonly string[];
  readonly slowestMs: number;
  /** Of the requests that were answered since the tally before. */
  readonly recentlySlowestMs: number;
  /** Nothing is under way any more. */
  readonly isLast: boolean;
}

export interface Visits {
  /** What was seen so far, at most a quarter of a second old. */
  readonly tally: () => Tally;
  /** Duration of the slowest request since the last call. */
  readonly takeSlowestMs: () => number;
  /** Resolves when `count` further requests have been made: proof that visits went on after what came before. */
  more(count: number): Promise<Tally>;
  /** Lets requests under way be answered. */
  stop(): Promise<Tally>;
}

const nothing: Tally = {
  requests: 0,
  failed: 0,
  resent: 0,
  statuses: {},
  contents: {},
  examples: [],
  slowestMs: 0,
  recentlySlowestMs: 0,
  isLast: false,
};

/** @param nodes whatever starts a program in the Service's network */
export function startVisits(nodes: Pick<TestNodes, 'start'>, order: VisitOrder): Visits {
  let tally = nothing;
  let slowestMs = 0;
  const visitor = nodes.start(
    [process.execPath, join(import.meta.dirname, 'visitor.ts'), JSON.stringify(order)],
    {
      onLine: (line) => {
        if (!line.startsWith('{')) return;
        tally = JSON.parse(line);
        slowestMs = Math.max(slowestMs, tally.recentlySlowestMs);
      },
    },
  );
  const ended = (): Error => new Error(`the visitor ended:\n${visitor.tail()}`);
  return {
    tally: () => tally,
    takeSlowestMs: () => {
      const taken = slowestMs;
      slowestMs = 0;
      return taken;
    },
    more: async (count) => {
      const from = tally.requests;
      await eventuallyInCluster(`${count} more requests`, () => {
        if (visitor.hasExited()) return true;
        return tally.requests >= from + count ? true : undefined;
      });
      if (visitor.hasExited()) throw ended();
      return tally;
    },
    stop: async () => {
      await visitor.stop('SIGTERM', 60_000);
      if (!tally.isLast) throw ended();
      return tally;
    },
  };
}
