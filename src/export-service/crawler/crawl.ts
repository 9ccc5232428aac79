// Crawls one whole site: from its origin's home, sitemaps and links to the files of a bundle. Owns the order of work
// (waves), the limits and the outcome. Refuses half a site: a CrawlError ends the crawl where the home page or several
// addresses in a row still fail after retries, or a limit is exceeded. A single failing address and broken links are left
// out, and are reported by name. Invariant: the same content gives the same files, whatever the order of the answers.

import { PublishableError } from '#platform/wire/publishable-error.ts';
import { bodyKind } from '#site/references/body-links.ts';
import { createLinkPool } from '#site/references/link-pool.ts';
import type { ReferenceUse } from '#site/references/reference.ts';
import {
  type Address,
  addressKey,
  compare,
  createScope,
  locate,
  originUrl,
  type SiteScope,
} from '#site/site-scope.ts';
import { createArrivals } from './arrivals.ts';
import { assembleSite } from './assembly.ts';
import type { CrawlContext, CrawlRequest, CrawlResult } from './contract.ts';
import { type CrawlError, crawlTimedOut } from './crawl-error.ts';
import { createFrontier, type Frontier } from './frontier.ts';
import { type CrawlAnswers, openAnswers } from './journal/crawl-answers.ts';
import type { RecordedAnswer } from './journal/recorded-session.ts';
import { noSuchAddress } from './not-found-pages.ts';
import { createOriginFetcher } from './origin/origin-fetcher.ts';
import { createOriginSession } from './origin/origin-session.ts';
import { countRefused, ignoreRules, maxRobotsBytes, type Robots, readRobots } from './origin/robots.ts';
import { placeVariants } from './rewrite/query-variants.ts';
import { rewriteFiles } from './rewrite/rebase.ts';
import { createSpool } from './spool.ts';
import { staysExternal, vendorAssets } from './vendoring/vendor-assets.ts';
import type { Visit } from './visit.ts';
import { failedAnswer, fetchVisit, guessedFiles, isOriginFailed, type VisitContext } from './visits.ts';
import { askWave } from './wave.ts';

/**
 * Crawls the whole site. The service's administrator configures the origin, so it may be an internal address;
 * the crawler never connects to another host.
 * @throws {CrawlError}
 */
export async function crawlSite(request: CrawlRequest, context: CrawlContext): Promise<CrawlResult> {
  const { limits } = request;
  const scope = createScope(request.domain, request.origin, request.originHeaders?.['host']);
  const spool = createSpool(request.spoolDirectory, limits.maxBytes);
  const fetcher = createOriginFetcher(scope, limits, request.isOriginConsented, context.clock);
  // The first failed request ends the others; the deadline ends all.
  const failed = new AbortController();
  const signal = context.clock.deadline(limits.timeoutMs, AbortSignal.any([context.signal, failed.signal]));
  let answers: CrawlAnswers | undefined;
  try {
    const origin = createOriginSession(scope, fetcher, request.originHeaders ?? {}, context.logger);
    answers = await openAnswers(request, { session: origin, spool, context });
    const { session } = answers;
    const { ignoresRobots = false } = request;
    const robots = await fetchRobots(scope, { session, spool }, ignoresRobots, signal);
    const obeyed = ignoresRobots ? ignoreRules(robots) : robots;
    const frontier = createFrontier(limits, obeyed);
    addSeeds(scope, frontier, robots);
    const arrivals = createArrivals(limits, frontier, context.onProgress);
    const visiting: VisitContext = {
      ...{ scope, robots: obeyed, session, spool, signal },
      pool: createLinkPool(scope),
      failures: { inARow: 0 },
      pathsWithIds: [],
    };
    /** Wanted addresses that failed: an outage may have ended by the time when all others are there. */
    const toRepeat: Visit[] = [];
    let isRepeated = false;
    const nextWave = (): readonly Visit[] => {
      const wave = frontier.nextWave();
      if (wave.length > 0 || isRepeated) return wave;
      isRepeated = true;
      return toRepeat;
    };
    for (let wave = nextWave(); wave.length > 0; wave = nextWave()) {
      context.logger.debug({ domain: request.domain, addresses: wave.length }, 'crawling a wave');
      arrivals.startWave(wave);
      const outcomes = await askWave(wave, limits.concurrency, failed, async (visit) => {
        const { outcome, learned } = await fetchVisit(visit, visiting);
        arrivals.finish(visit, outcome);
        return { outcome, learned };
      });
      for (const [visit, { outcome, learned }] of outcomes) {
        session.adopt(learned);
        frontier.settle(visit, outcome);
        if (!isRepeated && hasFailed(visit)) toRepeat.push(visit);
      }
    }
    const vendored = await vendorAssets(frontier.externals().loads, {
      ...{ limits, spool, answers, signal },
      ...{ failed, clock: context.clock },
    });
    const { files: placed, variantPaths, merged } = placeVariants(frontier);
    const placedFrontier = { ...frontier, files: new Map([...placed, ...vendored.files]), variantPaths };
    const files = await rewriteFiles(placedFrontier, request.basePath, {
      ...{ scope, spool, signal, vendored },
      maxRedirects: limits.maxRedirects,
      dropsConnection: (href) => isOutside(scope, href) && !staysExternal(limits.assets, href),
    });
    const notes = new Map(frontier.notes);
    const [untried, ...more] = [...frontier.queriesNotTried()].sort(([a], [b]) => compare(a, b));
    if (untried !== undefined) {
      const count = more.reduce((sum, [, one]) => sum + one, untried[1]);
      notes.set('QueriesNotTried', { count, example: untried[0] });
    }
    const leftOut = new Map([...frontier.leftOut, ...merged, ...vendored.left]);
    const refused = countRefused(robots, ignoresRobots ? wantedAddresses(frontier) : []);
    if (refused.count > 0) notes.set('RobotsIgnored', refused);
    const [example, ...others] = visiting.pathsWithIds.toSorted(compare);
    if (example !== undefined) notes.set('SessionIdsDropped', { count: others.length + 1, example });
    const result = await assembleSite(
      { ...placedFrontier, files, notes, leftOut },
      vendored.copied,
      spool,
      limits.maxRedirects,
    );
    if (result.pageCount === 0) throw noPages(request, result);
    logLeftOut(result, context);
    return { ...result, answers: session.counts() };
  } catch (error) {
    throw nameEnd(error, request, context.signal);
  } finally {
    answers?.close();
    await fetcher.close();
  }
}

