// Crawls one whole site: from its origin's home, sitemaps and links to the files of a bundle. Owns the order of work
// (waves), the limits and the outcome. Refuses half a site: a CrawlError ends the crawl where a fetch still fails after
// retries, or a limit is exceeded. Only broken links are left out, and are reported by name. Invariant: the same
// content gives the same files, whatever the order in which answers arrive.

import { PublishableError } from '#platform/wire/publishable-error.ts';
import { createArrivals } from './arrivals.ts';
import { assembleSite } from './assembly.ts';
import type { CrawlContext, CrawlRequest, CrawlResult } from './contract.ts';
import { type CrawlError, crawlTimedOut } from './crawl-error.ts';
import { createFrontier, type FetchOutcome, type Frontier, type Visit } from './frontier.ts';
import { createOriginFetcher, type OriginAnswer, type OriginFetcher } from './origin-fetcher.ts';
import { rebaseFiles } from './rebase.ts';
import { bodyKind, type LinkPool, noLinks, readableBytes, readLinks } from './references/body-links.ts';
import type { ReferenceUse } from './references/reference.ts';
import { maxRobotsBytes, type Robots, readRobots } from './robots.ts';
import { type Address, createScope, locate, originUrl, type SiteScope } from './site-scope.ts';
import { type CrawlSpool, createSpool } from './spool.ts';

/**
 * Crawls the whole site. The service's administrator configures the origin, so it may be an internal address;
 * the crawler never connects to another host.
 * @throws {CrawlError}
 */
export async function crawlSite(request: CrawlRequest, context: CrawlContext): Promise<CrawlResult> {
  const { limits } = request;
  const scope = createScope(request.domain, request.origin);
  const spool = createSpool(request.spoolDirectory, limits.maxBytes);
  const fetcher = createOriginFetcher(scope, limits, request.isOriginConsented, context.clock);
  // The first failed request ends the others; the deadline ends all.
  const failed = new AbortController();
  const signal = context.clock.deadline(limits.timeoutMs, AbortSignal.any([context.signal, failed.signal]));
  try {
    const robots = await fetchRobots(scope, fetcher, signal);
    const frontier = createFrontier(limits, robots);
    addSeeds(scope, frontier, robots);
    const arrivals = createArrivals(limits, frontier, context.onProgress);
    const visiting: VisitContext = { scope, fetcher, spool, pool: new Map(), signal };
    for (let wave = frontier.nextWave(); wave.length > 0; wave = frontier.nextWave()) {
      context.logger.debug({ domain: request.domain, addresses: wave.length }, 'crawling a wave');
      arrivals.startWave(wave);
      const outcomes = await visitAll(wave, limits.concurrency, failed, async (visit) => {
        const outcome = await fetchVisit(visit, visiting);
        arrivals.finish(visit, outcome);
        return outcome;
      });
      for (const [visit, outcome] of outcomes) frontier.settle(visit, outcome);
    }
    const { basePath } = request;
    const files =
      basePath === undefined
        ? frontier.files
        : await rebaseFiles(frontier, basePath, {
            scope,
            spool,
            signal,
            maxRedirects: limits.maxRedirects,
          });
    const result = await assembleSite({ ...frontier, files }, spool, limits.maxRedirects);
    if (result.pageCount === 0) throw noPages(request, result);
    logLeftOut(result, context);
    return result;
  } catch (error) {
    throw nameEnd(error, request, context.signal);
  } finally {
    await fetcher.close();
  }
}

async function fetchRobots(scope: SiteScope, fetcher: OriginFetcher, signal: AbortSignal): Promise<Robots> {
  let address: Address = { path: '/robots.txt', query: '' };
  // RFC 9309 §2.3.1.2: at least five redirects are followed; here, on the site only.
  for (let hops = 0; hops <= 5; hops += 1) {
    const answer = await fetcher.get(address, signal, takeRobots);
    if (answer.kind === 'absent') break;
    if (answer.kind === 'body') {
      const isText = bodyKind(answer.contentType, address.path) !== 'document';
      return readRobots(scope, isText ? new TextDecoder().decode(answer.body) : '');
    }
    const located = locate(scope, answer.location, originUrl(scope, address));
    if (located.where !== 'inside') break;
    address = located.address;
  }
  return readRobots(scope, '');
}

/** Stops at the limit, and does not wait for the rest. */
async function takeRobots(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const taken: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    taken.push(chunk);
    size += chunk.byteLength;
    if (size >= maxRobotsBytes) break;
  }
  return Buffer.concat(taken).subarray(0, maxRobotsBytes);
}

/** Files that a site has by convention, also without a link to them. */
const conventionalFiles = ['/robots.txt', '/404', '/404.html', '/favicon.ico', '/llms.txt', '/llms-full.txt'];
/** Search indexes of MkDocs, mdBook and Docusaurus, and Sphinx's list of objects: only scripts know their names. */
const searchFiles = ['/search/search_index.json', '/searchindex.json', '/search-index.json', '/objects.inv'];
const guessedFiles = new Set([...conventionalFiles, ...searchFiles]);

