// The API server's address and the operator's credentials, from a service account or a kubeconfig file. Owns client-node's
// KubeConfig (parsing, token rotation), the only part used of that package.
// Refuses: guessing. Without a configuration it fails and names the flags, and never falls back to `localhost:8080`.

import { existsSync, readFileSync } from 'node:fs';
import type { RequestOptions } from 'node:https';
import { homedir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { findFault, holdsCertificate } from '#platform/http/ca-certificates.ts';
import { type ProxySettings, proxyFor, readProxySettings } from '#platform/http/proxy-settings.ts';
import { PublishableError, publishableCode } from '#platform/wire/publishable-error.ts';
import { type Login, openLogin } from './exec-credential.ts';
import { endPluginsOn } from './exec-plugin.ts';

/** What `bin` knows of the process. */
export interface ConnectionSource {
  /** A kubeconfig's path; wins over everything else. */
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
  /** Whom to act as (impersonation). */
  readonly user?: string | undefined;
  /** True in a pod: `KUBERNETES_SERVICE_HOST` is set. */
  readonly isInCluster: boolean;
  /** A person reads the standard error of this program, and may log in. */
  readonly isAttended?: boolean | undefined;
  /** What the environment says; a program without it reads no such variable. */
  readonly environment?: ConnectionEnvironment | undefined;
}

export interface ConnectionEnvironment {
  /** `KUBECONFIG`: files, separated as in `PATH`. */
  readonly kubeconfigs: string | undefined;
  readonly proxy: ProxySettings;
  /** For the credentials plugin. */
  readonly variables: Readonly<Record<string, string | undefined>>;
}

export const readConnectionEnvironment = (
  env: Readonly<Record<string, string | undefined>>,
): ConnectionEnvironment => ({
  kubeconfigs: env['KUBECONFIG'],
  proxy: readProxySettings(env),
  variables: env,
});

/** TLS material and headers for one request; read again for each, since tokens and CAs rotate in place. */
export interface Credentials {
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: TlsMaterial;
}

export interface TlsMaterial {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly servername?: string;
  readonly rejectUnauthorized?: boolean;
}

export interface Connection {
  /** Base URL of the Kubernetes API server, without trailing slash; may carry a path prefix. */
  readonly server: string;
  readonly proxyUrl: string | undefined;
  /** A plugin may wait for a person, who sees its prompt. The time counts towards no call. */
  readonly mayPrompt?: boolean;
  /** The context's or the service account's own namespace. */
  readonly namespace: string | undefined;
  /**
   * @param signal ends an exec plugin that runs for it
   * @param now epoch ms; without it a credential that expires is obtained again
   * @throws {ConnectionError} `CredentialsUnavailable` when a file or an exec plugin fails, or yields no credentials,
   * `AuthorityUnusable` when the CA certificates do; both may recover once the configuration is read again.
   */
  authenticate(signal: AbortSignal, now?: number): Promise<Credentials>;
  /**
   * Reads the configuration again and forgets cached tokens, after the last credentials were refused. A file that cannot
   * be read changes nothing. The server stays the same.
   */
  renew(): void;
}

/** The API server cannot be reached: nothing configured, an unknown context, credentials that cannot be obtained. */
export class ConnectionError extends PublishableError {}

/** @throws {ConnectionError} */
export function openConnection(source: ConnectionSource): Connection {
  let config = loadConfig(source);
  const attended = { variables: source.environment?.variables, isAttended: source.isAttended === true };
  let login = openLogin(config, attended);
  const cluster = config.getCurrentCluster();
  if (cluster === null) {
    const isEmpty = sourceOf(source) === 'list';
    throw new ConnectionError(
      'NoCluster',
      isEmpty
        ? 'no cluster is configured: the files of KUBECONFIG are absent or name none; correct KUBECONFIG, or set --kubeconfig'
        : 'no cluster is configured; set --kubeconfig (and --context) or KUBECONFIG, or run in a pod with a service account',
    );
  }
  if (!URL.canParse(cluster.server)) {
    throw new ConnectionError('InvalidServer', 'the cluster of the chosen context has no usable server URL');
  }
  const proxyUrl = cluster.proxyUrl || environmentProxy(cluster.server, source);
  if (proxyUrl?.startsWith('socks')) {
    throw new ConnectionError('SocksProxy', 'SOCKS proxies are not supported; use an HTTP proxy-url');
  }
  if (cluster.server.startsWith('http:') && !cluster.skipTLSVerify) {
    throw new ConnectionError(
      'PlainHttp',
      'the server URL is http://, which sends the token unencrypted; use https, or set insecure-skip-tls-verify',
    );
  }
  return {
    server: cluster.server.replace(/\/+$/, ''),
    proxyUrl,
    mayPrompt: source.isAttended === true && login !== undefined,
    namespace: config.getContextObject(config.getCurrentContext())?.namespace,
    authenticate: async (signal, now) => {
      const { headers, tls } = await authenticate(config, login, signal, now);
      const { user } = source;
      return { headers: { ...headers, ...(user !== undefined && { 'Impersonate-User': user }) }, tls };
    },
    renew: () => {
      try {
        config = loadConfig(source);
        login = openLogin(config, attended);
      } catch {
        // Half-written, or absent for a moment: the next refusal reads it again.
      }
    },
  };
}

/**
 * As client-go: a loopback address is reached directly. In a pod the address is of the cluster's own network, which no
 * proxy knows.
 */
function environmentProxy(server: string, source: ConnectionSource): string | undefined {
  const { environment } = source;
  const url = new URL(server);
  const isLoopback = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  if (sourceOf(source) === 'pod' || isLoopback || environment === undefined) return undefined;
  return proxyFor(url, environment.proxy);
}

/** As kubectl: `KUBECONFIG` wins over the service account of a pod, unless all its files are absent. */
function sourceOf({
  kubeconfig,
  context,
  isInCluster,
  environment,
}: ConnectionSource): 'file' | 'list' | 'pod' | 'default' {
  if (kubeconfig !== undefined) return 'file';
  const isPod = isInCluster && context === undefined;
  const files = filesOf(environment?.kubeconfigs);
  if (files.length > 0 && (!isPod || files.some((file) => existsSync(file)))) return 'list';
  return isPod ? 'pod' : 'default';
}

const filesOf = (list = ''): readonly string[] => [
  ...new Set(list.split(delimiter).filter((path) => path !== '')),
];

const homeKubeconfig = (): string => join(homedir(), '.kube', 'config');

/** Without a document, to kubectl a file that names nothing. */
const isBlank = (file: string): boolean =>
  readFileSync(file, 'utf8')
    .split('\n')
    .every((line) => /^\s*(?:#.*|---\s*)?$/.test(line));

/** As kubectl: a plugin's path with a slash starts at the folder of its kubeconfig. */
function loadFile(config: KubeConfig, file: string): void {
  if (isBlank(file)) return;
  config.loadFromFile(file);
  for (const { exec } of config.users) {
    const command: unknown = exec?.command;
    if (typeof command === 'string' && command.includes('/')) exec.command = resolve(dirname(file), command);
  }
}

/** As kubectl merges: absent files are skipped, and the first file that has a name or a value counts. */
function loadFiles(config: KubeConfig, list: string | undefined): void {
  for (const file of filesOf(list)) {
    if (!existsSync(file)) continue;
    const next = new KubeConfig();
    loadFile(next, file);
    const isNew = <T extends { readonly name: string }>(known: readonly T[]) => {
      return ({ name }: T): boolean => !known.some((one) => one.name === name);
    };
    config.clusters = [...config.clusters, ...next.clusters.filter(isNew(config.clusters))];
    config.users = [...config.users, ...next.users.filter(isNew(config.users))];
    config.contexts = [...config.contexts, ...next.contexts.filter(isNew(config.contexts))];
    config.currentContext ||= next.currentContext;
  }
}

function loadConfig(source: ConnectionSource): KubeConfig {
  const { kubeconfig, context, environment } = source;
  const config = new KubeConfig();
  const chosen = sourceOf(source);
  const isList = chosen === 'list';
  try {
    if (kubeconfig !== undefined) loadFile(config, kubeconfig);
    else if (chosen === 'pod') config.loadFromCluster();
    else if (isList) loadFiles(config, environment?.kubeconfigs);
    else if (existsSync(homeKubeconfig())) loadFile(config, homeKubeconfig());
  } catch (cause) {
    throw new ConnectionError(
      'UnreadableKubeconfig',
      `${isList ? 'a file of KUBECONFIG' : 'the kubeconfig'} cannot be read (${publishableCode(cause)}); check the path and that it is YAML`,
      { cause },
    );
  }
  if (context !== undefined) {
    if (config.getContextObject(context) === null) {
      const known = config.getContexts().map(({ name }) => name);
      throw new ConnectionError(
        'UnknownContext',
        `${isList ? 'KUBECONFIG' : 'the kubeconfig'} has no context "${context}"; it has ${known.join(', ') || 'none'}`,
      );
    }
    config.setCurrentContext(context);
  }
  return config;
}

async function authenticate(
  config: KubeConfig,
  login: Login | undefined,
  signal: AbortSignal,
  now: number | undefined,
): Promise<Credentials> {
  const options: RequestOptions = {};
  try {
    const credential = login && (await endPluginsOn(signal, () => login(now)));
    await config.applyToHTTPSOptions(options);
    if (credential?.token) {
      options.headers = { ...options.headers, Authorization: `Bearer ${credential.token}` };
    }
    options.cert = credential?.clientCertificateData ?? options.cert;
    options.key = credential?.clientKeyData ?? options.key;
  } catch (cause) {
    throw unreadable(config, cause);
  }
  const credentials: Credentials = { headers: headersOf(options), tls: tlsOf(options) };
  const { ca } = credentials.tls;
  const fault = ca === undefined || holdsCertificate(ca) ? undefined : findFault(ca);
  if (fault !== undefined) throw authorityUnusable(fault.why, fault.cause);
  // The server would treat the request as anonymous and forbid it, and the error would blame the role.
  const hasSource = login !== undefined || Boolean(config.getCurrentUser()?.authProvider);
  if (hasSource && !hasCredentials(credentials)) {
    throw credentialsUnavailable('hold neither a usable token nor a certificate with its key');
  }
  return credentials;
}

/** Not every error names the file that failed; the field of the kubeconfig is named, but no path. */
function unreadable(config: KubeConfig, cause: unknown): ConnectionError {
  const authority = config.getCurrentCluster()?.caFile;
  try {
    if (authority !== undefined) readFileSync(authority);
  } catch (error) {
    return authorityUnusable(`it cannot be read (${publishableCode(error)})`, error);
  }
  const why = cause instanceof PublishableError ? `${cause.code}: ${cause.message}` : publishableCode(cause);
  return credentialsUnavailable(`cannot be obtained (${why})`, cause);
}

function authorityUnusable(why: string, cause: unknown): ConnectionError {
  const advice = "set the Kubernetes API server's CA certificates (in a pod: the service account's ca.crt)";
  return new ConnectionError(
    'AuthorityUnusable',
    `certificate-authority of the kubeconfig cannot be used: ${why}; ${advice}`,
    { cause },
  );
}

function credentialsUnavailable(what: string, cause?: unknown): ConnectionError {
  const advice = 'check the token file, the certificate or the exec plugin of the kubeconfig';
  return new ConnectionError(
    'CredentialsUnavailable',
    `the credentials for the Kubernetes API server ${what}; ${advice}`,
    { cause },
  );
}

function hasCredentials({ headers, tls }: Credentials): boolean {
  // A scheme and its value, of characters that a header may hold.
  const isToken = /^[!-~]+ [ -~]+$/.test(headers['Authorization'] ?? '');
  return isToken || (tls.cert !== undefined && tls.key !== undefined);
}

function headersOf(options: RequestOptions): Credentials['headers'] {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(options.headers ?? {})) {
    if (typeof value === 'string') headers[name] = value.trim();
  }
  if (typeof options.auth === 'string') {
    headers['Authorization'] = `Basic ${Buffer.from(options.auth).toString('base64')}`;
  }
  return headers;
}

function tlsOf({ ca, cert, key, servername, rejectUnauthorized }: RequestOptions): TlsMaterial {
  return {
    ...(ca !== undefined && { ca: pem(ca) }),
    ...(cert !== undefined && { cert: pem(cert) }),
    ...(key !== undefined && { key: pem(key) }),
    ...(servername !== undefined && { servername }),
    ...(rejectUnauthorized !== undefined && { rejectUnauthorized }),
  };
}

/** KubeConfig yields buffers; text can be compared, which keeps the connections while nothing changes. */
function pem(material: unknown): string {
  return Buffer.isBuffer(material) ? material.toString('utf8') : String(material);
}
