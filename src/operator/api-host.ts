// Which export API a resource speaks to, for sharing workers fairly. Pure; reads a spec that nobody has checked.
// Invariant: whatever tenants write, there are no more lanes than hosts that may be spoken to, and two. A list of hosts
// names no ports: all of a host share one lane, but that of the operator's own API, which no dead port may hold up.

import { isRecord, recordAt, textAt } from '../kube/json.ts';
import { isAllowedHost } from '../loop/allowed-host.ts';
import type { OperatorSettings } from '../loop/edge.ts';

/** Host and port, or a name for the operator's own API; what cannot be read counts as that. */
export function apiHostOf(spec: unknown): string {
  const baseUrl = isRecord(spec) ? textAt(recordAt(spec, 'api'), 'baseUrl') : undefined;
  return baseUrl === undefined ? '' : hostAndPortOf(baseUrl);
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
  if (apiHost === '' || apiHost === hostAndPortOf(settings.apiBaseUrl ?? '')) return '';
  const url = `https://${apiHost}`;
  return isAllowedHost(url, settings) ? new URL(url).hostname.replace(/\.$/, '') : anyOther;
}

function hostAndPortOf(text: string): string {
  if (!URL.canParse(text)) return '';
  const { protocol, hostname, port } = new URL(text);
  return hostname === '' ? '' : `${hostname}:${port || (protocol === 'http:' ? 80 : 443)}`;
}