function addSeeds(scope: SiteScope, frontier: Frontier, robots: Robots): void {
  const seed = (path: string, use: ReferenceUse, isSitemap = false): void =>
    frontier.add({ address: { path, query: '' }, use, isSitemap }, 0);
  seed('/', 'page');
  for (const path of guessedFiles) seed(path, 'hint');
  seed('/sitemap.xml', 'hint', true);
  for (const text of robots.sitemaps) {
    const located = locate(scope, text, originUrl(scope, { path: '/', query: '' }));
    if (located.where === 'inside') {
      frontier.add({ address: located.address, use: 'asset', isSitemap: true }, 0);
    }
  }
}

interface VisitContext {
  readonly scope: SiteScope;
  readonly fetcher: OriginFetcher;
  readonly spool: CrawlSpool;
  readonly pool: LinkPool;
  readonly signal: AbortSignal;
}

async function fetchVisit(visit: Visit, context: VisitContext): Promise<FetchOutcome> {
  const { scope, fetcher, spool, pool, signal } = context;
  const { address } = visit;
  const answer = await fetcher
    .get(address, signal, spool.take)
    .catch((error: unknown): OriginAnswer<never> => {
      if (isGuess(visit) && error instanceof PublishableError && error.code === 'OriginFailed') {
        return { kind: 'absent', reason: 'OriginFailed' };
      }
      throw error;
    });
  if (answer.kind === 'absent') return answer;
  if (answer.kind === 'redirect') {
    const located = locate(scope, answer.location, originUrl(scope, address));
    return located.where === 'inside'
      ? { kind: 'redirect', to: located.address, fragment: located.fragment }
      : { kind: 'redirect', to: undefined, fragment: '' };
  }
  const kind = bodyKind(answer.contentType, address.path);
  const isDocument = kind === 'document';
  const role = isDocument
    ? kind
    : visit.isSitemap
      ? 'sitemap'
      : address.path === '/llms.txt'
        ? 'contents'
        : kind;
  const { body } = answer;
  if (role === 'other') return { kind: 'stored', body, isDocument, role, links: noLinks };
  // One byte more than is read shows that the body is longer.
  const head = spool.head(body, readableBytes(role) + 1);
  const links = readLinks(scope, address, role, answer.contentType, head, pool);
  return { kind: 'stored', body, isDocument, role, links };
}

/** No page names this file, so its failed download does not fail the crawl. */
function isGuess({ address, isPage, isAsset }: Visit): boolean {
  return !isPage && !isAsset && guessedFiles.has(address.path);
}

/** Visits a wave with some requests at once; outcomes in the wave's order. The first failure ends the rest. */
async function visitAll(
  wave: readonly Visit[],
  concurrency: number,
  failed: AbortController,
  visitOne: (visit: Visit) => Promise<FetchOutcome>,
): Promise<readonly (readonly [Visit, FetchOutcome])[]> {
  const queue = wave.entries();
  const outcomes = new Map<number, readonly [Visit, FetchOutcome]>();
  const work = async (): Promise<void> => {
    try {
      for (const [index, visit] of queue) outcomes.set(index, [visit, await visitOne(visit)]);
    } catch (error) {
      failed.abort(error);
      throw error;
    }
  };
  const workers = await Promise.allSettled(Array.from({ length: Math.max(1, concurrency) }, work));
  // The reason of the abort is the first failure; what the other workers threw followed from it.
  if (workers.some(({ status }) => status === 'rejected')) throw failed.signal.reason;
  return [...outcomes].sort(([a], [b]) => a - b).map(([, pair]) => pair);
}

/** Broken links do not fail the crawl, but the site's owner needs to know them. */
function logLeftOut({ skipped }: CrawlResult, { logger }: CrawlContext): void {
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

function noPages({ domain }: CrawlRequest, { skipped }: CrawlResult): CrawlError {
  const home = skipped.find(({ path }) => path === '/')?.reason ?? 'no HTML';
  const advice =
    home === 'RobotsDisallowed'
      ? 'its robots.txt disallows the home page: allow static-export-operator there'
      : 'check that the origin serves the site at its root, as HTML';
  return new PublishableError('NoPages', `${domain} has no page to export (home page: ${home}); ${advice}`);
}

/** Names the end by the deadline or by the caller's signal. */
function nameEnd(error: unknown, { domain, limits }: CrawlRequest, callers: AbortSignal): unknown {
  if (callers.aborted) {
    return new PublishableError('CrawlAborted', `the crawl of ${domain} was stopped`, { cause: error });
  }
  if (!(error instanceof Error) || error.name !== 'TimeoutError') return error;
  return crawlTimedOut(domain, limits.timeoutMs, error);
}
