// Getting a bundle from the other servers of the site, and agreeing with them on who fetches it by link when none
// has it. Asks in rounds: everybody at once, then one step (see peer-claim.ts).
// Invariant: it ends. A peer that is silent, slow or lies is left out for a while; a wait without anything moving,
// or of any kind for too long, ends with this server fetching by itself.

import type { BundleError } from '../../bundle/bundle-error.ts';
import type { PeerClient, PeerState, PeerWord } from '../../bundle/peer/peer-request.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { Random } from '../../runtime/random.ts';
import { publishableCode, publishableMessage } from '../../wire/publishable-error.ts';
import { decideClaim } from './peer-claim.ts';
import { createPeerConduct, longestWaitMs, stallMs } from './peer-conduct.ts';
import type { PeerIntent } from './peer-port.ts';

export interface PeerProgress {
  readonly receivedBytes: number;
  readonly files: number;
}

export interface Peers {
  /**
   * Resolves with `true` once a verified copy is in the store; with `false` when this server is to fetch by link:
   * the others have been told and wait, until {@link release}.
   *
   * @throws {BundleError} the store's own faults; the signal's reason
   */
  bring(digest: string, onProgress: (progress: PeerProgress) => void, signal: AbortSignal): Promise<boolean>;
  /** How far the fetch by link is, for those who wait. */
  report(receivedBytes: number): void;
  /** The fetch by link is over, well or not. */
  release(): void;
  /**
   * The copy of a peer that has it, if there is one and it is good. One look, no claim, and no link.
   *
   * @throws as {@link bring}
   */
  copy(digest: string, onProgress: (progress: PeerProgress) => void, signal: AbortSignal): Promise<boolean>;
}

export interface PeersPorts {
  readonly id: string;
  readonly client: PeerClient;
  readonly resolve: () => Promise<readonly string[]>;
  readonly setIntent: (intent: PeerIntent | undefined) => void;
  readonly countCopy: (outcome: 'ok' | BundleError['kind']) => void;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

const pauseMs = 200;

/** For which the next peer, or the link, is the way on; anything else is this machine's own trouble. */
const peerFaults: ReadonlySet<string> = new Set(['CopyRefused', 'CopyFailed', 'PeerLost']);

interface Heard {
  readonly origin: string;
  readonly word: PeerWord;
}

export function createPeers(ports: PeersPorts): Peers {
  const { id, client, clock, random, logger } = ports;
  const conduct = createPeerConduct(clock.monotonic);
  let intent: PeerIntent | undefined;
  const intend = (next: PeerIntent | undefined): void => {
    intent = next;
    ports.setIntent(next);
  };

  const warn = (origin: string, error: unknown): void => {
    logger.warn({ peer: origin, code: publishableCode(error) }, publishableMessage(error));
  };

  const listen = async (
    digest: string,
    signal: AbortSignal,
    deaf: Set<string>,
  ): Promise<readonly Heard[]> => {
    const origins = (await ports.resolve()).filter(
      (origin) => !deaf.has(origin) && !conduct.isLeftOut(origin),
    );
    const heard = await Promise.all(
      origins.map(async (origin) => {
        const word = await client.ask(origin, digest, signal);
        if (word === undefined) deaf.add(origin);
        return word === undefined || word.id === id ? [] : [{ origin, word }];
      }),
    );
    return heard.flat();
  };

  /** From one of those who have it, whoever comes first in a random order. `busy`: all of them, for now. */
  const take = async (
    digest: string,
    owners: readonly string[],
    onProgress: (progress: PeerProgress) => void,
    signal: AbortSignal,
  ): Promise<boolean> => {
    for (const origin of shuffle(owners, random)) {
      try {
        await client.take(origin, digest, random.uuid(), { signal, onProgress });
        ports.countCopy('ok');
        conduct.noteGood(origin);
        logger.info({ peer: origin, digest }, 'the bundle came from another server of the site');
        return true;
      } catch (error) {
        signal.throwIfAborted();
        const code = publishableCode(error);
        if (code === 'PeerBusy') {
          if (conduct.noteBusy(origin)) warn(origin, error);
          continue;
        }
        ports.countCopy(code === 'CopyRefused' ? 'refused' : 'transient');
        if (!peerFaults.has(code)) throw error;
        conduct.drop(origin);
        warn(origin, error);
      }
    }
    return false;
  };

  const bring: Peers['bring'] = async (digest, onProgress, signal) => {
    const start = clock.monotonic();
    let movedAt = start;
    let lastSeen = '';
    // Within one attempt, who did not answer is not waited for again.
    const deaf = new Set<string>();
    for (;;) {
      const isClaiming = intent?.state === 'claiming';
      const heard = await listen(digest, signal, deaf);
      const words = heard.map(({ word }) => word);
      const now = clock.monotonic();
      const seen = JSON.stringify(words);
      if (seen !== lastSeen) movedAt = now;
      lastSeen = seen;
      const awaited = originsOf(heard, ['claiming', 'fetching']);
      const patienceMs = awaited.length === 0 ? longestWaitMs : Math.max(...awaited.map(conduct.patienceMs));
      const isTooLong = now - movedAt >= stallMs || now - start >= patienceMs;
      if (isTooLong) awaited.forEach(conduct.noteWasted);
      const step = isTooLong ? 'fetch' : decideClaim(id, isClaiming, words);
      switch (step) {
        case 'claim':
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
        case 'take': {
          intend(undefined);
          if (await take(digest, originsOf(heard, ['have']), onProgress, signal)) return true;
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
      take(digest, originsOf(await listen(digest, signal, new Set()), ['have']), onProgress, signal),
  };
}

function originsOf(heard: readonly Heard[], states: readonly PeerState[]): readonly string[] {
  return heard.filter(({ word }) => states.includes(word.state)).map(({ origin }) => origin);
}

function shuffle<T>(items: readonly T[], random: Random): readonly T[] {
  return items
    .map((item) => ({ item, rank: random.fraction() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
}
