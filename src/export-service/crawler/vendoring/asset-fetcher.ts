// Fetches assets of other hosts as a browser loads them: each host by a fetcher of its own, redirects included. Owns which
// address may be asked. Refuses internal addresses, in any redirect too, unless they are allowed, and a redirect from https to
// http. Invariant: an asset without an answer has a reason, and no failure of it ends the crawl.

import type { Clock } from '#platform/runtime/clock.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { externalHref } from '#site/references/external.ts';
import { createScope } from '#site/site-scope.ts';
import type { CrawlLimits } from '../contract.ts';
import type { CrawlAnswers } from '../journal/crawl-answers.ts';
import type { RecordedSession } from '../journal/recorded-session.ts';
import { createOriginFetcher, type OriginAnswer, type OriginFetcher } from '../origin/origin-fetcher.ts';
import type { StoredBody } from '../spool.ts';
import { createAssetSession } from './asset-session.ts';

export type AssetAnswer =
  | {
      readonly kind: 'stored';
      readonly body: StoredBody;
      readonly contentType: string;
      /** Of the last redirect: what the body's own addresses are relative to. */
      readonly url: URL;
    }
  /** Its host says that there is none. */
  | { readonly kind: 'absent'; readonly reason: string }
  /** It stays at its host. Such a refusal may be meant for us alone. */
  | { readonly kind: 'left'; readonly reason: string };

export interface AssetFetcher {
  /** @throws {CrawlError} TooManyBytes, SpoolFailed; the signal's reason */
  get(href: string, signal: AbortSignal): Promise<AssetAnswer>;
  close(): Promise<void>;
}

const maxHops = 5;
/** A host that does not answer costs the time of the crawl. */
const attempts = 2;
/** Then the host fails, not an address of it. */
const mostFailuresInARow = 3;
/** Failures of one address, or of its host; all others end the crawl. */
const reasons: ReadonlyMap<string, string> = new Map([
  ['OriginInternal', 'ExternalInternal'],
  ['OriginUnreachable', 'ExternalUnreachable'],
  ['OriginFailed', 'ExternalFailed'],
  ['FileTooLarge', 'ExternalTooLarge'],
]);

/** @param answers whose journal has the answers of other hosts too */
export function createAssetFetcher(
  limits: CrawlLimits,
  answers: Pick<CrawlAnswers, 'sessionFor'>,
  clock: Clock,
): AssetFetcher {
  const fetchers: OriginFetcher[] = [];
  const sessions = new Map<string, RecordedSession>();
  /** Why no more is asked of a host: no request was answered, or several in a row failed. */
  const givenUp = new Map<string, string>();
  const failuresInARow = new Map<string, number>();

  const sessionOf = ({ origin, host }: URL): RecordedSession => {
    const known = sessions.get(origin);
    if (known !== undefined) return known;
    const scope = createScope(host, new URL(origin));
    const fetcher = createOriginFetcher(scope, { ...limits, attempts }, limits.assets.allowsPrivate, clock);
    fetchers.push(fetcher);
    const session = answers.sessionFor(origin, createAssetSession(fetcher));
    sessions.set(origin, session);
    return session;
  };

  const ask = async (
    url: URL,
    signal: AbortSignal,
  ): Promise<OriginAnswer<StoredBody> | { readonly kind: 'left'; readonly reason: string }> => {
    const { origin } = url;
    const known = givenUp.get(origin);
    if (known !== undefined) return { kind: 'left', reason: known };
    try {
      const address = { path: url.pathname, query: url.search };
      const { answer } = await sessionOf(url).get(address, false, signal);
      failuresInARow.delete(origin);
      return answer;
    } catch (error) {
      const reason = error instanceof PublishableError ? reasons.get(error.code) : undefined;
      if (reason === undefined) throw error;
      const failures = (failuresInARow.get(origin) ?? 0) + 1;
      failuresInARow.set(origin, failures);
      const isOfHost = reason === 'ExternalFailed' && failures >= mostFailuresInARow;
      if (isOfHost || reason === 'ExternalUnreachable') givenUp.set(origin, reason);
      return { kind: 'left', reason };
    }
  };

  return {
    get: async (href, signal) => {
      let url = new URL(href);
      for (let hops = 0; hops <= maxHops; hops += 1) {
        const answer = await ask(url, signal);
        if (answer.kind === 'body') {
          return { kind: 'stored', body: answer.body, contentType: answer.contentType, url };
        }
        if (answer.kind === 'absent') return refusalOf(answer.reason);
        if (answer.kind === 'left') return answer;
        const next = URL.parse(externalHref(answer.location, url) ?? '');
        const isWeaker = url.protocol === 'https:' && next?.protocol === 'http:';
        if (next === null || isWeaker) return { kind: 'left', reason: 'ExternalRedirectRefused' };
        url = next;
      }
      return { kind: 'left', reason: 'ExternalTooManyRedirects' };
    },
    close: async () => {
      await Promise.all(fetchers.map((fetcher) => fetcher.close()));
    },
  };
}

function refusalOf(reason: string): AssetAnswer {
  if (reason === 'NotFound' || reason === 'Gone') return { kind: 'absent', reason };
  const status = /^Status(\d+)$/.exec(reason)?.[1];
  return { kind: 'left', reason: status === undefined ? 'ExternalAccessDenied' : `ExternalStatus${status}` };
}
