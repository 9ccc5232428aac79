// HTTP to the API server: bounded pools of kept-alive connections, credentials per request, a deadline on every call, a
// bounded number of attempts. Refuses: waiting past the deadline for a Retry-After, and giving up where other credentials
// may be accepted. Invariant: every failure is a ClusterError.

import { readConnectionFault } from '#platform/http/connection-fault.ts';
import type { Clock } from '#platform/runtime/clock.ts';
import { withinLimit } from '#platform/runtime/time-limit.ts';
import { userAgent } from '#platform/runtime/version.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import { publishableCode } from '#platform/wire/publishable-error.ts';
import { parseList, parseObject } from './bounded-json.ts';
import { type Connection, ConnectionError } from './connection.ts';
import { type ConnectionPool, createPool } from './connection-pool.ts';
import {
  type ClusterAnswer,
  exchange,
  maxAnswerBytes,
  type OutgoingRequest,
  OversizeError,
  openStream,
  type Permit,
  type Send,
  UnfinishedError,
} from './exchange.ts';
import { type ClusterCaller, readRefusal } from './refusal.ts';
import { describeAddress, type ObjectAddress, pathOf, type Verb } from './resource-path.ts';
import { isWorthResending, maxAttempts, retryDelayMs } from './retry.ts';
import { shareCredentials } from './shared-credentials.ts';

export interface Call {
  readonly verb: Verb;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH';
  readonly address: ObjectAddress;
  readonly query?: Readonly<Record<string, string>>;
  /** Sent as JSON (which is YAML too, for `apply`). */
  readonly body?: unknown;
  readonly contentType?: string;
  /** Another form of the answer than the whole object, such as its metadata alone. */
  readonly accept?: string;
  /** Shorter than the transport's own, for leases. */
  readonly timeoutMs?: number;
  /** Called before each attempt; its error is the call's. Not called for a stream. */
  readonly permit?: Permit;
  /** A lower limit of the answer's size, where the caller can ask for less. */
  readonly maxBytes?: number;
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
  /** For messages; the operator by default. */
  readonly caller?: ClusterCaller;
  /** Calls that find a connection without waiting, which counts towards their deadline. */
  readonly callsAtOnce?: number;
  /** Called for each object that has too many fields and was left out of a list. */
  readonly onLeftOut?: (resource: string) => void;
  /** Called after every attempt; `code` is the HTTP status or `<error>`. */
  readonly observe?: (fact: { readonly method: string; readonly code: string }) => void;
}

/** How a call is sent, and until when. */
interface RequestRoute<A extends ClusterAnswer> {
  readonly pool: ConnectionPool;
  readonly send: Send<A>;
  readonly signal: AbortSignal;
  /** Monotonic. */
  readonly endsAt: number;
}

/** A start with thousands of resources must not open as many connections. */
const minConnections = 16;