async function fetchRobots(
  scope: SiteScope,
  { session, spool }: Pick<VisitContext, 'session' | 'spool'>,
  isIgnored: boolean,
  signal: AbortSignal,
): Promise<Robots> {
  let address: Address = { path: '/robots.txt', query: '' };
  // RFC 9309 §2.3.1.2: at least five redirects are followed; here, on the site only.
  for (let hops = 0; hops <= 5; hops += 1) {
    const { answer, learned } = await session
      .get(address, false, signal)
      .catch((error: unknown): RecordedAnswer => {
        // One that cannot be read disallows all (RFC 9309 §2.3.1.4).
        if (isIgnored && isOriginFailed(error)) return failedAnswer;
        throw error;
      });
    session.adopt(learned);
    if (answer.kind === 'absent') break;
    if (answer.kind === 'body') {
      const isText = bodyKind(answer.contentType, address.path) !== 'document';
      const text = (): string => new TextDecoder().decode(spool.head(answer.body, maxRobotsBytes));
      return readRobots(scope, isText ? text() : '');
    }
    const located = locate(scope, answer.location, originUrl(scope, address));
    if (located.where !== 'inside') break;
    address = located.address;
  }
  return readRobots(scope, '');
}

/** What robots.txt may refuse, sorted: guesses are not reported, and sitemaps that it names it does not refuse. */
function wantedAddresses({ visits }: Frontier): readonly Address[] {
  return [...visits.values()]
    .filter(({ isPage, isAsset, isSitemap }) => isPage || (isAsset && !isSitemap))
    .map(({ address }) => address)
    .sort((a, b) => compare(addressKey(a), addressKey(b)));
}

function addSeeds(scope: SiteScope, frontier: Frontier, robots: Robots): void {
  const seed = (path: string, use: ReferenceUse, isSitemap = false): void =>
    frontier.add({ address: { path, query: '' }, use, isSitemap }, 0);
  seed('/', 'page');
  for (const path of guessedFiles) seed(path, 'hint');
  seed(noSuchAddress('/').path, 'hint');
  seed('/sitemap.xml', 'hint', true);
  for (const text of robots.sitemaps) {
    const located = locate(scope, text, originUrl(scope, { path: '/', query: '' }));
    if (located.where === 'inside') {
      frontier.add({ address: located.address, use: 'asset', isSitemap: true }, 0);
    }
  }
}

function isOutside(scope: SiteScope, href: string): boolean {
  return locate(scope, href, originUrl(scope, { path: '/', query: '' })).where === 'outside';
}

function hasFailed({ outcome, isPage, isAsset }: Visit): boolean {
  return (isPage || isAsset) && outcome?.kind === 'absent' && outcome.reason === 'OriginFailed';
}

/** Broken links do not fail the crawl, but the site's owner needs to know them. */
function logLeftOut({ skipped }: Pick<CrawlResult, 'skipped'>, { logger }: CrawlContext): void {
  if (skipped.length === 0) return;
  const byReason = [...Map.groupBy(skipped, ({ reason }) => reason)];
  // An origin may answer with hundreds of statuses: the log names the most frequent.
  const leftOut = byReason
    .sort(([, a], [, b]) => b.length - a.length)
    .slice(0, 20)
    .map(([reason, those]) => ({
      reason,
      count: those.length,
      examples: those.slice(0, 5).map(({ path }) => path.slice(0, 200)),
    }));
  logger.info({ leftOut }, 'addresses of the site that are not in its export');
}

function noPages({ domain }: CrawlRequest, { skipped }: Pick<CrawlResult, 'skipped'>): CrawlError {
  const home = skipped.find(({ path }) => path === '/')?.reason ?? 'no HTML';
  const advice = homeAdvice.get(home) ?? 'check that the origin serves the site at its root, as HTML';
  return new PublishableError('NoPages', `${domain} has no page to export (home page: ${home}); ${advice}`);
}

const namedHeader = 'name the header that the origin needs with --origin-header';
/** By the reason that the home page is missing. */
const homeAdvice: ReadonlyMap<string, string> = new Map([
  [
    'RobotsDisallowed',
    'its robots.txt disallows the home page: allow static-export-operator there, or set --ignore-robots',
  ],
  ['RedirectLoop', namedHeader],
  ['AccessDenied', namedHeader],
  ['Status421', namedHeader],
]);

/** Names the end by the deadline or by the caller's signal. */
function nameEnd(error: unknown, { domain, limits }: CrawlRequest, callers: AbortSignal): unknown {
  if (callers.aborted) {
    return new PublishableError('CrawlAborted', `the crawl of ${domain} was stopped`, { cause: error });
  }
  if (!(error instanceof Error) || error.name !== 'TimeoutError') return error;
  return crawlTimedOut(domain, limits.timeoutMs, error);
}
