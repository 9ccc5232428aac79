// Replaces `src/operator/loop/allowed-host.ts`: one verdict for one address under the same settings.

import { allowedHosts as hostsAnew, isAllowedHost as isAllowedAnew } from '#operator/loop/allowed-host.ts';
import { byIdentity, byValue, frozen } from './memory.ts';

type Settings = Parameters<typeof isAllowedAnew>[1];

const known = byIdentity((settings: Settings) =>
  byValue((baseUrl: string) => isAllowedAnew(baseUrl, settings)),
);

export function isAllowedHost(baseUrl: string, settings: Settings): boolean {
  return known(settings)(baseUrl);
}

export const allowedHosts = byIdentity((settings: Settings) => frozen(hostsAnew(settings)));
