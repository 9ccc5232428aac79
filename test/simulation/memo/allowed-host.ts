// Stands in for `src/loop/allowed-host.ts`: the same address under the same settings is allowed or not.

import { isAllowedHost as isAllowedAnew } from '../../../src/loop/allowed-host.ts';
import { byIdentity, byValue } from './memory.ts';

export { allowedHosts } from '../../../src/loop/allowed-host.ts';

type Settings = Parameters<typeof isAllowedAnew>[1];

const known = byIdentity((settings: Settings) =>
  byValue((baseUrl: string) => isAllowedAnew(baseUrl, settings)),
);

export function isAllowedHost(baseUrl: string, settings: Settings): boolean {
  return known(settings)(baseUrl);
}
