// Kept-alive HTTP/1.1 connections to the API server, through a proxy where one is configured.
// Refuses: HTTP/2, where undici keeps a session over a path that drops all packets, and timeouts once connected: calls and
// watches have their own.

import { isDeepStrictEqual } from 'node:util';
import { Agent, type Dispatcher, Pool, ProxyAgent } from 'undici';
import type { Connection, TlsMaterial } from './connection.ts';

export interface ConnectionPool {
  dispatcher(tls: TlsMaterial): Dispatcher;
  close(): Promise<void>;
}

/**
 * One dispatcher while the TLS material stays the same; a rotated CA or certificate makes a new one.
 *
 * @param connections at most; `null` does not limit them
 */
export function createPool(connection: Connection, connections: number | null): ConnectionPool {
  let current: { readonly tls: TlsMaterial; readonly dispatcher: Dispatcher } | undefined;
  return {
    dispatcher: (tls: TlsMaterial): Dispatcher => {
      // Calls share credentials, so that it is the same object most of the time.
      if (current !== undefined && (current.tls === tls || isDeepStrictEqual(current.tls, tls))) {
        return current.dispatcher;
      }
      const outdated = current?.dispatcher;
      current = { tls, dispatcher: createDispatcher(connection, tls, connections) };
      // Ends with its last request; a failure to close idle sockets has no consequence.
      void outdated?.close().catch(() => {});
      return current.dispatcher;
    },
    close: async () => {
      await current?.dispatcher.destroy();
    },
  };
}

/** For connecting, and for a proxy's answer to CONNECT. */
const connectTimeoutMs = 10_000;
const probed = { keepAlive: true, keepAliveInitialDelay: 30_000 };

function createDispatcher(
  { proxyUrl }: Connection,
  tls: TlsMaterial,
  connections: number | null,
): Dispatcher {
  const common = {
    connections,
    allowH2: false,
    // Bodies of watches are silent for as long as nothing happens, and a call may have been given minutes.
    bodyTimeout: 0,
    headersTimeout: 0,
    keepAliveTimeout: 30_000,
  };
  if (proxyUrl === undefined) {
    return new Agent({ ...common, connect: { ...tls, ...probed, timeout: connectTimeoutMs } });
  }
  return new ProxyAgent({
    ...common,
    uri: proxyUrl,
    connectTimeout: connectTimeoutMs,
    requestTls: { ...tls, ...probed },
    proxyTls: { ...probed, allowH2: false },
    // Left alone, undici waits five minutes for the answer to a CONNECT, and meanwhile no call has that connection.
    clientFactory: (proxy, options) => new Pool(proxy, { ...options, headersTimeout: connectTimeoutMs }),
  });
}
