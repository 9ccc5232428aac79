// What a failed call says about the address of the export API, for a command that has had no answer from it yet. Pure.
// Refuses: a verdict about a service that answered as an export API before; then the same failure may pass by itself.

import { readConnectionFault, unsentCodes } from '#platform/http/connection-fault.ts';
import { publishableCode } from '#platform/wire/publishable-error.ts';
import type { ExportApiError } from './answers.ts';

/**
 * `wrong`: the same call fails again until a person changes something. `unreached`: no connection was made, as to a
 * misspelt host or port; the service may start.
 */
export type AddressFault = 'wrong' | 'unreached';

/** An export API has each call. */
const absentStatuses: ReadonlySet<number | undefined> = new Set([405, 501]);

/** @returns `undefined` where the failure says nothing about the address */
export function readAddressFault({ code, status, said, cause }: ExportApiError): AddressFault | undefined {
  // A listing may be too long.
  if (code === 'UnexpectedAnswer') return cause instanceof RangeError ? undefined : 'wrong';
  if (absentStatuses.has(status)) return 'wrong';
  // With words of its own, an export API may mean the domain.
  if (status === 404 && said === undefined) return 'wrong';
  if (code === 'ExportApiNotTrusted') return 'wrong';
  if (code !== 'NetworkError') return undefined;
  const systemCode = publishableCode(cause);
  // A proxy that refuses the tunnel wants credentials or forbids the host; with 5xx it did not reach the host.
  const [, proxyStatus] = /^PROXY_ANSWERED_(\d)/.exec(systemCode) ?? [];
  if (proxyStatus !== undefined) return proxyStatus === '5' ? 'unreached' : 'wrong';
  if (readConnectionFault(cause).kind !== 'unreachable') return 'wrong';
  return unsentCodes.has(systemCode) ? 'unreached' : undefined;
}
