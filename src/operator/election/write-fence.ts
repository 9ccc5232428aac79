// The last look before a write leaves this process: is the lease still ours, by our own clock, now? A process that
// was frozen in the middle of a pass wakes up there, maybe before any timer of its own could tell it; and a write may
// have waited before that for credentials, for a connection, or for the time the API server named.
// Refuses nothing that only reads.

import type { Transport } from '../../kube/transport/transport.ts';
import { ClusterError } from '../../wire/cluster-error.ts';

/** @param isHeld judged anew for every write, and for each of its tries the moment before its first byte leaves */
export function fenceWrites(transport: Transport, isHeld: () => boolean): Transport {
  const permit = (): void => {
    if (isHeld()) return;
    throw new ClusterError('Aborted', 'the lease may be with another replica; nothing is written any more');
  };
  return {
    ...transport,
    call: async (call, signal) => {
      if (call.method === 'GET') return transport.call(call, signal);
      // It needs no credentials and no connection to be refused.
      permit();
      return transport.call({ ...call, permit }, signal);
    },
  };
}
