// This server as a peer: its requests to the other servers of the site and its answers to them, under one id.
// Without `--peers` it neither asks nor answers.

import type { RequestListener } from 'node:http';
import { Counter, type Registry } from 'prom-client';
import { copyInWorker } from '../../bundle/peer/copying.ts';
import { createPeerClient } from '../../bundle/peer/peer-request.ts';
import type { WrittenCopies } from '../../bundle/store/checking.ts';
import type { ProgramContext } from '../../runtime/program.ts';
import { userAgent } from '../../runtime/version.ts';
import { type BundleServerFlags, limitsOf } from '../server-flags.ts';
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

/** The thread that copies, and what records each copy. */
export interface CopyingPorts {
  /** Program of the thread, see copying.ts. */
  readonly worker: URL;
  readonly note: WrittenCopies['note'];
}

/** @param registry where copies are counted */
export function joinPeers(
  flags: BundleServerFlags,
  context: ProgramContext,
  registry: Registry,
  { worker, note }: CopyingPorts,
): PeerMembership {
  if (flags.peers.length === 0) {
    return { peers: undefined, answer: (others) => others, close: async () => {} };
  }
  const { clock, random } = context;
  const id = random.uuid();
  let intent: PeerIntent | undefined;
  const copies = new Counter({
    name: 'bundle_server_peer_copies_total',
    help: 'Copies of bundles from other servers of the site, by outcome',
    labelNames: ['outcome'],
    registers: [registry],
  });
  for (const outcome of ['ok', 'transient', 'rejected']) copies.inc({ outcome }, 0);
  const limits = limitsOf(flags);
  const pause = (): Promise<void> => clock.after(0);
  const take = copyInWorker(worker, { storeDir: flags.store, limits, userAgent, pause, note });
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
    countCopy: (outcome) => copies.inc({ outcome }),
  });
  const port = { id, storeDir: flags.store, intent: () => intent, isPeer: known.isPeer, clock };
  return { peers, answer: (others) => peerPort(port, others), close: () => client.close() };
}
