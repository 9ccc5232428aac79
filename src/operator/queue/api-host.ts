// Which export API a resource calls, and so in which host queue its key waits. Pure; reads a spec that is not checked
// yet. Invariant: whatever tenants write, there is one host queue for each allowed host. One more queue is for the
// operator's own API, which no other port of its host may delay. One is for every API that may not be called.

import { isAllowedHost } from '#operator/loop/allowed-host.ts';
import type { OperatorSettings } from '#operator/loop/context.ts';
import { readHttpOrigin } from '#platform/wire/http-origin.ts';
import { recordAt, textAt } from '#platform/wire/json-fields.ts';
import { isRecord } from '#platform/wire/json-text.ts';

/** Scheme, host and port, or the empty text for the operator's own API, as where the spec cannot be read. */
export function apiHostOf(spec: unknown): string {
  const baseUrl = isRecord(spec) ? textAt(recordAt(spec, 'api'), 'baseUrl') : undefined;
  return (baseUrl === undefined ? undefined : readHttpOrigin(baseUrl)) ?? '';
}

/** Not a host name. */
const anyOther = '(not allowed)';

/**
 * The host queue of a resource. Where no API may be called none can hang: those resources share a queue.
 *
 * @param apiHost of {@link apiHostOf}
 */
export function hostQueueOf(
  apiHost: string,
  settings: Pick<OperatorSettings, 'allowedApiHosts' | 'apiBaseUrl'>,
): string {
  if (apiHost === '' || apiHost === readHttpOrigin(settings.apiBaseUrl ?? '')) return '';
  return isAllowedHost(apiHost, settings) ? apiHost : anyOther;
}
