// HTTP to the API server: bounded pools of kept-alive HTTP/1.1 connections, credentials per request, a deadline on
// every call, a bounded number of tries. Refuses: HTTP/2 (a dark path leaves undici on a dead session), and
// retrying what the server did not ask to have retried. Everything that goes wrong is a ClusterError.

import { isDeepStrictEqual } from 'node:util';
import { Agent, type Dispatcher, ProxyAgent } from 'undici';
import type { Clock } from '../runtime/clock.ts';
import { withinLimit } from '../runtime/time-limit.ts';
import { userAgent } from '../runtime/version.ts';
import { ClusterError } from '../wire/cluster-error.ts';
import { publishableCode } from '../wire/publishable-error.ts';
import { type Connection, ConnectionError, type TlsMaterial } from './connection.ts';
import { type Answer, exchange, type Sending } from './exchange.ts';
import { readRefusal } from './refusal.ts';
import { describeAddress, type ObjectAddress, pathOf, type Verb } from './resource-path.ts';
import { shareCredentials } from './shared-credentials.ts';

export interface Call {
  readonly verb: Verb;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH';
  readonly address: ObjectAddress;
  readonly query?: Readonly<Record<string, string>>;
  /** Sent as JSON (which is YAML too, for `apply`). */
  readonly body?: unknown;
  readonly contentType?: string;
  /** Less than the transport's own, where waiting longer is no use (leases). */
  readonly timeoutMs?: number;
}

export interface Transport {
  /** @returns the parsed body. @throws {ClusterError} */
  call(call: Call, signal: AbortSignal): Promise<unknown>;
  /** Resolves with the headers; the body then runs until the signal aborts. @throws {ClusterError} */
  stream(call: Call, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
  close(): Promise<void>;
}

export interface TransportOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** Told of every answer; `code` is the HTTP status or `<error>`. */
  readonly observe?: (fact: { readonly method: string; readonly code: string }) => void;
}

