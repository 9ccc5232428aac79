// Whether a crawled site is whole enough to be published: the rules that a job must pass. Owns which reasons count as missing.
// Pure. Refuses a site that its visitors would find broken. Invariant: what is missing is counted, whatever the verdict.

import { PublishableError } from '#platform/wire/publishable-error.ts';
import { allowsHost } from '#site/allowed-hosts.ts';
import type { CrawlLimits, CrawlResult, SkippedUrl } from './contract.ts';
import type { CrawlError } from './crawl-error.ts';

/** The site asks for it, and its origin does not have it. Other reasons are a decision, such as robots.txt. */
const missingReasons: ReadonlySet<string> = new Set([
  'NotFound',
  'Gone',
  'AccessDenied',
  'NotAnAsset',
  'RedirectToNothing',
  'RedirectLoop',
  'TooManyRedirects',
  'OriginFailed',
]);

export function isMissing({ reason }: SkippedUrl): boolean {
  return missingReasons.has(reason) || /^Status\d+$/.test(reason);
}

/** It is on another host: as a rule allows, or for the reason that its name adds to `External`. */
export function isExternal({ reason }: SkippedUrl): boolean {
  return reason.startsWith('External');
}

/** It should have a copy, and has none. */
export function isNotCopied({ reason }: Pick<SkippedUrl, 'reason'>): boolean {
  return reason.startsWith('External') && reason !== 'External';
}

export type CompletenessRules = Pick<CrawlLimits, 'maxMissing' | 'requiresHomePage' | 'assets'>;

/** @throws {CrawlError} HomePageMissing, SiteIncomplete, AssetsNotCopied */
export function requireComplete(
  result: Pick<CrawlResult, 'files' | 'skipped' | 'asked'>,
  domain: string,
  { maxMissing, requiresHomePage, assets }: CompletenessRules,
): void {
  const { files, skipped, asked } = result;
  if (requiresHomePage && !files.some(({ path }) => path === 'index.html')) {
    throw homePageMissing(domain, skipped);
  }
  const missing = skipped.filter(isMissing);
  const allowed = Math.max(maxMissing.count, Math.floor((asked * maxMissing.percent) / 100));
  if (missing.length > allowed) throw siteIncomplete(domain, missing, asked, allowed);
  const isAllowed = ({ path }: SkippedUrl): boolean =>
    allowsHost(assets.allowedHosts, path.replace(/\/.*$/s, ''));
  const external = skipped.filter((one) => isNotCopied(one) && !isAllowed(one));
  if (external.length > 0) throw assetsNotCopied(domain, external);
}

function homePageMissing(domain: string, skipped: readonly SkippedUrl[]): CrawlError {
  const why = skipped.find(({ path }) => path === '/')?.reason ?? 'not HTML';
  return new PublishableError(
    'HomePageMissing',
    `the home page of ${domain} does not answer with a page (${why}); nothing was exported; ` +
      'repair it, or allow its absence with --allow-missing-home-page',
  );
}

/** Enough to see what they have in common, and short enough for the error of a job. */
const mostExamples = 3;
const mostLength = 120;

function siteIncomplete(
  domain: string,
  missing: readonly SkippedUrl[],
  asked: number,
  allowed: number,
): CrawlError {
  return new PublishableError(
    'SiteIncomplete',
    `${missing.length} of ${asked} pages and files that ${domain} asks for are missing, and ${allowed} are allowed: ` +
      `${examplesOf(missing)}; nothing was exported; repair these links, or raise --max-missing`,
  );
}

function assetsNotCopied(domain: string, external: readonly SkippedUrl[]): CrawlError {
  const hosts = new Set(external.map(({ path }) => path.replace(/\/.*$/s, '')));
  const [host = ''] = hosts;
  const named = external.map((one) => ({ ...one, reason: one.reason.replace(/^External/, '') }));
  return new PublishableError(
    'AssetsNotCopied',
    `pages of ${domain} load files from ${hosts.size === 1 ? 'another host' : `${hosts.size} other hosts`} that could not ` +
      `be copied: ${examplesOf(named)}; nothing was exported; let the exporter reach ${hosts.size === 1 ? 'it' : 'them'}` +
      `${named.some(({ reason }) => reason === 'Internal') ? ' (internal addresses: --allow-private-assets)' : ''}, ` +
      `or leave such loads as they are with --allow-external ${host.slice(0, mostLength)}`,
  );
}

function examplesOf(skipped: readonly SkippedUrl[]): string {
  const examples = skipped.slice(0, mostExamples).map(({ path, reason, from }) => {
    const page = from === undefined ? 'the sitemap' : from.slice(0, mostLength);
    return `${path.slice(0, mostLength)} (${reason}, from ${page})`;
  });
  return `${examples.join(', ')}${skipped.length > mostExamples ? ', …' : ''}`;
}
