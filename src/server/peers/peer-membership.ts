// This server as a peer: its requests to the other servers of the site and its answers to them, under one id.
// Without `--peers` it neither asks nor answers.

import type { RequestListener } from 'node:http';
import { copyInWorker } from '#bundle/peer/copying.ts';
import { createPeerClient } from '#bundle/peer/peer-request.ts';
import type { WrittenCopies } from '#bundle/store/checking.ts';
import { othersTurn } from '#platform/runtime/clock.ts';
import type { ProgramContext } from '#platform/runtime/program.ts';
import { userAgent } from '#platform/runtime/version.ts';
import { type BundleServerFlags, serverLimitsOf } from '../server-flags.ts';
import type { SiteCounts } from '../site-counts.ts';
import { resolvePeers, trackPeers } from './peer-addresses.ts';
import { type PeerIntent, peerPort } from './peer-port.ts';
import { createPeers, type Peers } from './peers.ts';

export interface PeerMembership {
  /** `undefined` without --peers. */
  readonly peers: Peers | undefined;
  /** Puts the peers' addresses before those of the admin port. */
  answer(others: RequestListener): RequestListener;
  close(): Promise<void>;
}

/** The thread that copies, what records each copy, and what counts each attempt. */
export interface CopyingPorts {
  /** Program of the thread, see copying.ts. */
  readonly worker: URL;
  readonly note: WrittenCopies['note'];
  readonly countCopy: SiteCounts['countPeerCopy'];
}

export function joinPeers(
  flags: BundleServerFlags,
  context: ProgramContext,
  { worker, note, countCopy }: CopyingPorts,
): PeerMembership {
  if (flags.peers.length === 0) {
    return { peers: undefined, answer: (others) => others, close: async () => {} };
  }
  const { clock, random } = context;
  const id = random.uuid();
  let intent: PeerIntent | undefined;
  const limits = serverLimitsOf(flags);
  const { store: storeDir, serveDotfiles } = flags;
  const copying = { storeDir, limits, userAgent, serveDotfiles, pause: othersTurn, note };
  const take = copyInWorker(worker, copying);
  const client = createPeerClient({ clock, userAgent });
  const known = trackPeers(() => resolvePeers(flags.peers, flags.adminListen.port), clock.monotonic);
  const peers = createPeers({
    ...context,
    id,
    client,
    take,
    resolve: known.resolve,
    setIntent: (next) => {
      intent = next;
    },
    countCopy,
  });
  const port = { id, storeDir: flags.store, intent: () => intent, isPeer: known.isPeer, clock };
  return { peers, answer: (others) => peerPort(port, others), close: () => client.close() };
}
