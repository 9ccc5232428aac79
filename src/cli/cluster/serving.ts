// Whether a pod serves what is published: in step, behind, ended, or unknown and why. Pure. Refuses: calling a pod behind whose
// status could not be read.

import type { Status } from '#operator/staticexport/status-schema.ts';
import { isReadable, type Reading } from './reading.ts';
import type { ServerStatus } from './servers.ts';
import { hasEnded, type Pod } from './workloads.ts';

export interface Serving {
  /** A pod that has ended serves nothing more, and others take its place. */
  readonly state: 'InStep' | 'Behind' | 'Ended' | 'Unknown';
  /** Served now. */
  readonly version?: string;
  readonly digest?: string;
  /** Of the program. */
  readonly serverVersion?: string;
  /** A sentence, unless it is in step. */
  readonly message?: string;
}

/**
 * @param active what the output Secret publishes
 * @param read the server's own status; `undefined` where the pod was not asked, because it does not run
 * @param stopped why the server's container does not run
 */
export function judgeServing(
  active: Status['active'],
  { phase, state }: Pick<Pod, 'phase' | 'state'>,
  read: Reading<ServerStatus> | undefined,
  stopped: string | undefined,
): Serving {
  if (hasEnded({ phase })) return { state: 'Ended', message: `The pod has ended (${state}).` };
  if (read === undefined) return unknown(`The pod does not run (${state}).`);
  if (!isReadable(read) && stopped !== undefined) {
    return unknown(`Its bundle server does not run (${stopped}).`);
  }
  if (!isReadable(read)) return unknown(`Its status is not readable: ${read.unreadable}.`);
  const { active: served, source, serverVersion } = read.value;
  const found = {
    ...(served?.version != null && { version: served.version }),
    ...(served?.digest != null && { digest: served.digest }),
    ...(serverVersion !== undefined && { serverVersion }),
  };
  if (active === undefined) return { ...found, ...unknown('Nothing is published yet.') };
  const isSame =
    active.digest === undefined ? served?.version === active.version : served?.digest === active.digest;
  if (served !== null && isSame) return { ...found, state: 'InStep' };
  const published = source.published?.digest ?? source.published?.version;
  const isMounted = published === active.digest || published === active.version;
  const why =
    source.published !== null && !isMounted
      ? 'Its mounted Secret is older; a kubelet updates it within about a minute'
      : `The server reports ${source.state}: ${source.lastError?.message ?? source.reason}`;
  return { ...found, state: 'Behind', message: `${served === null ? 'It serves nothing. ' : ''}${why}.` };
}

const unknown = (message: string): Serving => ({ state: 'Unknown', message });