export function createTransport(connection: Connection, options: TransportOptions): Transport {
  const { clock, timeoutMs } = options;
  const { origin, pathname } = new URL(connection.server);
  const prefix = pathname.replace(/\/+$/, '');
  const calls = createPool(connection, Math.max(minConnections, options.callsAtOnce ?? 0));
  // Each watch holds a connection while it lasts, and must not take one from calls.
  const streams = createPool(connection, null);
  const credentials = shareCredentials(connection, clock);

  const attempt = async <A extends ClusterAnswer>(call: Call, { pool, send, signal }: RequestRoute<A>) => {
    let code = '<error>';
    try {
      signal.throwIfAborted();
      const used = await credentials.obtain(signal);
      const request: OutgoingRequest = {
        origin,
        path: `${prefix}${pathOf(call.address, call.query)}`,
        method: call.method,
        headers: {
          ...used.headers,
          Accept: call.accept ?? 'application/json',
          'User-Agent': userAgent,
          ...(call.body !== undefined && { 'Content-Type': call.contentType ?? 'application/json' }),
        },
        body: call.body === undefined ? null : JSON.stringify(call.body),
      };
      const answer = await send(pool.dispatcher(used.tls), request, signal, {
        permit: call.permit,
        maxBytes: call.maxBytes ?? maxAnswerBytes,
      });
      code = String(answer.status);
      return { answer, used };
    } catch (error) {
      credentials.doubt();
      throw error;
    } finally {
      options.observe?.({ method: call.method, code });
    }
  };

  /** A successful answer, after the retries that the server requests. */
  const obtain = async <A extends ClusterAnswer>(call: Call, route: RequestRoute<A>) => {
    let isResent = false;
    for (let attempts = 1; ; attempts += 1) {
      const attempted = await attempt(call, route).catch((error: unknown) => {
        if (isResent || !isWorthResending(call.method, error)) throw error;
      });
      if (attempted === undefined) {
        isResent = true;
        continue;
      }
      const { answer, used } = attempted;
      const { status } = answer;
      if (status >= 200 && status < 300) return answer;
      const text = await answer.text();
      if (status === 401 && attempts < maxAttempts && credentials.replace(used)) continue;
      if (status >= 300 && status < 400) throw unusable(call, 'it is a redirect');
      const found = { httpStatus: status, retryAfterHeader: answer.retryAfter, body: readJson(text) };
      const refusal = readRefusal(call.verb, call.address, found, clock.now(), options.caller);
      const leftMs = route.endsAt - clock.monotonic();
      const waitMs = retryDelayMs(status, refusal.retryAfterMs, { attempts, leftMs });
      if (waitMs === undefined) throw refusal;
      await clock.after(waitMs, route.signal);
    }
  };

  return {
    call: async (call, signal) => {
      try {
        if (connection.mayPrompt === true) await credentials.obtain(signal);
        const limitMs = call.timeoutMs ?? timeoutMs;
        const endsAt = clock.monotonic() + limitMs;
        return await withinLimit(clock, limitMs, signal, async (limit) => {
          const route = { pool: calls, send: exchange, signal: limit, endsAt };
          const text = await (await obtain(call, route)).text();
          if (text === '') return undefined;
          if (call.verb !== 'list') return parseObject(text);
          const onLeftOut = (): void => options.onLeftOut?.(call.address.resource.plural);
          return await parseList(text, () => clock.after(0), onLeftOut);
        });
      } catch (error) {
        throw asClusterError(error, call, signal);
      }
    },
    stream: async (call, signal) => {
      const endsAt = clock.monotonic() + timeoutMs;
      const headersLate = new AbortController();
      const arrived = new AbortController();
      const watchdog = clock.after(timeoutMs, AbortSignal.any([arrived.signal, signal])).then(
        () => headersLate.abort(new DOMException('no answer in time', 'TimeoutError')),
        () => {},
      );
      try {
        const limit = AbortSignal.any([signal, headersLate.signal]);
        const { chunks } = await obtain(call, { pool: streams, send: openStream, signal: limit, endsAt });
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

/** A call about one object; `undefined` where there is none. @throws {ClusterError} */
export async function callUnlessAbsent(
  transport: Pick<Transport, 'call'>,
  call: Call,
  signal: AbortSignal,
): Promise<unknown> {
  return transport.call(call, signal).catch((error: unknown) => {
    if (error instanceof ClusterError && error.code === 'NotFound') return undefined;
    throw error;
  });
}

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

/** The body of a refusal, which may be a page of a proxy. */
function readJson(text: string): unknown {
  try {
    return parseObject(text);
  } catch {
    return undefined;
  }
}

function asClusterError(error: unknown, call: Call, signal: AbortSignal): ClusterError {
  if (error instanceof ClusterError) return error;
  if (signal.aborted) {
    return new ClusterError('Aborted', `stopped before the answer to ${whatOf(call)}`, { cause: error });
  }
  if (error instanceof ConnectionError) {
    const isMisconfigured = error.code !== 'CredentialsLate' && error.code !== 'AuthorityUnusable';
    const code = isMisconfigured ? 'Unauthorized' : 'Unavailable';
    return new ClusterError(code, error.message, { cause: error });
  }
  if (error instanceof OversizeError) {
    const size = `${error.maxBytes / 1024 / 1024} MiB`;
    const message = `the answer to ${whatOf(call)} is larger than ${size} and not read; make the objects smaller`;
    return new ClusterError('Unavailable', message, { cause: error });
  }
  return unusable(call, reasonOf(error), error);
}

function unusable(call: Call, why: string, cause?: unknown): ClusterError {
  const message = `no usable answer from the Kubernetes API server to ${whatOf(call)}: ${why}`;
  return new ClusterError('Unavailable', message, { cause });
}

const whatOf = ({ verb, address }: Call): string => `${verb} ${describeAddress(address)}`;

function reasonOf(error: unknown): string {
  if (error instanceof SyntaxError) return 'it is not JSON';
  if (error instanceof UnfinishedError) return 'it did not end in time';
  const { kind, what, remedy } = readConnectionFault(error);
  const own = kind === 'unknown-ca' ? caRemedy : remedies.get(publishableCode(error));
  return `it ${what}. ${own ?? remedy}`;
}

/** Where a kubeconfig has another place to correct. */
const remedies: ReadonlyMap<string, string> = new Map([
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'Set one of its names as server or tls-server-name in the kubeconfig'],
]);
const caRemedy =
  'Set its CA certificate as certificate-authority in the kubeconfig; a pod has it from --root-ca-file of kube-controller-manager, in ConfigMap kube-root-ca.crt';
