// Requests to one registry: authorization, redirects of reads, bounded answers, retries with a back-off. Every hop passes
// the address guard, and none leads from https to http. Invariants: credentials are sent to the registry's origin and its
// token endpoint only; what is thrown is a MirrorError or the signal's reason.

import { createAgent } from '#platform/http/agent.ts';
import { type Attempts, pauseAfter, withAttempts } from '#platform/http/attempts.ts';
import {
  discard,
  type HttpAnswer,
  isPassing,
  isRedirect,
  isSuccess,
  listHeaderOf,
  nextHop,
  readWhole,
  retryAfterOf,
  type WholeAnswer,
} from '#platform/http/exchange.ts';
import type { ProxySettings } from '#platform/http/proxy-settings.ts';
import type { Clock } from '#platform/runtime/clock.ts';
import { withinLimit } from '#platform/runtime/time-limit.ts';
import { codeInBrackets } from '#platform/wire/service-refusal.ts';
import { checkedUrl, type RegistryCall, registryRefusalOf } from './answer.ts';
import type { RegistryCredentials } from './docker-config.ts';
import { accessDenied, knownFault, type RegistryAccess } from './refusal.ts';
import { createRegistryAuth } from './registry-auth.ts';
import { registryFault, registryNetworkFault } from './registry-fault.ts';
import { apiUrlOf, type RegistryRepository } from './repository.ts';

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

export interface RegistryRequest extends RegistryCall {
  readonly access: RegistryAccess;
}

export interface RegistryHttp {
  readonly apiUrl: URL;
  /** The answer, neither a refusal nor an outage; of a GET after redirects. The caller reads or discards its body. */
  send(request: RegistryRequest, signal: AbortSignal): Promise<HttpAnswer>;
  /** As `send`, with the whole body, which is bounded. */
  exchange(request: RegistryRequest, signal: AbortSignal, timeoutMs?: number): Promise<WholeAnswer>;
  /** Repeats work that fails with a temporary error. */
  retry<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T>;
  /** @throws the failure, unless another attempt may follow it */
  pauseAfter(error: unknown, failed: number, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

const attempts: Attempts = { most: 4, firstPauseMs: 1_000, longestPauseMs: 60_000 };
const maxRedirects = 5;
/** The specification's bound of a manifest. */
const longestAnswer = 4 * 1024 * 1024;
const longestToken = 64 * 1024;
const longestRefusal = 16 * 1024;

export function openRegistryHttp(repository: RegistryRepository, options: RegistryHttpOptions): RegistryHttp {
  const { clock, limits, isHttpAllowed, credentials } = options;
  const apiUrl = apiUrlOf(repository, isHttpAllowed ? 'http' : 'https');
  const agent = createAgent({
    allowPrivateAddresses: options.allowPrivateAddresses,
    extraCaPem: options.extraCaPem,
    proxy: options.proxy,
    idleTimeoutMs: limits.idleTimeoutMs,
  });

  const dispatch = async (call: RegistryCall, signal: AbortSignal): Promise<HttpAnswer> => {
    const { method, url, openBody } = call;
    const headers = { 'user-agent': options.userAgent, 'accept-encoding': 'identity', ...call.headers };
    try {
      signal.throwIfAborted();
      return await agent.send({ method, url, headers, body: openBody?.() }, signal);
    } catch (error) {
      throw signal.aborted ? signal.reason : registryNetworkFault(url.host, error);
    }
  };
  const open = async (request: RegistryCall, signal: AbortSignal): Promise<HttpAnswer> => {
    const answer = await dispatch(request, signal);
    if (!isPassing(answer)) return answer;
    const refused = await readRefusal(answer, signal);
    const known = knownFault(repository, refused, request.method);
    if (known !== undefined) throw known;
    const retryAfterMs = retryAfterOf(answer, clock.now());
    const code = codeInBrackets(registryRefusalOf(refused).code);
    const what = `Registry host ${request.url.host} returned ${answer.statusCode}${code}`;
    throw registryFault('Unreachable', what, { retryAfterMs });
  };
  /** One that comes too slowly is judged by its start. */
  const readRefusal = (answer: HttpAnswer, signal: AbortSignal): Promise<WholeAnswer> =>
    withinLimit(clock, limits.answerTimeoutMs, signal, (limit) => {
      limit.addEventListener('abort', () => discard(answer), { once: true });
      return readWhole(answer, longestRefusal, signal);
    });

  /** One request and its whole answer, within its time. */
  const whole = <R extends RegistryCall>(
    sendOne: (request: R, signal: AbortSignal) => Promise<HttpAnswer>,
    maxBytes: number,
  ) => {
    return (request: R, signal: AbortSignal, timeoutMs = limits.answerTimeoutMs): Promise<WholeAnswer> =>
      withinLimit(clock, timeoutMs, signal, async (limit) => {
        const { host } = request.url;
        try {
          const answer = await readWhole(await sendOne(request, limit), maxBytes, limit);
          if (!answer.isCut || !isSuccess(answer)) return answer;
          throw registryFault('NotARegistry', `Registry host ${host} returned more than ${maxBytes} bytes`);
        } catch (error) {
          throw signal.aborted ? signal.reason : registryNetworkFault(host, error);
        }
      });
  };

  const exchangeToken = whole(open, longestToken);
  const auth = createRegistryAuth({ repository, credentials, isHttpAllowed, clock, exchange: exchangeToken });

  const authorized = async (request: RegistryRequest, signal: AbortSignal): Promise<HttpAnswer> => {
    // Other hosts, such as those of a storage, get no credentials, and their challenges no attention.
    if (request.url.origin !== apiUrl.origin) return open(request, signal);
    for (let attempt = 1; ; attempt += 1) {
      const authorization = await auth.headerFor(request.access, signal);
      const headers = { ...request.headers, ...(authorization !== undefined && { authorization }) };
      const answer = await open({ ...request, headers }, signal);
      const challenge = listHeaderOf(answer, 'www-authenticate') ?? '';
      const isChallenged = answer.statusCode === 401 && attempt === 1;
      if (!isChallenged || !auth.learn(challenge, request.access, authorization)) return answer;
      discard(answer);
    }
  };

  const send = async (request: RegistryRequest, signal: AbortSignal): Promise<HttpAnswer> => {
    let { url } = request;
    for (let hop = 0; hop <= maxRedirects; hop += 1) {
      const answer = await authorized({ ...request, url }, signal);
      const { statusCode } = answer;
      const isDenied = statusCode === 401 || statusCode === 403;
      if (!isDenied && !(request.method === 'GET' && isRedirect(answer))) return answer;
      if (isDenied && url.origin === apiUrl.origin) {
        const refused = await readRefusal(answer, signal);
        throw accessDenied(`Registry host ${url.host}`, repository, refused, request.access, {
          credentials,
          isKnown: false,
        });
      }
      discard(answer);
      // A signed address may have expired. The registry issues another.
      if (isDenied) throw registryFault('Unreachable', `Storage host ${url.host} returned ${statusCode}`);
      url = checkedUrl(url, nextHop(url, answer));
    }
    throw registryFault(
      'NotARegistry',
      `Registry host ${apiUrl.host} redirected more than ${maxRedirects} times`,
    );
  };

  return {
    apiUrl,
    send,
    exchange: whole(send, longestAnswer),
    retry: (work, signal) => withAttempts(work, attempts, clock, signal),
    pauseAfter: (error, failed, signal) => pauseAfter(error, failed, attempts, clock, signal),
    close: () => agent.destroy(),
  };
}
