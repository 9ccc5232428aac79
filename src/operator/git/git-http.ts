// The HTTP of the git client: basic authentication, the address guard of links, bytes counted for each exchange. Follows
// a redirect only for the first request of a service, to the same origin. Refuses other hosts and plain HTTP. Invariant:
// credentials reach one origin only, and no error made here holds a URL, a header or a body.

import type { GitHttpRequest, GitHttpResponse, HttpClient } from 'isomorphic-git';
import { createAgent } from '#platform/http/agent.ts';
import { findFault } from '#platform/http/ca-certificates.ts';
import { discard, type HttpAnswer, headerOf, nextHop, readWhole } from '#platform/http/exchange.ts';
import { isRefusedHost } from '#platform/http/guarded-lookup.ts';
import type { ProxySettings } from '#platform/http/proxy-settings.ts';
import { readHttpOrigin, readOriginEntry } from '#platform/wire/http-origin.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import {
  type GitFault,
  gitAddressNotAllowed,
  gitNetworkFault,
  mebibytes,
  notAGitServer,
  statusFault,
  timedOut,
  tooLarge,
} from './git-fault.ts';
import type { GitAccess, GitRemote } from './push-task.ts';

export interface GitHttp {
  /** For one command of the git client. @param maxBytes that the command may receive, in all its answers */
  exchange(maxBytes: number): GitExchange;
  close(): Promise<void>;
}

export interface GitExchange {
  /** For the git client's `http`. */
  readonly client: HttpClient;
  /** The first fault of a request. The git client may hide it behind an error of its own. */
  readonly fault: GitFault | undefined;
}

export interface GitHttpOptions {
  readonly proxy: ProxySettings;
  /** Of the whole task: its deadline. */
  readonly signal: AbortSignal;
}

const maxRedirects = 3;
/** Bytes of the first answer in which a server names its capabilities. */
const advertisementStart = 2048;

/** @throws {GitFault} `InvalidUrl`, `HostNotAllowed`, `AddressNotAllowed` or `InvalidCaCertificate`, before any request */
export function openGitHttp(remote: GitRemote, { proxy, signal }: GitHttpOptions): GitHttp {
  const url = readRepositoryUrl(remote);
  const { deadlineMs } = remote.limits;
  const agent = createAgent({
    allowPrivateAddresses: remote.allowPrivateAddresses,
    extraCaPem: trustedPem(remote),
    proxy,
    idleTimeoutMs: deadlineMs,
  });
  const authorization = basicAuthorization(remote.access);
  let base = url;
  const own = {
    'user-agent': remote.userAgent,
    'accept-encoding': 'identity',
    ...(authorization === undefined ? {} : { authorization }),
  };
  const answer = async (sent: GitHttpRequest, counted: Counted): Promise<GitHttpResponse> => {
    const suffix = sent.url.slice(url.href.length);
    const body = sent.body === undefined ? undefined : await joined(sent.body);
    for (let hop = 0; ; hop += 1) {
      const at = new URL(base.href + suffix);
      const method = body === undefined ? 'GET' : 'POST';
      const received = await agent.send(
        { method, url: at, headers: { ...sent.headers, ...own }, body },
        signal,
      );
      const { statusCode } = received;
      if (statusCode === 200) {
        refuseOtherContent(url.host, received, suffix);
        return {
          url: sent.url,
          method: sent.method ?? 'GET',
          statusCode,
          statusMessage: 'OK',
          headers: { 'content-type': headerOf(received, 'content-type') ?? '' },
          body: counted(received, suffix),
        };
      }
      if (statusCode < 300 || statusCode > 399) {
        const isPush = suffix.includes('git-receive-pack');
        throw statusFault(url.host, statusCode, isPush, await refusalLines(received, signal));
      }
      discard(received);
      if (body !== undefined || hop === maxRedirects)
        throw redirectRefused(url.host, 'more often than allowed');
      base = nextBase(url, nextHop(at, received));
    }
  };
  const exchange = (maxBytes: number): GitExchange => {
    let receivedBytes = 0;
    let fault: GitFault | undefined;
    const fail = (error: unknown): GitFault => {
      fault ??= signal.aborted ? timedOut(deadlineMs, error) : gitNetworkFault(url.host, error);
      return fault;
    };
    async function* counted(received: HttpAnswer, suffix: string): AsyncGenerator<Uint8Array> {
      let start = '';
      try {
        for await (const chunk of received.body) {
          const bytes: Uint8Array = chunk;
          receivedBytes += bytes.byteLength;
          if (suffix.startsWith('/info/refs') && start.length < advertisementStart) {
            start += Buffer.from(bytes).toString('latin1');
            refuseObjectFormat(start);
          }
          if (receivedBytes > maxBytes) throw tooLarge(`is larger than ${mebibytes(maxBytes)}`);
          yield bytes;
        }
      } catch (error) {
        throw fail(error);
      }
    }
    return {
      client: {
        request: async (sent) => {
          try {
            return await answer(sent, counted);
          } catch (error) {
            throw fail(error);
          }
        },
      },
      get fault() {
        return fault;
      },
    };
  };
  return { exchange, close: () => agent.destroy() };
}

