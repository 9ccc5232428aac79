// Copies a bundle from the other servers of the site, and agrees with them on which one fetches it by link when none
// has it. Asks in rounds: all servers at once, then one step.
// Invariant: it ends. A peer whose copy fails is left out for a while: shortly when it broke off, because it may be the
// only one that has the bundle. A wait without progress for 10 s, or of 5 min in all, ends with this server fetching by
// itself.

import type { BundleProgress } from '#bundle/bundle-task.ts';
import type { TakeCopy } from '#bundle/peer/copying.ts';
import type { PeerClient, PeerStatus } from '#bundle/peer/peer-request.ts';
import type { Clock } from '#platform/runtime/clock.ts';
import type { Logger } from '#platform/runtime/logger.ts';
import type { Random } from '#platform/runtime/random.ts';
import { backOffMs } from '#platform/wire/back-off.ts';
import { publishableCode, publishableMessage } from '#platform/wire/publishable-error.ts';
import type { PeerIntent } from './peer-port.ts';

export interface Peers {
  /**
   * Resolves with `true` once a verified copy is in the store; with `false` when this server is to fetch by link.
   * The others see that and wait until {@link release}.
   *
   * @throws {PublishableError} the store's own faults; the signal's reason
   */
  bring(
    digest: string,
    onProgress: (progress: BundleProgress) => void,
    signal: AbortSignal,
  ): Promise<boolean>;
  /** How far the fetch by link is, for the servers that wait. */
  report(receivedBytes: number): void;
  /** The fetch by link has ended, with success or without. */
  release(): void;
  /**
   * The copy of a peer that has it, if there is one and it is good. One round, without an announcement and without a link.
   *
   * @throws as {@link bring}
   */
  copy(digest: string, onProgress: (progress: BundleProgress) => void, signal: AbortSignal): Promise<boolean>;
}

