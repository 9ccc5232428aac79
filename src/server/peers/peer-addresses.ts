// Addresses of the other servers of the site: the names of --peers, resolved at each use, because a headless Service
// resolves to the pods that run now. One of them is this server itself.
// Invariant: at most `maxPeers` origins, each once; a name that does not resolve is neither a peer nor an error.

import { lookup } from 'node:dns/promises';
import { isIPv6 } from 'node:net';
import { FlagValueError } from '#platform/runtime/flags/flag-kinds.ts';

/** A name of the flag; without a port, the admin port of this server is theirs too. */
export interface PeerName {
  readonly host: string;
  readonly port: number | undefined;
}

const maxPeers = 64;

/** @param text `NAME`, `NAME:PORT`, `10.0.0.1:9090`, `[::1]:9090`. @throws {FlagValueError} */
export function readPeerName(text: string): PeerName {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9_.-]+))(?::(\d{1,5}))?$/.exec(text);
  const host = match?.[1] ?? match?.[2];
  const port = match?.[3] === undefined ? undefined : Number(match[3]);
  if (host === undefined || (port !== undefined && (port < 1 || port > 65_535))) {
    throw new FlagValueError('must be NAME or NAME:PORT, comma-separated, for example site-peers:9090');
  }
  return { host, port };
}

/** @returns origins such as `http://10.0.0.7:9090`. Never rejects. */
export async function resolvePeers(
  names: readonly PeerName[],
  ownAdminPort: number,
): Promise<readonly string[]> {
  const found = await Promise.all(
    names.map(async ({ host, port = ownAdminPort }) => {
      const addresses = await lookup(host, { all: true }).catch(() => []);
      return addresses.map(({ address }) => originOf(address, port));
    }),
  );
  return [...new Set(found.flat())].slice(0, maxPeers);
}

/** The addresses of the last resolution. */
export interface KnownPeers {
  /** Resolves now. */
  resolve(): Promise<readonly string[]>;
  /** Never waits: a new address is known to a later request, after the resolution that this one starts. */
  isPeer(address: string): boolean;
}

const resolveEveryMs = 5_000;

/**
 * @param resolve gives origins and never rejects
 * @param nowMs on the monotonic clock
 */
export function trackPeers(resolve: () => Promise<readonly string[]>, nowMs: () => number): KnownPeers {
  let addresses: ReadonlySet<string> = new Set();
  let resolvedAt = Number.NEGATIVE_INFINITY;
  let isResolving = false;
  const resolveNow = async (): Promise<readonly string[]> => {
    isResolving = true;
    const origins = await resolve();
    addresses = new Set(origins.map((origin) => new URL(origin).hostname.replace(/^\[|\]$/g, '')));
    resolvedAt = nowMs();
    isResolving = false;
    return origins;
  };
  return {
    resolve: resolveNow,
    isPeer: (address) => {
      if (!isResolving && nowMs() - resolvedAt >= resolveEveryMs) void resolveNow();
      return addresses.has(address);
    },
  };
}

function originOf(address: string, port: number): string {
  return `http://${isIPv6(address) ? `[${address}]` : address}:${port}`;
}
