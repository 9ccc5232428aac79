// The last look before the export API is asked for something that costs: is the lease still ours, now? A pass that was
// frozen with its mark written wakes up right there, and the other replica may have gone on from that mark. What only
// asks how a job goes is let through. A call that then still waits for a connection is known by its Idempotency-Key.

import type { ExportApiSource } from '../../loop/ports.ts';
import { ClusterError } from '../../wire/cluster-error.ts';

/**
 * @param isHeld judged anew for every call
 * @returns starts and issues reject with `Aborted`, which ends the pass: the API did not fail, and nothing says it did
 */
export function fenceCalls(source: ExportApiSource, isHeld: () => boolean): ExportApiSource {
  const judge = (): void => {
    if (isHeld()) return;
    throw new ClusterError(
      'Aborted',
      'the lease may be with another replica; the export API is not asked for jobs and links any more',
    );
  };
  return {
    connect: (baseUrl, key) => {
      const api = source.connect(baseUrl, key);
      return {
        ...api,
        startJob: async (request, signal) => {
          judge();
          return api.startJob(request, signal);
        },
        issueLink: async (request, signal) => {
          judge();
          return api.issueLink(request, signal);
        },
      };
    },
  };
}
