// Which export API a resource speaks to, for sharing workers fairly. Pure; reads a spec that nobody has checked.
// Refuses: deciding whether that API may be spoken to.

import { isRecord, recordAt, textAt } from '../kube/json.ts';

/** Host and port, or a name for the operator's own API; what cannot be read counts as that. */
export function apiHostOf(spec: unknown): string {
  const baseUrl = isRecord(spec) ? textAt(recordAt(spec, 'api'), 'baseUrl') : undefined;
  return baseUrl !== undefined && URL.canParse(baseUrl) ? new URL(baseUrl).host : '';
}
