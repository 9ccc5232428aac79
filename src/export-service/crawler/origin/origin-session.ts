// What the requests of a crawl carry for their origin: the administrator's headers, and what the origin asks for by redirecting
// an address to itself, which is a cookie or https. Owns when that takes effect. An address learns for its own next attempt; all
// others learn after the wave, in its order. So the same content gives the same files. Refuses to log a cookie or a header's
// value. Invariant: one address is requested a bounded number of times.

import { hash } from 'node:crypto';
import type { Logger } from '#platform/runtime/logger.ts';
import { payloadHeaders } from '#site/references/next-payload.ts';
import {
  type Address,
  asksForHttps,
  leadsBack,
  locate,
  originUrl,
  type SiteScope,
} from '#site/site-scope.ts';
import type { NotModified, OriginAnswer, OriginFetcher, RequestOptions, Take } from './origin-fetcher.ts';
import type { Validators } from './validators.ts';

/** What an origin asked for while one address was fetched. */
export interface Learned {
  /** `name=value` by name, in the order of arrival. */
  readonly cookies: ReadonlyMap<string, string>;
  /** It redirects http to https: a proxy in front of it, which is not there now, says that the visitor used https. */
  readonly isForwarded: boolean;
}

export interface SessionAnswer<A> {
  readonly answer: A;
  readonly learned: Learned;
  /** What the request that got this answer carried, as of {@link OriginSession.carried}. */
  readonly carried: string;
}

/** A body of an earlier answer. */
export interface KnownBody {
  readonly validators: Validators;
  /** Of the request that got it: one that carries something else may get another body. */
  readonly carried: string;
}

export interface OriginSession {
  /**
   * @param isPage whether a query that a redirect adds is dropped
   * @throws as {@link OriginFetcher.get}
   */
  get<T>(
    address: Address,
    isPage: boolean,
    signal: AbortSignal,
    take: Take<T>,
    how?: Pick<RequestOptions, 'takesNotFound'>,
  ): Promise<SessionAnswer<OriginAnswer<T>>>;
  /** Asks for a body only if it is another one than is known. */
  getIfModified<T>(
    address: Address,
    isPage: boolean,
    signal: AbortSignal,
    take: Take<T>,
    known: KnownBody,
  ): Promise<SessionAnswer<OriginAnswer<T> | NotModified>>;
  /** Names what a request carries now because the origin asked for it. No value is in it. */
  carried(): string;
  /** From the next request on. To be called in the order of the addresses. */
  adopt(learned: Learned): void;
}

export const nothingLearned: Learned = { cookies: new Map(), isForwarded: false };
/** A redirect to https, then one with a cookie, and the page. */
const maxRequests = 3;
/** Servers take about 8 KiB of headers. */
const maxCookies = 16;
const maxCookieLength = 2048;
const maxCookiesLength = 4096;

/** @param headers of the administrator, names in lower case; they win over what the origin asks for */
export function createOriginSession(
  scope: SiteScope,
  fetcher: OriginFetcher,
  headers: Readonly<Record<string, string>>,
  logger: Logger,
): OriginSession {
  let adopted = nothingLearned;
  const headersWith = ({ cookies, isForwarded }: Learned): Readonly<Record<string, string>> => {
    const forwarded = { 'x-forwarded-proto': 'https', 'x-forwarded-host': scope.domain };
    const cookie = [headers['cookie'] ?? [], ...cookies.values()].flat().join('; ');
    return { ...(isForwarded && forwarded), ...headers, ...(cookie !== '' && { cookie }) };
  };
  /** @param send one request, and what it carries */
  const converse = async <A extends { readonly kind: string }>(
    address: Address,
    isPage: boolean,
    send: (asked: Address, how: RequestOptions, carried: string) => Promise<A | OriginRedirect>,
  ): Promise<SessionAnswer<A | OriginRedirect>> => {
    let learned = nothingLearned;
    let asked = address;
    for (let requests = 1; ; requests += 1) {
      const sent = join(adopted, learned);
      const carried = nameOf(sent, asked !== address);
      const headers = { ...payloadHeaders(asked), ...headersWith(sent) };
      const answer = await send(asked, { headers }, carried);
      if (!isRedirection(answer)) return { answer, learned, carried };
      const isHttps = asksForHttps(scope, address, answer.location);
      // What did not help is not sent for other addresses.
      if (!isHttps && !leadsBack(scope, address, answer.location, isPage)) {
        return { answer, learned, carried };
      }
      const more = learnFrom(answer, isHttps, join(adopted, learned));
      // A cookie makes the session id unnecessary.
      const inSession = more === undefined ? readInSession(scope, address, answer.location) : undefined;
      if ((more ?? inSession) === undefined || requests === maxRequests) {
        return { answer, learned: nothingLearned, carried };
      }
      learned = join(learned, more ?? nothingLearned);
      asked = inSession ?? address;
    }
  };
  return {
    get: (address, isPage, signal, take, { takesNotFound } = {}) =>
      converse(address, isPage, (asked, how) => fetcher.get(asked, signal, take, { ...how, takesNotFound })),
    getIfModified: (address, isPage, signal, take, known) =>
      converse(address, isPage, (asked, how, carried) =>
        carried === known.carried
          ? fetcher.getIfModified(asked, signal, take, known.validators, how)
          : fetcher.get(asked, signal, take, how),
      ),
    carried: () => nameOf(adopted, false),
    adopt: (learned) => {
      const before = adopted;
      adopted = join(adopted, learned);
      const { domain } = scope;
      if (adopted.isForwarded && !before.isForwarded) {
        logger.info(
          { domain },
          'the origin redirects http to https; the crawl sends X-Forwarded-Proto and X-Forwarded-Host from now on',
        );
      }
      if (adopted.cookies.size > before.cookies.size) {
        logger.info(
          { domain, cookies: adopted.cookies.size },
          'the origin redirects an address to itself with a cookie; the crawl sends the cookie from now on',
        );
      }
    },
  };
}

