// Makes the connections that links are fetched with: proxies, extra CA certificates, and the address guard. Refuses
// HTTP/2, and connecting to an internal address unless that is allowed. A proxy resolves names itself, so behind a
// proxy the guard judges literal hosts only (link-request.ts does this).

// The default export: see runtime/supported-node.ts.
import tls from 'node:tls';
import { Agent, Dispatcher, Pool, ProxyAgent } from 'undici';
import { guardedLookup } from '../../runtime/http/guarded-lookup.ts';
import { checkProxies, type ProxySettings, proxyFor } from './proxy-settings.ts';

export interface LinkAgentOptions {
  readonly allowPrivateLinks: boolean;
  readonly extraCaPem?: string | undefined;
  readonly proxy?: ProxySettings | undefined;
  /** Concurrent requests to one host that need not wait for a connection; the wait counts towards their timeout. */
  readonly connections?: number;
  /** Longest wait for a connection, for headers, and between two pieces of a body. */
  readonly idleTimeoutMs: number;
}

/** For a caller that fetches one archive at a time, a few redirects away. */
const fewConnections = 4;

/** The caller closes (or destroys) it. @throws {PublishableError} `InvalidProxy` */
export function createLinkAgent(options: LinkAgentOptions): Dispatcher {
  const { allowPrivateLinks, extraCaPem, proxy, idleTimeoutMs, connections = fewConnections } = options;
  const trust = extraCaPem === undefined ? {} : { ca: [...tls.getCACertificates('default'), extraCaPem] };
  const common = {
    allowH2: false,
    connections,
    bodyTimeout: idleTimeoutMs,
    headersTimeout: idleTimeoutMs,
    connect: {
      timeout: idleTimeoutMs,
      ...trust,
      lookup: guardedLookup(allowPrivateLinks),
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
      connectTimeout: idleTimeoutMs,
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
