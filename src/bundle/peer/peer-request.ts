// Asks another server of the same site what it has of a bundle; copying.ts fetches the copy. The HTTP client is loaded
// at the first request: a server that finds its bundle on disk asks no peer. Invariant: a peer's answer arrives within
// seconds, or counts as none.

import * as z from 'zod/mini';
import { readWhole } from '#platform/http/exchange.ts';
import type { Clock } from '#platform/runtime/clock.ts';
import type { PeerConnection } from './peer-connection.ts';

/** `claiming`: about to fetch by link unless another server does; `fetching`: downloads now. */
export const peerStates = ['none', 'claiming', 'fetching', 'have'] as const;
export type PeerState = (typeof peerStates)[number];

/** What a server says of one digest. */
export interface PeerStatus {
  /** Of the server's run, so that each can tell itself among the addresses. */
  readonly id: string;
  readonly state: PeerState;
  /** By link, so far. */
  readonly receivedBytes: number;
}

export interface PeerClientOptions {
  readonly clock: Clock;
  readonly userAgent: string;
}

export interface PeerClient {
  /** @returns `undefined` when it does not answer in time, or not as a peer does. Never rejects, but for the signal. */
  ask(origin: string, digest: string, signal: AbortSignal): Promise<PeerStatus | undefined>;
  close(): Promise<void>;
}

const statusShape = z.object({
  id: z.string().check(z.minLength(1), z.maxLength(64)),
  state: z.enum(peerStates),
  receivedBytes: z.number().check(z.nonnegative()),
});

const askTimeoutMs = 5_000;
const maxStatusBytes = 1024;

export function createPeerClient({ clock, userAgent }: PeerClientOptions): PeerClient {
  let connection: PeerConnection | undefined;
  return {
    ask: async (origin, digest, signal) => {
      const { openPeerConnection } = await import('./peer-connection.ts');
      connection ??= openPeerConnection(userAgent);
      const deadline = clock.deadline(askTimeoutMs, signal);
      try {
        const answer = await connection.get(origin, `/peers/${digest}`, deadline);
        const { statusCode, bytes } = await readWhole(answer, maxStatusBytes);
        return statusCode === 200 ? statusShape.parse(JSON.parse(bytes.toString('utf8'))) : undefined;
      } catch {
        signal.throwIfAborted();
        return undefined;
      }
    },
    close: async () => connection?.close(),
  };
}
