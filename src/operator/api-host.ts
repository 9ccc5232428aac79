// Which export API a resource speaks to, for sharing workers fairly. Pure; reads a spec that nobody has checked.
// Invariant: whatever tenants write, there are no more lanes than hosts and ports that may be spoken to, and one.

import { isRecord, recordAt, textAt } from '../kube/json.ts';
import { isAllowedHost } from '../loop/allowed-host.ts';
import type { OperatorSettings } from '../loop/edge.ts';

/** Host and port, or a name for the operator's own API; what cannot be read counts as that. */
export function apiHostOf(spec: unknown): string {
  const baseUrl = isRecord(spec) ? textAt(recordAt(spec, 'api'), 'baseUrl') : undefined;
  return baseUrl !== undefined && URL.canParse(baseUrl) ? new URL(baseUrl).host : '';
}

/** No host is called so. */
const anyOther = '(not allowed)';

/**
 * The lane in which a resource waits for a worker. Where nothing may be called nothing can hang: those share one.
 *
 * @param apiHost of {@link apiHostOf}
 */
export function laneOfHost(
  apiHost: string,
  settings: Pick<OperatorSettings, 'allowedApiHosts' | 'apiBaseUrl'>,
): string {
  return apiHost === '' || isAllowedHost(`https://${apiHost}`, settings) ? apiHost : anyOther;
}
