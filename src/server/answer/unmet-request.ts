// Which requests are about something that a reader did not find: an address that is answered by 404, and the report of a search
// without a result. Both ways of answering note them here, once each. Refuses: reading a field of any other request.

import type { IncomingMessage } from 'node:http';
import type { SiteInsights } from '../insights/site-insights.ts';

export interface UnmetServing {
  /** Keeps what readers do not find; `undefined`: nothing is kept. */
  readonly insights?: SiteInsights | undefined;
}

/** A request as far as it is noted. */
export interface UnmetRequest {
  readonly method: string;
  /** As received. */
  readonly target: string;
  /** `Sec-Fetch-Site`; several fields joined. */
  readonly fetchSite: () => string | undefined;
}

/** Of a planned reply, by its status: no other reply has these. */
export function isUnmet(status: number): boolean {
  return status === 404 || status === 204;
}

/** A search is reported by GET alone. */
export function noteUnmet(
  { insights }: UnmetServing,
  status: number,
  { method, target, fetchSite }: UnmetRequest,
): void {
  if (status === 404) insights?.noteMissingAddress(target);
  else if (method === 'GET') insights?.noteEmptySearch(target, fetchSite());
}

export function noteUnmetMessage(serving: UnmetServing, status: number, message: IncomingMessage): void {
  const { method = '', url = '', headers } = message;
  const fetchSite = (): string | undefined => headers['sec-fetch-site']?.toString();
  noteUnmet(serving, status, { method, target: url, fetchSite });
}
