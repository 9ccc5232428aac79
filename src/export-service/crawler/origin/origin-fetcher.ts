// Sends requests to the origin only. The connection pool knows one host and port, so no redirect and no page can lead
// it elsewhere. Owns: retries with back-off, Retry-After, decoding, bounds on one answer. Refuses to follow a redirect
// (the frontier decides), and to take a failing answer for an absent page.

import { isUtf8 } from 'node:buffer';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, type Gunzip } from 'node:zlib';
import { createAgent } from '#platform/http/agent.ts';
import { readConnectionFault } from '#platform/http/connection-fault.ts';
import {
  type HttpAnswer,
  headerOf,
  isPassing,
  isRedirect,
  listHeaderOf,
  readWhole,
  retryAfterOf,
} from '#platform/http/exchange.ts';
import { isRefusedHost } from '#platform/http/guarded-lookup.ts';
import type { Clock } from '#platform/runtime/clock.ts';
import { userAgent } from '#platform/runtime/version.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { type Address, originUrl, type SiteScope } from '#site/site-scope.ts';
import type { CrawlLimits } from '../contract.ts';
import type { CrawlError } from '../crawl-error.ts';
import { conditionHeaders, type Validators, validatorsOf } from './validators.ts';

export type OriginAnswer<T> =
  /** `body` is what `take` returned for its chunks. */
  | {
      readonly kind: 'body';
      readonly contentType: string;
      readonly body: T;
      /** It came with status 404. */
      readonly isNotFound: boolean;
      /** Absent where the answer had none that can be relied on. */
      readonly validators?: Validators | undefined;
    }
  | {
      readonly kind: 'redirect';
      /** As received; bytes beyond ASCII are read as UTF-8 or, where they are not, as Latin-1. */
      readonly location: string;
      /** Of `Set-Cookie`, as received: secret. */
      readonly cookies: readonly string[];
    }
  /** The address does not exist, and a retry would get the same answer. */
  | { readonly kind: 'absent'; readonly reason: string };

/** The origin says that the body is that of the validators. */
export interface NotModified {
  readonly kind: 'not-modified';
}

export interface RequestOptions {
  /** In addition; names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the body of status 404 is taken too; otherwise such an address is absent. */
  readonly takesNotFound?: boolean | undefined;
}

export interface OriginFetcher {
  /**
   * @param take receives the decoded body in pieces, and again from its beginning where an attempt failed in the middle
   * @throws {CrawlError} OriginUnreachable, OriginFailed, FileTooLarge, and those of `take`; or the signal's reason
   */
  get<T>(
    address: Address,
    signal: AbortSignal,
    take: Take<T>,
    how?: RequestOptions,
  ): Promise<OriginAnswer<T>>;
  /**
   * Asks for a body only if it is another one than that of the validators.
   * @throws as {@link OriginFetcher.get}
   */
  getIfModified<T>(
    address: Address,
    signal: AbortSignal,
    take: Take<T>,
    validators: Validators,
    how?: RequestOptions,
  ): Promise<OriginAnswer<T> | NotModified>;
  close(): Promise<void>;
}

export type Take<T> = (chunks: AsyncIterable<Uint8Array>) => Promise<T>;

/** A failure to retry: what failed, and how long the origin asks the client to wait. */
interface Failure {
  readonly kind: 'failure';
  readonly what: string;
  readonly retryAfterMs: number | undefined;
  readonly cause: unknown;
}

interface AskedFor {
  readonly address: Address;
  readonly signal: AbortSignal;
  readonly headers: Readonly<Record<string, string>> | undefined;
}

function isFailure(answer: Failure | { readonly kind: string }): answer is Failure {
  return answer.kind === 'failure';
}

const usualAttempts = 5;
const firstWaitMs = 500;
const longestWaitMs = 60_000;
/** Not `br`: the brotli decoder of some Node versions can write out of bounds, and a site's bytes are foreign. */
const encodings = 'gzip';