interface Stream extends Answer {
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** How one request is sent: whole, or as a stream. */
type Send<A extends Answer> = (dispatcher: Dispatcher, sending: Sending, signal: AbortSignal) => Promise<A>;

const maxTries = 4;
const maxWaitMs = 10_000;
/** Refused credentials are read anew this often at most, or a revoked account would run its exec plugin without end. */
const renewEveryMs = 10_000;
/** Enough for every worker; a start with thousands of resources must not open as many connections. */
const maxCallConnections = 16;

export function createTransport(connection: Connection, options: TransportOptions): Transport {
  const { clock, timeoutMs } = options;
  const { origin, pathname } = new URL(connection.server);
  const prefix = pathname.replace(/\/+$/, '');
  const calls = createPool(connection, { connections: maxCallConnections });
  // Each watch holds one for as long as it lasts; they must not take the place of calls.
  const streams = createPool(connection, {});
  const credentials = shareCredentials(connection, clock);
  let renewedAt = Number.NEGATIVE_INFINITY;

  /** True if the credentials were read again, so that the call is worth another try. */
  const renew = (): boolean => {
    const now = clock.monotonic();
    if (now - renewedAt < renewEveryMs) return false;
    renewedAt = now;
    connection.renew();
    credentials.forget();
    return true;
  };

  const attempt = async <A extends Answer>(call: Call, pool: Pool, send: Send<A>, signal: AbortSignal) => {
    let code = '<error>';
    try {
      signal.throwIfAborted();
      const { headers, tls } = await credentials.obtain(signal);
      const sending: Sending = {
        origin,
        path: `${prefix}${pathOf(call.address, call.query)}`,
        method: call.method,
        headers: {
          ...headers,
          Accept: 'application/json',
          'User-Agent': userAgent,
          ...(call.body !== undefined && { 'Content-Type': call.contentType ?? 'application/json' }),
        },
        body: call.body === undefined ? null : JSON.stringify(call.body),
      };
      const answer = await send(pool.dispatcher(tls), sending, signal);
      code = String(answer.status);
      return answer;
    } catch (error) {
      credentials.doubt();
      throw error;
    } finally {
      options.observe?.({ method: call.method, code });
    }
  };

  /** One answer that is a success, with the tries that the server asks for. */
  const obtain = async <A extends Answer>(call: Call, pool: Pool, send: Send<A>, signal: AbortSignal) => {
    for (let tries = 1; ; tries += 1) {
      const answer = await attempt(call, pool, send, signal);
      const { status } = answer;
      if (status >= 200 && status < 300) return answer;
      const text = await answer.text();
      if (status === 401 && renew()) continue;
      if (status >= 300 && status < 400) throw unusable(call, 'a redirect');
      const found = { httpStatus: status, retryAfterHeader: answer.retryAfter, body: readJson(text) };
      const refusal = readRefusal(call.verb, call.address, found, clock.now());
      // As client-go: only a server that says when wants to be asked again (429 and 5xx).
      const isAsked = status === 429 || status >= 500;
      const waitMs = refusal.retryAfterMs;
      if (!isAsked || waitMs === undefined || waitMs > maxWaitMs || tries >= maxTries) throw refusal;
      await clock.after(waitMs, signal);
    }
  };

  return {
    call: async (call, signal) => {
      try {
        return await withinLimit(clock, call.timeoutMs ?? timeoutMs, signal, async (limit) => {
          const text = await (await obtain(call, calls, exchange, limit)).text();
          return text === '' ? undefined : JSON.parse(text);
        });
      } catch (error) {
        throw asClusterError(error, call, signal);
      }
    },
    stream: async (call, signal) => {
      const headersLate = new AbortController();
      const arrived = new AbortController();
      const watchdog = clock.after(timeoutMs, AbortSignal.any([arrived.signal, signal])).then(
        () => headersLate.abort(new DOMException('no answer in time', 'TimeoutError')),
        () => {},
      );
      try {
        const limit = AbortSignal.any([signal, headersLate.signal]);
        const { chunks } = await obtain(call, streams, openStream, limit);
        return readChunks(chunks, call, signal);
      } catch (error) {
        throw asClusterError(error, call, signal);
      } finally {
        arrived.abort();
        await watchdog;
      }
    },
    close: async () => {
      await Promise.all([calls.close(), streams.close()]);
    },
  };
}

const openStream: Send<Stream> = async (dispatcher, sending, signal) => {
  const { statusCode, headers, body } = await dispatcher.request({ ...sending, signal });
  const [retryAfter = null] = [headers['retry-after']].flat();
  return { status: statusCode, retryAfter, text: () => body.text(), chunks: body };
};

async function* readChunks(
  chunks: AsyncIterable<Uint8Array>,
  call: Call,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of chunks) yield chunk;
  } catch (error) {
    throw asClusterError(error, call, signal);
  }
}

/** A refusal's words, which may be a page of some proxy. */
function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function asClusterError(error: unknown, call: Call, signal: AbortSignal): ClusterError {
  if (error instanceof ClusterError) return error;
  if (signal.aborted) {
    return new ClusterError('Aborted', `stopped while asking to ${whatOf(call)}`, { cause: error });
  }
  if (error instanceof ConnectionError)
    return new ClusterError('Unauthorized', error.message, { cause: error });
  return unusable(call, reasonOf(error), error);
}

function unusable(call: Call, reason: string, cause?: unknown): ClusterError {
  const message = `no usable answer from the API server (${reason}) to ${whatOf(call)}`;
  return new ClusterError('Unavailable', message, { cause });
}

const whatOf = ({ verb, address }: Call): string => `${verb} ${describeAddress(address)}`;

function reasonOf(error: unknown): string {
  if (error instanceof SyntaxError) return 'not JSON';
  return error instanceof Error && error.name === 'TimeoutError' ? 'timeout' : publishableCode(error);
}

interface Pool {
  dispatcher(tls: TlsMaterial): Dispatcher;
  close(): Promise<void>;
}

interface PoolBounds {
  readonly connections?: number;
}

/** One dispatcher for as long as the TLS material stays the same; a rotated CA or certificate makes a new one. */
function createPool(connection: Connection, bounds: PoolBounds): Pool {
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
    // Bodies of watches are silent for as long as nothing happens; their reader has a limit of its own.
    bodyTimeout: 0,
    headersTimeout: 60_000,
    keepAliveTimeout: 30_000,
  };
  const connect = { ...tls, timeout: 10_000, keepAlive: true, keepAliveInitialDelay: 30_000 };
  return proxyUrl === undefined
    ? new Agent({ ...common, connect })
    : new ProxyAgent({ ...common, uri: proxyUrl, requestTls: tls, connect: { timeout: 10_000 } });
}
