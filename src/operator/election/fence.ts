// The last check before a call leaves this process: do the local clocks still say that this replica holds the lease? A
// process that was frozen in the middle of a reconcile wakes up there, maybe before a timer reports another leader.
// Never refuses a call that only reads the cluster or polls a job.

import type { Transport } from '#operator/kube/transport/transport.ts';
import type { ExportApiSource } from '#operator/loop/ports.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';

/**
 * @param isHeld judged for every write, and for each of its attempts the moment before its first byte leaves
 * @returns writes reject with `Aborted`
 */
export function fenceWrites(transport: Transport, isHeld: () => boolean): Transport {
  const permit = (): void => judge(isHeld, 'no write is sent');
  return {
    ...transport,
    call: async (call, signal) => {
      if (call.method === 'GET') return transport.call(call, signal);
      // Without the lease a write needs no credentials and no connection.
      permit();
      return transport.call({ ...call, permit }, signal);
    },
  };
}

/**
 * A reconcile may be frozen after it wrote its start record, and another replica may have gone on from that record. A
 * call that waits for a connection after this check is known to the export API by its Idempotency-Key.
 *
 * @param isHeld judged for every call
 * @returns starting a job and issuing a link reject with `Aborted`: the export API did not fail
 */
export function fenceCalls(source: ExportApiSource, isHeld: () => boolean): ExportApiSource {
  const permit = (): void => judge(isHeld, 'no job is started and no link is issued');
  return {
    connect: (address, key) => {
      const api = source.connect(address, key);
      return {
        ...api,
        startJob: async (request, signal) => {
          permit();
          return api.startJob(request, signal);
        },
        issueLink: async (request, signal) => {
          permit();
          return api.issueLink(request, signal);
        },
      };
    },
  };
}

function judge(isHeld: () => boolean, consequence: string): void {
  if (!isHeld()) throw new ClusterError('Aborted', `another replica may hold the lease; ${consequence}`);
}