export function createOriginFetcher(
  scope: SiteScope,
  limits: Pick<CrawlLimits, 'concurrency' | 'requestTimeoutMs' | 'maxFileBytes'> & { attempts?: number },
  isOriginConsented: boolean,
  clock: Clock,
): OriginFetcher {
  if (isRefusedHost(new URL(scope.originHost).hostname, isOriginConsented)) throw originInternal(scope);
  const { attempts: most = usualAttempts } = limits;
  const agent = createAgent({
    ...{ allowPrivateAddresses: isOriginConsented, connections: limits.concurrency },
    // One deadline covers connecting, headers and body.
    idleTimeoutMs: limits.requestTimeoutMs,
  });
  const usual = { 'user-agent': userAgent, accept: '*/*' };
  let hasAnswered = false;
  /** On the monotonic clock: a Retry-After holds for all requests to this origin. */
  let notBefore = 0;

  const attempt = async <A>(
    { address, signal, headers: more = {} }: AskedFor,
    read: (answer: HttpAnswer) => Promise<A | Failure>,
  ): Promise<A | Failure> => {
    const headers = { ...usual, ...more, 'accept-encoding': encodings };
    const deadline = clock.deadline(limits.requestTimeoutMs, signal);
    try {
      const url = originUrl(scope, address);
      const answer = await agent.send({ method: 'GET', url, headers }, deadline);
      hasAnswered = true;
      return await read(answer);
    } catch (cause) {
      signal.throwIfAborted();
      if (cause instanceof PublishableError) throw cause;
      const { kind, what } = readConnectionFault(cause);
      if (kind === 'internal-address') throw originInternal(scope, cause);
      return { kind: 'failure', what, retryAfterMs: undefined, cause };
    }
  };

  const ask = async <A extends { readonly kind: string }>(
    asked: AskedFor,
    read: (answer: HttpAnswer) => Promise<A | Failure>,
  ): Promise<A> => {
    const { address, signal } = asked;
    for (let tried = 1; ; tried += 1) {
      signal.throwIfAborted();
      const heldBackMs = notBefore - clock.monotonic();
      if (heldBackMs > 0) await clock.after(heldBackMs, signal);
      const answer = await attempt(asked, read);
      if (!isFailure(answer)) return answer;
      if (tried === most) throw originError(scope, address, answer, hasAnswered);
      const backoffMs = firstWaitMs * 2 ** (tried - 1);
      const waitMs = Math.min(Math.max(backoffMs, answer.retryAfterMs ?? 0), longestWaitMs);
      if (answer.retryAfterMs !== undefined) {
        notBefore = Math.max(notBefore, clock.monotonic() + waitMs);
      }
      await clock.after(waitMs, signal);
    }
  };

  const readerFor =
    <T>(address: Address, take: Take<T>, { takesNotFound = false }: RequestOptions) =>
    (answer: HttpAnswer): Promise<OriginAnswer<T> | Failure> =>
      readAnswer(answer, limits.maxFileBytes, address, clock.now(), take, takesNotFound);

  return {
    get: (address, signal, take, how = {}) =>
      ask({ address, signal, headers: how.headers }, readerFor(address, take, how)),
    getIfModified: <T>(
      address: Address,
      signal: AbortSignal,
      take: Take<T>,
      validators: Validators,
      how: RequestOptions = {},
    ) => {
      const read = readerFor(address, take, how);
      const headers = { ...how.headers, ...conditionHeaders(validators) };
      return ask<OriginAnswer<T> | NotModified>({ address, signal, headers }, (answer) =>
        answer.statusCode === 304 ? drop(answer, { kind: 'not-modified' }) : read(answer),
      );
    },
    close: () => agent.destroy(),
  };
}

function originInternal({ domain }: SiteScope, cause?: unknown): CrawlError {
  return new PublishableError(
    'OriginInternal',
    `${domain} leads to a loopback, link-local or private address; if this is intended, name its origin with --origin`,
    { cause },
  );
}

function originError(
  scope: SiteScope,
  address: Address,
  { what, cause }: Failure,
  hasAnswered: boolean,
): CrawlError {
  return hasAnswered
    ? new PublishableError(
        'OriginFailed',
        `the origin of ${scope.domain} failed ${usualAttempts} times at ${address.path} (${what}); ` +
          'nothing was exported; repair the origin, or disallow the address in robots.txt',
        { cause },
      )
    : new PublishableError(
        'OriginUnreachable',
        `the origin of ${scope.domain} cannot be reached (${what}); check that it runs and that its address is correct`,
        { cause },
      );
}

