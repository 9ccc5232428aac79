// Which proxy a request goes through, by the usual variables: one rule for every client of this project, as curl and Go
// read them. A file of its own, so that a worker can read them without loading an HTTP client. Refuses SOCKS. Pure.

import { BlockList, isIP } from 'node:net';
import { PublishableError } from '#platform/wire/publishable-error.ts';

/** Handed in as data: only `bin` reads the environment. */
export interface ProxySettings {
  readonly httpProxy: string | undefined;
  readonly httpsProxy: string | undefined;
  readonly noProxy: string | undefined;
  /** The variables that they are from, where these are in lower case. */
  readonly names?: Readonly<Partial<Record<Proxy, string>>>;
}

type Proxy = 'httpProxy' | 'httpsProxy';
type Environment = Readonly<Record<string, string | undefined>>;

/** Lower case counts first, and an empty variable as none, as in curl. What is not a proxy is found when it is used. */
export function readProxySettings(env: Environment): ProxySettings {
  return {
    httpProxy: env['http_proxy'] || env['HTTP_PROXY'],
    httpsProxy: env['https_proxy'] || env['HTTPS_PROXY'],
    noProxy: env['no_proxy'] || env['NO_PROXY'],
    names: {
      ...(env['http_proxy'] && { httpProxy: 'http_proxy' }),
      ...(env['https_proxy'] && { httpsProxy: 'https_proxy' }),
    },
  };
}

/**
 * The same for a program that sends requests: a retry would not correct the variable.
 *
 * @throws {PublishableError} `InvalidProxy`
 */
export function requireProxySettings(env: Environment): ProxySettings {
  return checkProxies(readProxySettings(env));
}

/** @throws {PublishableError} `InvalidProxy`, also of a variable that no request would use now */
export function checkProxies(settings: ProxySettings): ProxySettings {
  addressOf('httpsProxy', settings);
  addressOf('httpProxy', settings);
  return settings;
}

/**
 * @returns the proxy's address; `undefined` where the request goes direct
 * @throws {PublishableError} `InvalidProxy`
 */
export function proxyFor(url: URL, settings: ProxySettings): string | undefined {
  if (isExempt(url, settings.noProxy ?? '')) return undefined;
  return addressOf(url.protocol === 'https:' ? 'httpsProxy' : 'httpProxy', settings);
}

function addressOf(which: Proxy, { [which]: value, names }: ProxySettings): string | undefined {
  const proxy = value?.trim();
  if (!proxy) return undefined;
  const address = proxy.includes('://') ? proxy : `http://${proxy}`;
  if (URL.canParse(address) && /^https?:$/.test(new URL(address).protocol)) return address;
  const name = names?.[which] ?? (which === 'httpsProxy' ? 'HTTPS_PROXY' : 'HTTP_PROXY');
  throw new PublishableError(
    'InvalidProxy',
    `${name} is not the address of an HTTP proxy. Write it as http://HOST:PORT.`,
  );
}

/** A list such as `*`, `example.com`, `.example.com:8443`, `10.0.0.0/8` and `[fd00::]/8`. */
function isExempt({ hostname, port, protocol }: URL, noProxy: string): boolean {
  const host = bare(hostname);
  const effectivePort = port || (protocol === 'https:' ? '443' : '80');
  return noProxy
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      if (entry === '*') return true;
      const [name, wanted] = splitPort(entry.toLowerCase());
      if (wanted !== undefined && wanted !== effectivePort) return false;
      return isIP(host) === 0 ? isDomainOf(bare(name), host) : isInNetwork(name, host);
    });
}

/** Without brackets, and without the dot at the end of a full name. */
const bare = (name: string): string => name.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');

function splitPort(entry: string): readonly [name: string, port: string | undefined] {
  const [, name, port] = /^(\[[^\]]*\]|[^:]*):(\d+)$/.exec(entry) ?? [];
  return name === undefined ? [entry, undefined] : [name, port];
}

function isDomainOf(entry: string, host: string): boolean {
  const domain = entry.replace(/^\*?\./, '');
  return domain !== '' && (host === domain || host.endsWith(`.${domain}`));
}

function isInNetwork(entry: string, host: string): boolean {
  const [address = '', bits, more] = entry.split('/');
  const network = bare(address);
  const version = isIP(network);
  const prefix = bits === undefined ? (version === 4 ? 32 : 128) : Number(bits);
  const isPrefix = /^\d{1,3}$/.test(bits ?? '0') && prefix <= (version === 4 ? 32 : 128);
  if (version === 0 || more !== undefined || !isPrefix) return false;
  const list = new BlockList();
  list.addSubnet(network, prefix, version === 4 ? 'ipv4' : 'ipv6');
  return list.check(host, isIP(host) === 4 ? 'ipv4' : 'ipv6');
}
