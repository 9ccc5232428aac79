// Makes the connections that links are fetched with: proxies, extra CA certificates, and the address guard. Refuses
// HTTP/2, and connecting to an internal address unless that is allowed. A proxy resolves names itself, so behind a
// proxy the guard judges literal hosts only (link-request.ts does this).

// The default export: see runtime/supported-node.ts.
import tls from 'node:tls';
import { Agent, type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici';
import { guardedLookup } from '../../runtime/http/guarded-lookup.ts';
import type { ProxySettings } from './proxy-settings.ts';

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

/** The caller closes (or destroys) it. */
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
  if (!hasProxy(proxy)) return new Agent(common);
  return new EnvHttpProxyAgent({
    ...common,
    // Empty rather than absent: undici would read an absent setting from the environment.
    httpProxy: proxy.httpProxy ?? '',
    httpsProxy: proxy.httpsProxy ?? '',
    noProxy: proxy.noProxy ?? '',
    requestTls: trust,
    proxyTls: { ...trust, allowH2: false },
    connectTimeout: idleTimeoutMs,
    // By default undici waits five minutes for the answer to a CONNECT, and blocks that connection meanwhile.
    clientFactory: (origin, rest) => new Pool(origin, { ...rest, headersTimeout: idleTimeoutMs }),
  });
}

function hasProxy(proxy: ProxySettings | undefined): proxy is ProxySettings {
  return proxy !== undefined && Boolean(proxy.httpProxy || proxy.httpsProxy);
}
