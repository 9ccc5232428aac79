// The last look before a write leaves this process: is the lease still ours, by our own clock, now? A process that
// was frozen in the middle of a pass wakes up there, maybe before any timer of its own could tell it.
// Refuses nothing that only reads.

import type { Transport } from '../kube/transport.ts';
import { ClusterError } from '../wire/cluster-error.ts';

/** @param isHeld judged anew for every call */
export function fenceWrites(transport: Transport, isHeld: () => boolean): Transport {
  return {
    ...transport,
    call: async (call, signal) => {
      if (call.method !== 'GET' && !isHeld()) {
        throw new ClusterError(
          'Aborted',
          'the lease may be with another replica; nothing is written any more',
        );
      }
      return transport.call(call, signal);
    },
  };
}