const longestRefusal = 4096;

/** What git itself prints of a refusal: lines of plain text. */
async function refusalLines(answer: HttpAnswer, signal: AbortSignal): Promise<readonly string[]> {
  const { bytes } = await readWhole(answer, longestRefusal, signal);
  const isText = headerOf(answer, 'content-type')?.startsWith('text/plain') === true;
  return isText ? bytes.toString('utf8').split('\n') : [];
}

type Counted = (received: HttpAnswer, suffix: string) => AsyncGenerator<Uint8Array>;

/** Git's client asks for one path below the repository's; the redirect of it moves the repository. */
function nextBase(url: URL, to: URL | undefined): URL {
  if (to === undefined) throw redirectRefused(url.host, 'without a valid address');
  if (to.origin !== url.origin) throw redirectRefused(url.host, 'to another host or scheme');
  if (!to.pathname.endsWith('/info/refs')) throw redirectRefused(url.host, 'to a page, such as a sign-in');
  to.pathname = to.pathname.slice(0, -'/info/refs'.length);
  to.search = '';
  to.hash = '';
  to.username = '';
  to.password = '';
  return to;
}

const redirectRefused = (host: string, how: string): GitFault =>
  new PublishableError(
    'RedirectRefused',
    `Git host ${host} redirected ${how}. Set the URL to the repository's own address, and check the credentials.`,
  );

function refuseOtherContent(host: string, answer: HttpAnswer, suffix: string): void {
  const [, service = ''] = /(git-(?:upload|receive)-pack)/.exec(suffix) ?? [];
  const expected = `application/x-${service}-${suffix.startsWith('/info/refs') ? 'advertisement' : 'result'}`;
  if (headerOf(answer, 'content-type') === expected) return;
  discard(answer);
  throw notAGitServer(host, 'answered with another content type');
}

/** A server names its capabilities in the first lines. The client takes other objects for an empty repository. */
function refuseObjectFormat(advertised: string): void {
  if (!advertised.includes('object-format=sha256')) return;
  throw new PublishableError(
    'UnsupportedRepository',
    'The repository has SHA-256 objects, which are not supported. Use a repository of SHA-1 objects, as hosts make them.',
  );
}

/** The repository's address, without a slash at its end. */
export function readRepositoryUrl(remote: GitRemote): URL {
  const invalid = (why: string): GitFault =>
    new PublishableError('InvalidUrl', `The URL of the repository ${why}. Write it as https://HOST/PATH.`);
  if (!URL.canParse(remote.url)) throw invalid('is not valid');
  const url = new URL(remote.url);
  if (url.username !== '' || url.password !== '') throw invalid('holds a user name or a password');
  if (url.search !== '' || url.hash !== '') throw invalid('holds a query or a fragment');
  const isHttp = url.protocol === 'http:' && remote.isHttpAllowed === true;
  if (url.protocol !== 'https:' && !isHttp) throw invalid('does not start with https://');
  url.pathname = url.pathname.replace(/\/+$/, '');
  if (url.pathname === '/' || url.pathname === '') throw invalid('has no path');
  const origin = readHttpOrigin(url.href);
  if (remote.allowedHosts?.some((entry) => readOriginEntry(entry) === origin) === false) {
    throw new PublishableError(
      'HostNotAllowed',
      `Git host ${url.host} is not allowed. Ask the operator's administrator to add it to --allowed-git-hosts.`,
    );
  }
  if (isRefusedHost(url.hostname, remote.allowPrivateAddresses)) throw gitAddressNotAllowed(url.host);
  return url;
}

function trustedPem({ extraCaPem, access }: GitRemote): string | undefined {
  const own = access.caPem;
  const fault = own === undefined ? undefined : findFault(own);
  if (fault !== undefined) {
    throw new PublishableError(
      'InvalidCaCertificate',
      `The CA certificate of the credentials cannot be used: ${fault.why}. Store the CA certificates in PEM.`,
      { cause: fault.cause },
    );
  }
  const given = [extraCaPem, own].filter((pem) => pem !== undefined);
  return given.length === 0 ? undefined : given.join('\n');
}

/** Hosts take a token as the password of the basic authentication. */
function basicAuthorization({ username, password, token }: GitAccess): string | undefined {
  const secret = token ?? password;
  if (secret === undefined && username === undefined) return undefined;
  const pair = `${username ?? 'git'}:${secret ?? ''}`;
  return `Basic ${Buffer.from(pair).toString('base64')}`;
}

/** Some hosts refuse a body without a length. */
async function joined(body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}