export interface PeersPorts {
  readonly id: string;
  readonly client: PeerClient;
  readonly take: TakeCopy;
  readonly resolve: () => Promise<readonly string[]>;
  readonly setIntent: (intent: PeerIntent | undefined) => void;
  readonly countCopy: (outcome: 'ok' | 'transient' | 'rejected') => void;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

const pauseMs = 200;
const firstLeftOutMs = 5_000;
const longestLeftOutMs = 5 * 60_000;
const stallMs = 10_000;
const longestWaitMs = 5 * 60_000;

/** After these the next peer, or the link, is tried; any other error is a fault of this machine. */
const peerFaults: ReadonlySet<string> = new Set(['CopyRefused', 'CopyFailed', 'PeerLost']);

interface PeerReply extends PeerStatus {
  readonly origin: string;
}

/** A peer whose last copy failed. */
interface FailedPeer {
  /** Monotonic ms; not asked before. */
  readonly until: number;
  readonly failures: number;
}

export function createPeers(ports: PeersPorts): Peers {
  const { id, client, take, clock, random, logger } = ports;
  const failed = new Map<string, FailedPeer>();
  let intent: PeerIntent | undefined;
  const intend = (next: PeerIntent | undefined): void => {
    intent = next;
    ports.setIntent(next);
  };

  const askPeers = async (
    digest: string,
    signal: AbortSignal,
    unresponsive: Set<string>,
  ): Promise<readonly PeerReply[]> => {
    const isAsked = (origin: string): boolean =>
      !unresponsive.has(origin) &&
      (failed.get(origin)?.until ?? Number.NEGATIVE_INFINITY) <= clock.monotonic();
    const origins = (await ports.resolve()).filter(isAsked);
    const replies = await Promise.all(
      origins.map(async (origin) => {
        const reply = await client.ask(origin, digest, signal);
        if (reply === undefined) unresponsive.add(origin);
        return reply === undefined || reply.id === id ? [] : [{ origin, ...reply }];
      }),
    );
    return replies.flat();
  };

  /** From the first that hands it over, in random order. A busy peer is asked again in the next round. */
  const copyFromOwner = async (
    digest: string,
    owners: readonly string[],
    onProgress: (progress: BundleProgress) => void,
    signal: AbortSignal,
  ): Promise<boolean> => {
    for (const origin of shuffle(owners, random)) {
      try {
        await take(origin, digest, random.uuid(), { signal, onProgress });
        failed.delete(origin);
        ports.countCopy('ok');
        logger.info({ peer: origin, digest }, 'copied the bundle from a peer');
        return true;
      } catch (error) {
        signal.throwIfAborted();
        const code = publishableCode(error);
        if (code === 'PeerBusy') continue;
        ports.countCopy(code === 'CopyRefused' ? 'rejected' : 'transient');
        if (!peerFaults.has(code)) throw error;
        const failures = (failed.get(origin)?.failures ?? 0) + 1;
        failed.set(origin, { until: clock.monotonic() + leftOutMs(code, failures), failures });
        logger.warn({ peer: origin, code }, publishableMessage(error));
      }
    }
    return false;
  };

  const bring: Peers['bring'] = async (digest, onProgress, signal) => {
    const start = clock.monotonic();
    let movedAt = start;
    const furthest = new Map<string, number>();
    // A peer that did not answer is not asked again within one attempt.
    const unresponsive = new Set<string>();
    for (;;) {
      const isAnnounced = intent?.state === 'claiming';
      const replies = await askPeers(digest, signal, unresponsive);
      const now = clock.monotonic();
      if (noteProgress(replies, furthest)) movedAt = now;
      const isTooLong = now - movedAt >= stallMs || now - start >= longestWaitMs;
      const step = isTooLong ? 'fetch' : decideFetch(id, isAnnounced, replies);
      switch (step) {
        case 'announce':
          intend({ digest, state: 'claiming', receivedBytes: 0 });
          continue;
        case 'fetch':
          intend({ digest, state: 'fetching', receivedBytes: 0 });
          return false;
        case 'hold':
          break;
        case 'wait':
          intend(undefined);
          break;
        case 'copy': {
          intend(undefined);
          if (await copyFromOwner(digest, ownersAmong(replies), onProgress, signal)) return true;
          break;
        }
        default:
          return step satisfies never;
      }
      await clock.after(pauseMs, signal);
    }
  };

  return {
    bring: async (digest, onProgress, signal) => {
      try {
        return await bring(digest, onProgress, signal);
      } catch (error) {
        intend(undefined);
        throw error;
      }
    },
    report: (receivedBytes) => {
      if (intent !== undefined) intend({ ...intent, receivedBytes });
    },
    release: () => intend(undefined),
    copy: async (digest, onProgress, signal) =>
      copyFromOwner(digest, ownersAmong(await askPeers(digest, signal, new Set())), onProgress, signal),
  };
}

/**
 * Whether a peer says what it has not said before in this attempt. One that was left out and is asked again is no progress.
 *
 * @param furthest bytes by peer and state; updated
 */
function noteProgress(replies: readonly PeerReply[], furthest: Map<string, number>): boolean {
  let isProgress = false;
  for (const { origin, state, receivedBytes } of replies) {
    const key = `${state} ${origin}`;
    if (receivedBytes <= (furthest.get(key) ?? -1)) continue;
    furthest.set(key, receivedBytes);
    isProgress = true;
  }
  return isProgress;
}

/** Wrong data stays wrong; a peer that broke off may have been restarted, or had too much to do. */
function leftOutMs(code: string, failures: number): number {
  return code === 'CopyRefused' ? longestLeftOutMs : backOffMs([firstLeftOutMs, longestLeftOutMs], failures);
}

function ownersAmong(replies: readonly PeerReply[]): readonly string[] {
  return replies.filter(({ state }) => state === 'have').map(({ origin }) => origin);
}

function shuffle<T>(items: readonly T[], random: Random): readonly T[] {
  return items
    .map((item) => ({ item, rank: random.fraction() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
}

export type FetchStep =
  /** Another server has it: copy that. */
  | 'copy'
  /** Another server fetches it, or goes first: withdraw, and ask again later. */
  | 'wait'
  /** No other server fetches it: announce that this one will, and ask again at once. */
  | 'announce'
  /** Another announced it too and must withdraw first: ask again later. */
  | 'hold'
  /** The announcement stood alone for a whole round: fetch. */
  | 'fetch';

/**
 * Which server fetches by link when several want a bundle that none has. Announce first, then look, as in Dekker's
 * algorithm: of two that announce at once at least one sees the other, and the lower id goes first. While the servers
 * hear each other, two never fetch.
 *
 * @param isAnnounced whether this server's announcement was visible before this round began
 */
export function decideFetch(ownId: string, isAnnounced: boolean, replies: readonly PeerStatus[]): FetchStep {
  if (replies.some(({ state }) => state === 'have')) return 'copy';
  if (replies.some(({ state }) => state === 'fetching')) return 'wait';
  const others = replies.filter(({ state }) => state === 'claiming');
  if (!isAnnounced) return others.length > 0 ? 'wait' : 'announce';
  if (others.some(({ id }) => id < ownId)) return 'wait';
  return others.length > 0 ? 'hold' : 'fetch';
}