async function readAnswer<T>(
  answer: HttpAnswer,
  maxFileBytes: number,
  address: Address,
  now: number,
  take: Take<T>,
  takesNotFound: boolean,
): Promise<OriginAnswer<T> | Failure> {
  const { statusCode } = answer;
  const isNotFound = statusCode === 404;
  if (statusCode === 200 || statusCode === 203 || (isNotFound && takesNotFound)) {
    const encoding = registeredEncoding(listHeaderOf(answer, 'content-encoding') ?? '');
    if (!decoders.has(encoding)) {
      // Without it, an export would lack a page that the site has.
      const what = `content encoding ${encoding.slice(0, 32)}, which was not requested`;
      return drop(answer, { kind: 'failure', what, retryAfterMs: undefined, cause: undefined });
    }
    const body = await take(readBody(answer.body, decoders.get(encoding)?.(), maxFileBytes, address));
    const validators = isNotFound ? undefined : validatorsOf(answer);
    const contentType = headerOf(answer, 'content-type') ?? '';
    return { kind: 'body', contentType, body, isNotFound, validators };
  }
  const location = readLocation(headerOf(answer, 'location') ?? '');
  if (isRedirect(answer) && location !== '') {
    const cookies = [answer.headers['set-cookie'] ?? []].flat();
    return drop(answer, { kind: 'redirect', location, cookies });
  }
  // A 304 answers a condition that this request did not have: there is no body that it could mean.
  if (isPassing(answer) || statusCode === 304) {
    const retryAfterMs = retryAfterOf(answer, now);
    return drop(answer, { kind: 'failure', what: `status ${statusCode}`, retryAfterMs, cause: undefined });
  }
  return drop(answer, { kind: 'absent', reason: absence(statusCode) });
}

/** @param value one character for each byte. Browsers take the bytes as they are, and servers send UTF-8 or Latin-1 */
function readLocation(value: string): string {
  const bytes = Buffer.from(value, 'latin1');
  return isUtf8(bytes) ? bytes.toString() : value;
}

function absence(statusCode: number): string {
  if (statusCode === 404) return 'NotFound';
  if (statusCode === 410) return 'Gone';
  return statusCode === 401 || statusCode === 403 ? 'AccessDenied' : `Status${statusCode}`;
}

/** A short body is read, so that the connection serves the next request. */
async function drop<T>(answer: HttpAnswer, result: T): Promise<T> {
  await readWhole(answer, 64 * 1024);
  return result;
}

/** By content encoding. Others were not requested. */
const decoders: ReadonlyMap<string, (() => Gunzip) | undefined> = new Map([
  ['', undefined],
  ['identity', undefined],
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
]);

/** Registered with IANA (HTTP Content Coding Registry), and not requested. */
const unrequested = /^(?:x-)?compress$|^br$|^deflate$|^zstd$|^dc[bz]$|^exi$|^pack200-gzip$/;

/** Without names that are not registered, such as `aws-chunked` and `utf-8`: browsers ignore them, and so the body is plain. */
function registeredEncoding(text: string): string {
  const names = text.split(',').map((name) => name.trim().toLowerCase());
  return names.filter((name) => name !== '' && (decoders.has(name) || unrequested.test(name))).join(', ');
}

async function* readBody(
  body: Readable,
  decoder: Gunzip | undefined,
  maxBytes: number,
  address: Address,
): AsyncGenerator<Uint8Array> {
  const source: Readable = decoder ?? body;
  const fed = decoder && pipeline(body, decoder);
  // Reading the decoder reports its error; it is awaited below all the same.
  fed?.catch(() => {});
  let size = 0;
  for await (const chunk of source) {
    if (!(chunk instanceof Uint8Array)) continue;
    size += chunk.byteLength;
    if (size > maxBytes) throw tooLarge(address, maxBytes);
    yield chunk;
  }
  await fed;
}

function tooLarge(address: Address, maxBytes: number): CrawlError {
  return new PublishableError(
    'FileTooLarge',
    `${address.path} is larger than ${maxBytes} bytes, the limit of one file; unlink the file`,
  );
}
