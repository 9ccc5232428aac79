// Decides where a key may be sent: to the operator's own base URL and to the entries of its list, nowhere else.
// Scheme, host and port must all match. Otherwise a tenant could have a key sent in clear text, or to another
// program on an allowed host. Invariant: the list only adds to the operator's own base URL. Pure; wildcards do not
// exist.

import { readHttpOrigin, readOriginEntry, shortOriginEntry } from '#platform/wire/http-origin.ts';
import type { OperatorSettings } from './context.ts';

type AllowedHosts = Pick<OperatorSettings, 'allowedApiHosts' | 'apiBaseUrl'>;

/** @param baseUrl as resolved; text that is not an http(s) URL, or carries credentials, is never allowed */
export function isAllowedHost(baseUrl: string, settings: AllowedHosts): boolean {
  const origin = readHttpOrigin(baseUrl);
  return origin !== undefined && allowedOrigins(settings).includes(origin);
}

/** Everything that a key may be sent to, as entries of the list. */
export function allowedHosts(settings: AllowedHosts): readonly string[] {
  return allowedOrigins(settings).map(shortOriginEntry);
}

function allowedOrigins({ allowedApiHosts, apiBaseUrl }: AllowedHosts): readonly string[] {
  const own = apiBaseUrl === undefined ? undefined : readHttpOrigin(apiBaseUrl);
  const origins = [own, ...allowedApiHosts.map(readOriginEntry)];
  return [...new Set(origins.filter((origin) => origin !== undefined))];
}
