// Which proxy a link is fetched through, by the usual variables. A file of its own, so that a worker can read them without
// loading an HTTP client.

/** Handed in as data: only `bin` reads the environment. */
export interface ProxySettings {
  readonly httpProxy: string | undefined;
  readonly httpsProxy: string | undefined;
  readonly noProxy: string | undefined;
}

/** Lower case counts first, as in curl. */
export function readProxySettings(env: Readonly<Record<string, string | undefined>>): ProxySettings {
  return {
    httpProxy: env['http_proxy'] ?? env['HTTP_PROXY'],
    httpsProxy: env['https_proxy'] ?? env['HTTPS_PROXY'],
    noProxy: env['no_proxy'] ?? env['NO_PROXY'],
  };
}
