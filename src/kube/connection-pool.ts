// Kept-alive HTTP/1.1 connections to the API server, and what they are made of. Refuses: HTTP/2, where a dark path
// leaves undici on a dead session, and limits of time of its own: a call and the reader of a watch have theirs.

import { isDeepStrictEqual } from 'node:util';
import { Agent, type Dispatcher, ProxyAgent } from 'undici';
import type { Connection, TlsMaterial } from './connection.ts';

export interface ConnectionPool {
  dispatcher(tls: TlsMaterial): Dispatcher;
  close(): Promise<void>;
}

interface PoolBounds {
  readonly connections?: number;
}

/** One dispatcher for as long as the TLS material stays the same; a rotated CA or certificate makes a new one. */
export function createPool(connection: Connection, bounds: PoolBounds): ConnectionPool {
  let current: { readonly tls: TlsMaterial; readonly dispatcher: Dispatcher } | undefined;
  return {
    dispatcher: (tls: TlsMaterial): Dispatcher => {
      // Calls share credentials, so that it is the same object most of the time.
      if (current !== undefined && (current.tls === tls || isDeepStrictEqual(current.tls, tls))) {
        return current.dispatcher;
      }
      const outdated = current?.dispatcher;
      current = { tls, dispatcher: createDispatcher(connection, tls, bounds) };
      // Ends when its last request does; a failure to close idle sockets is nobody's concern.
      void outdated?.close().catch(() => {});
      return current.dispatcher;
    },
    close: async () => {
      await current?.dispatcher.destroy();
    },
  };
}

function createDispatcher({ proxyUrl }: Connection, tls: TlsMaterial, bounds: PoolBounds): Dispatcher {
  const common = {
    ...bounds,
    allowH2: false,
    // Bodies of watches are silent for as long as nothing happens, and a call may have been given minutes.
    bodyTimeout: 0,
    headersTimeout: 0,
    keepAliveTimeout: 30_000,
  };
  const connect = { ...tls, timeout: 10_000, keepAlive: true, keepAliveInitialDelay: 30_000 };
  return proxyUrl === undefined
    ? new Agent({ ...common, connect })
    : new ProxyAgent({ ...common, uri: proxyUrl, requestTls: tls, connect: { timeout: 10_000 } });
}
