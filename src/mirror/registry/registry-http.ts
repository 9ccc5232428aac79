// Requests to one registry: authorization, redirects of reads, bounded answers, retries with a back-off. Every hop passes
// the address guard, and none leads from https to http. Invariants: credentials are sent to the registry's origin and its
// token endpoint only; what is thrown is a MirrorError or the signal's reason.

import { createLinkAgent } from '../../bundle/fetch/link-agent.ts';
import type { ProxySettings } from '../../bundle/fetch/proxy-settings.ts';
import type { Clock } from '../../runtime/clock.ts';
import { isRefusedHost } from '../../runtime/http/guarded-lookup.ts';
import { unlessAborted, withinLimit } from '../../runtime/time-limit.ts';
import { parseRetryAfter } from '../../wire/retry-after.ts';
import { codeInBrackets } from '../../wire/service-refusal.ts';
import { MirrorError } from '../mirror-error.ts';
import {
  type Answer,
  discard,
  type Exchange,
  type HttpRequest,
  headerOf,
  isRedirect,
  nextUrl,
  readWhole,
  refusalOf,
} from './answer.ts';
import type { RegistryCredentials } from './docker-config.ts';
import { type Access, accessDenied, knownFault } from './refusal.ts';
import { createRegistryAuth } from './registry-auth.ts';
import { addressNotAllowed, networkFault, registryFault } from './registry-fault.ts';
import { apiUrlOf, type Repository } from './repository.ts';

export interface RegistryLimits {
  /** Longest wait for a connection, for headers, and between two pieces of a body. */
  readonly idleTimeoutMs: number;
  /** Of one request and its whole answer, blobs excepted. */
  readonly answerTimeoutMs: number;
  /** Of one blob in either direction, a download's retries included. */
  readonly transferTimeoutMs: number;
}

export interface RegistryHttpOptions {
  readonly credentials: RegistryCredentials | undefined;
  /** Whether the registry, its redirects and its token endpoint may be within the cluster. */
  readonly allowPrivateAddresses: boolean;
  /** The allow list names this registry with `http://`: it is called over plain HTTP. */
  readonly isHttpAllowed: boolean;
  /** CA certificates to trust in addition to the system's, in PEM. */
  readonly extraCaPem: string | undefined;
  readonly proxy: ProxySettings;
  readonly userAgent: string;
  readonly clock: Clock;
  readonly limits: RegistryLimits;
}

export interface RegistryRequest extends HttpRequest {
  readonly access: Access;
}

