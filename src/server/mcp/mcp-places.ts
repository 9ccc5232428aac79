// Where agents find what: the endpoint, its card and the catalog. Pure. Refuses targets that name a host, because the check of `Host`
// would be about another name than theirs. Invariant: a file of the site at one of these addresses is the site's, except for calls.

import { readRequestPath } from '../http/request-path.ts';

export type McpPlace = 'endpoint' | 'card' | 'catalog';

/**
 * The card at `<endpoint>/server-card` and the catalog are those of SEP-2127, which is final, by its normative text
 * `docs/discovery.md` of modelcontextprotocol/experimental-ext-server-card, 2026-07-24. Clients of its drafts look for the card at the two
 * other addresses.
 */
const places: ReadonlyMap<string, McpPlace> = new Map([
  ['/mcp', 'endpoint'],
  ['/mcp/server-card', 'card'],
  ['/.well-known/mcp', 'card'],
  ['/.well-known/mcp/server-card.json', 'card'],
  ['/.well-known/ai-catalog.json', 'catalog'],
]);

/** Below the base path, since an ingress may lead nothing else here. */
export const endpointPath = '/mcp';
export const cardPath = '/mcp/server-card';

/** @param target as received. @param basePath decoded, without trailing slash */
export function findMcpPlace(target: string, basePath: string): McpPlace | undefined {
  if (!target.startsWith('/')) return undefined;
  const read = readRequestPath(target, '');
  if (read.outcome !== 'path') return undefined;
  const { path } = read;
  const within = path.startsWith(`${basePath}/`) ? places.get(path.slice(basePath.length)) : undefined;
  // What is well known is so at the root of a host.
  return within ?? (path.startsWith('/.well-known/') ? places.get(path) : undefined);
}
