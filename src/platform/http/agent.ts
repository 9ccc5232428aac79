// The one way out to the network: connections, proxies, extra CA certificates, the address guard, and the abort of a
// request at any moment. Refuses HTTP/2, and internal addresses unless they are allowed. A proxy resolves names itself, so
// behind a proxy the guard judges literal hosts only.

// The default export: see runtime/supported-node.ts.
import tls from 'node:tls';
import { Agent, Dispatcher, Pool, ProxyAgent } from 'undici';
import { unlessAborted } from '#platform/runtime/time-limit.ts';
import { discard, type HttpAnswer, type HttpRequest } from './exchange.ts';
import { guardedLookup, InternalAddressError, isRefusedHost } from './guarded-lookup.ts';
import { checkProxies, type ProxySettings, proxyFor } from './proxy-settings.ts';

export interface AgentOptions {
  /** Link-local addresses and those of metadata services are refused all the same. */
  readonly allowPrivateAddresses: boolean;
  readonly extraCaPem?: string | undefined;
  readonly proxy?: ProxySettings | undefined;
  /** Concurrent requests to one host that need not wait for a connection; the wait counts towards their timeout. */
  readonly connections?: number;
  /** Longest wait for headers, and between two pieces of a body. */
  readonly idleTimeoutMs: number;
  /** Longest wait for a connection; `idleTimeoutMs` where it is absent. */
  readonly connectTimeoutMs?: number;
}

export interface HttpAgent {
  /**
   * Resolves with the head of the answer; redirects are answers.
   *
   * @throws the signal's reason, also while a connection is being made; {@link InternalAddressError}; an error that
   *   `readConnectionFault` explains
   */
  send(request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer>;
  /** Ends requests in progress too. */
  destroy(): Promise<void>;
}

/** One that can be replaced. */
export interface ClosableAgent extends HttpAgent {
  /** Lets requests in progress finish. */
  close(): Promise<void>;
}

/** For a caller that fetches one archive at a time, a few redirects away. */
const fewConnections = 4;

/** The caller closes (or destroys) it. @throws {PublishableError} `InvalidProxy` */
export const createAgent = (options: AgentOptions): ClosableAgent =>
  agentOver(createDispatcher(options), options.allowPrivateAddresses);

/** The same over connections that exist already. */
export function agentOver(dispatcher: Dispatcher, allowPrivateAddresses: boolean): ClosableAgent {
  return {
    send: async ({ method, url, path, headers, body }, signal) => {
      signal.throwIfAborted();
      if (isRefusedHost(url.hostname, allowPrivateAddresses)) throw new InternalAddressError(url.host);
      const opening = dispatcher
        .request({
          ...{ origin: url.origin, path: path ?? `${url.pathname}${url.search}` },
          ...{ method, headers, body: body ?? null, signal },
        })
        .then((answer) => {
          answer.body.on('error', () => {});
          return answer;
        });
      try {
        // A connection that is being made heeds no signal.
        return await unlessAborted(opening, signal);
      } catch (error) {
        opening.then(discard, () => {});
        throw signal.aborted ? signal.reason : error;
      }
    },
    close: () => dispatcher.close(),
    destroy: () => dispatcher.destroy(),
  };
}

function createDispatcher(options: AgentOptions): Dispatcher {
  const { extraCaPem, proxy, idleTimeoutMs, connections = fewConnections } = options;
  const { connectTimeoutMs = idleTimeoutMs } = options;
  const trust = extraCaPem === undefined ? {} : { ca: [...tls.getCACertificates('default'), extraCaPem] };
  const common = {
    allowH2: false,
    connections,
    bodyTimeout: idleTimeoutMs,
    headersTimeout: idleTimeoutMs,
    connect: {
      timeout: connectTimeoutMs,
      ...trust,
      lookup: guardedLookup(options.allowPrivateAddresses),
    },
  };
  // Here, because an error of a dispatch is taken for one of the network, and retried.
  if (proxy !== undefined) checkProxies(proxy);
  const direct = new Agent(common);
  if (!hasProxy(proxy)) return direct;
  return new ChosenAgent(direct, proxy, (uri) => {
    return new ProxyAgent({
      ...common,
      uri,
      requestTls: trust,
      proxyTls: { ...trust, allowH2: false },
      connectTimeout: connectTimeoutMs,
      // By default undici waits five minutes for the answer to a CONNECT, and blocks that connection meanwhile.
      clientFactory: (origin, rest) => new Pool(origin, { ...rest, headersTimeout: idleTimeoutMs }),
    });
  });
}

/** Each request goes direct or through a proxy, by its origin. undici's own choice knows no networks. */
class ChosenAgent extends Dispatcher {
  readonly #direct: Dispatcher;
  readonly #settings: ProxySettings;
  readonly #open: (proxy: string) => Dispatcher;
  readonly #proxies = new Map<string, Dispatcher>();

  constructor(direct: Dispatcher, settings: ProxySettings, open: (proxy: string) => Dispatcher) {
    super();
    this.#direct = direct;
    this.#settings = settings;
    this.#open = open;
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    return this.#agentFor(options).dispatch(options, handler);
  }

  override async close(): Promise<void> {
    await Promise.all(this.#all().map((agent) => agent.close()));
  }

  override async destroy(): Promise<void> {
    await Promise.all(this.#all().map((agent) => agent.destroy()));
  }

  #agentFor({ origin = '' }: Dispatcher.DispatchOptions): Dispatcher {
    const proxy = proxyFor(new URL(origin), this.#settings);
    if (proxy === undefined) return this.#direct;
    const agent = this.#proxies.get(proxy) ?? this.#open(proxy);
    this.#proxies.set(proxy, agent);
    return agent;
  }

  #all(): readonly Dispatcher[] {
    return [this.#direct, ...this.#proxies.values()];
  }
}

function hasProxy(proxy: ProxySettings | undefined): proxy is ProxySettings {
  return proxy !== undefined && Boolean(proxy.httpProxy || proxy.httpsProxy);
}