export interface RegistryHttp {
  readonly apiUrl: URL;
  /** The answer, neither a refusal nor an outage; of a GET after redirects. The caller reads or discards its body. */
  send(request: RegistryRequest, signal: AbortSignal): Promise<Answer>;
  /** As `send`, with the whole body, which is bounded. */
  exchange(request: RegistryRequest, signal: AbortSignal, timeoutMs?: number): Promise<Exchange>;
  /** Repeats work that fails with a temporary error. */
  retry<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T>;
  /** @throws the failure, unless another attempt may follow it */
  pauseAfter(error: unknown, attempt: number, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

const mostAttempts = 4;
const firstPauseMs = 1_000;
/** A registry that asks for a longer wait is left to the caller's next attempt. */
const longestPauseMs = 60_000;
const maxRedirects = 5;
/** The specification's bound of a manifest. */
const longestAnswer = 4 * 1024 * 1024;
const longestToken = 64 * 1024;
const longestRefusal = 16 * 1024;

export function openRegistryHttp(repository: Repository, options: RegistryHttpOptions): RegistryHttp {
  const { clock, limits, allowPrivateAddresses, isHttpAllowed, credentials } = options;
  const apiUrl = apiUrlOf(repository, isHttpAllowed ? 'http' : 'https');
  const refuseInternal = ({ hostname, host }: URL): void => {
    if (isRefusedHost(hostname, allowPrivateAddresses)) throw addressNotAllowed(host);
  };
  refuseInternal(apiUrl);
  const agent = createLinkAgent({
    allowPrivateLinks: allowPrivateAddresses,
    extraCaPem: options.extraCaPem,
    proxy: options.proxy,
    idleTimeoutMs: limits.idleTimeoutMs,
  });

  const dispatch = async (request: HttpRequest, signal: AbortSignal): Promise<Answer> => {
    const { method, url, openBody } = request;
    const headers = { 'user-agent': options.userAgent, 'accept-encoding': 'identity', ...request.headers };
    refuseInternal(url);
    try {
      signal.throwIfAborted();
      const body = openBody?.() ?? null;
      // A connection that is being made heeds no signal.
      return await unlessAborted(
        agent.request({
          origin: url.origin,
          path: `${url.pathname}${url.search}`,
          method,
          headers,
          body,
          signal,
        }),
        signal,
      );
    } catch (error) {
      throw signal.aborted ? signal.reason : networkFault(url.host, error);
    }
  };
  const open = async (request: HttpRequest, signal: AbortSignal): Promise<Answer> => {
    const answer = await dispatch(request, signal);
    const { statusCode } = answer;
    if (statusCode !== 408 && statusCode !== 429 && statusCode < 500) return answer;
    const refused = await readRefusal(request.url, answer, signal);
    const known = knownFault(repository, refused, request.method);
    if (known !== undefined) throw known;
    const retryAfterMs = parseRetryAfter(headerOf(answer, 'retry-after'), clock.now());
    const code = codeInBrackets(refusalOf(refused).code);
    const what = `Registry host ${request.url.host} returned ${statusCode}${code}`;
    throw registryFault('Unreachable', what, { retryAfterMs });
  };
  /** One that breaks off, or comes too slowly, has no code. */
  const readRefusal = async ({ host }: URL, answer: Answer, signal: AbortSignal): Promise<Exchange> => {
    const { statusCode, headers } = answer;
    try {
      return await withinLimit(clock, limits.answerTimeoutMs, signal, (limit) =>
        unlessAborted(readWhole(host, answer, longestRefusal), limit),
      );
    } catch {
      signal.throwIfAborted();
      discard(answer);
      return { statusCode, headers, bytes: Buffer.alloc(0) };
    }
  };

  /** One request and its whole answer, within its time. */
  const whole = <R extends HttpRequest>(
    sendOne: (request: R, signal: AbortSignal) => Promise<Answer>,
    maxBytes: number,
  ) => {
    return (request: R, signal: AbortSignal, timeoutMs = limits.answerTimeoutMs): Promise<Exchange> =>
      withinLimit(clock, timeoutMs, signal, async (limit) => {
        try {
          return await readWhole(request.url.host, await sendOne(request, limit), maxBytes);
        } catch (error) {
          throw signal.aborted ? signal.reason : networkFault(request.url.host, error);
        }
      });
  };

  const exchangeToken = whole(open, longestToken);
  const auth = createRegistryAuth({ repository, credentials, isHttpAllowed, clock, exchange: exchangeToken });

  const authorized = async (request: RegistryRequest, signal: AbortSignal): Promise<Answer> => {
    // Other hosts, such as those of a storage, get no credentials, and their challenges no attention.
    if (request.url.origin !== apiUrl.origin) return open(request, signal);
    for (let attempt = 1; ; attempt += 1) {
      const authorization = await auth.headerFor(request.access, signal);
      const headers = { ...request.headers, ...(authorization !== undefined && { authorization }) };
      const answer = await open({ ...request, headers }, signal);
      const challenge = headerOf(answer, 'www-authenticate') ?? '';
      const isChallenged = answer.statusCode === 401 && attempt === 1;
      if (!isChallenged || !auth.learn(challenge, request.access, authorization)) return answer;
      discard(answer);
    }
  };

  const send = async (request: RegistryRequest, signal: AbortSignal): Promise<Answer> => {
    let { url } = request;
    for (let hop = 0; hop <= maxRedirects; hop += 1) {
      const answer = await authorized({ ...request, url }, signal);
      const { statusCode } = answer;
      const isDenied = statusCode === 401 || statusCode === 403;
      if (!isDenied && !(request.method === 'GET' && isRedirect(statusCode))) return answer;
      if (isDenied && url.origin === apiUrl.origin) {
        const refused = await readRefusal(url, answer, signal);
        throw accessDenied(`Registry host ${url.host}`, repository, refused, request.access, {
          credentials,
          isKnown: false,
        });
      }
      discard(answer);
      // A signed address may have expired. The registry issues another.
      if (isDenied) throw registryFault('Unreachable', `Storage host ${url.host} returned ${statusCode}`);
      url = nextUrl(url, headerOf(answer, 'location'));
    }
    throw registryFault(
      'NotARegistry',
      `Registry host ${apiUrl.host} redirected more than ${maxRedirects} times`,
    );
  };

  const pauseAfter = async (error: unknown, attempt: number, signal: AbortSignal): Promise<void> => {
    if (!(error instanceof MirrorError) || !error.isTemporary || attempt >= mostAttempts) throw error;
    const pauseMs = Math.max(firstPauseMs * 2 ** (attempt - 1), error.retryAfterMs ?? 0);
    if (pauseMs > longestPauseMs) throw error;
    await clock.after(pauseMs, signal);
  };

  return {
    apiUrl,
    send,
    exchange: whole(send, longestAnswer),
    retry: async (work, signal) => {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await work();
        } catch (error) {
          await pauseAfter(error, attempt, signal);
        }
      }
    },
    pauseAfter,
    close: () => agent.destroy(),
  };
}