/** Empty for a request that carries nothing, as most do. Short, because it is kept with each answer. */
function nameOf({ cookies, isForwarded }: Learned, hasSessionId: boolean): string {
  const names = [...cookies.keys()].sort();
  if (names.length === 0 && !isForwarded && !hasSessionId) return '';
  return hash('sha256', JSON.stringify([names, isForwarded, hasSessionId])).slice(0, 16);
}

/** The address with the session id that a redirect adds, for this attempt alone. */
function readInSession(scope: SiteScope, address: Address, location: string): Address | undefined {
  const located = locate(scope, location, originUrl(scope, address));
  return located.where === 'inside' ? located.inSession : undefined;
}

type OriginRedirect = Extract<OriginAnswer<never>, { kind: 'redirect' }>;

function isRedirection(answer: OriginRedirect | { readonly kind: string }): answer is OriginRedirect {
  return answer.kind === 'redirect';
}

function learnFrom({ cookies }: OriginRedirect, isHttps: boolean, known: Learned): Learned | undefined {
  if (isHttps && !known.isForwarded) return { ...nothingLearned, isForwarded: true };
  const news = new Map(
    cookies.flatMap(readCookie).filter(([name, pair]) => known.cookies.get(name) !== pair),
  );
  return news.size === 0 ? undefined : { cookies: news, isForwarded: false };
}

/** What comes later wins, within the bounds of a request's headers. */
function join(earlier: Learned, later: Learned): Learned {
  const cookies = new Map(earlier.cookies);
  let length = [...cookies.values()].reduce((sum, pair) => sum + pair.length, 0);
  for (const [name, pair] of later.cookies) {
    length += pair.length - (cookies.get(name)?.length ?? 0);
    if (length > maxCookiesLength || (cookies.size >= maxCookies && !cookies.has(name))) break;
    cookies.set(name, pair);
  }
  return { cookies, isForwarded: earlier.isForwarded || later.isForwarded };
}

/** Its attributes say to which hosts and paths a browser sends it; a crawl has one host. */
function readCookie(text: string): readonly (readonly [string, string])[] {
  const [pair = '', ...attributes] = text.split(';', 16).map((part) => part.trim());
  const at = pair.indexOf('=');
  const name = pair.slice(0, Math.max(0, at)).trimEnd();
  const value = pair.slice(at + 1).trimStart();
  const isWhole = cookieName.test(name) && cookieValue.test(value) && pair.length <= maxCookieLength;
  return isWhole && !attributes.some(isRemoval) ? [[name, `${name}=${value}`]] : [];
}

const cookieName = /^[\w!#$%&'*+.^`|~-]+$/;
const cookieValue = /^[\x20-\x7e\x80-\xff]*$/;

/** A cookie that is removed was never sent. */
function isRemoval(attribute: string): boolean {
  return /^max-age\s*=\s*(?:0|-)/i.test(attribute) || /^expires\s*=.*\b1970\b/i.test(attribute);
}
