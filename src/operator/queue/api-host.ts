// Which export API a resource speaks to, for sharing workers fairly. Pure; reads a spec that nobody has checked.
// Invariant: whatever tenants write, there are no more lanes than entries on the list of allowed hosts, and two: that of
// the operator's own API, which no other port of its host may hold up, and one for everything that may not be called.

import { isRecord, recordAt, textAt } from '../../kube/transport/json.ts';
import { isAllowedHost } from '../../loop/allowed-host.ts';
import type { OperatorSettings } from '../../loop/edge.ts';
import { readHttpOrigin } from '../../wire/http-origin.ts';

/** Scheme, host and port, or the empty text for the operator's own API; what cannot be read counts as that. */
export function apiHostOf(spec: unknown): string {
  const baseUrl = isRecord(spec) ? textAt(recordAt(spec, 'api'), 'baseUrl') : undefined;
  return (baseUrl === undefined ? undefined : readHttpOrigin(baseUrl)) ?? '';
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
  if (apiHost === '' || apiHost === readHttpOrigin(settings.apiBaseUrl ?? '')) return '';
  return isAllowedHost(apiHost, settings) ? apiHost : anyOther;
}
