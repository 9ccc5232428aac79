// Where a key may be sent: to the host of the operator's own base URL and to hosts on its list, and nowhere else. A list
// that were to leave out its own would close every resource that names none, by the very edit that lets one more in.
// Pure. A host is compared whole and case-insensitively; there are no wildcards.

import type { OperatorSettings } from './edge.ts';

/** @param baseUrl as resolved; text that is no http(s) URL, or carries credentials, is never allowed */
export function isAllowedHost(
  baseUrl: string,
  { allowedApiHosts, apiBaseUrl }: Pick<OperatorSettings, 'allowedApiHosts' | 'apiBaseUrl'>,
): boolean {
  if (!URL.canParse(baseUrl)) return false;
  const { protocol, hostname, username, password } = new URL(baseUrl);
  if (!/^https?:$/.test(protocol) || username !== '' || password !== '') return false;
  const allowed = allowedHosts({ allowedApiHosts, apiBaseUrl });
  return allowed.some((host) => bareHost(host) === bareHost(hostname));
}

/** All hosts that a key may be sent to. */
export function allowedHosts({
  allowedApiHosts,
  apiBaseUrl,
}: Pick<OperatorSettings, 'allowedApiHosts' | 'apiBaseUrl'>): readonly string[] {
  const own = apiBaseUrl !== undefined && URL.canParse(apiBaseUrl) ? [new URL(apiBaseUrl).hostname] : [];
  return [...new Set([...own, ...allowedApiHosts])];
}

function bareHost(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '');
}
