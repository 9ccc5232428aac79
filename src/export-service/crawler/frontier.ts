// Holds what is known of the site during a crawl: every address once, why it is wanted, and its outcome. Work goes in
// waves: all known addresses not yet visited, sorted. A wave's outcomes are settled in that order, never in the order
// of arrival. Pure: no I/O, no time. Invariant: the same outcomes give the same files.

import { composedForm } from '#platform/wire/unicode-form.ts';
import type { CrawlLimits } from './contract.ts';
import { tooDeep, tooManyFiles, tooManyLinks, tooManyPages } from './crawl-error.ts';
import { type BodyKind, type BodyLink, type BodyLinks, noLinks } from './references/body-links.ts';
import type { Robots } from './robots.ts';
import type { Address } from './site-scope.ts';
import { documentPath, filePath } from './site-scope.ts';
import type { StoredBody } from './spool.ts';

export type FetchOutcome =
  | {
      readonly kind: 'stored';
      readonly body: StoredBody;
      readonly isDocument: boolean;
      /** What it was read as. */
      readonly role: BodyKind;
      readonly links: BodyLinks;
    }
  /** `to` is undefined where it leads off the site. */
  | { readonly kind: 'redirect'; readonly to: Address | undefined; readonly fragment: string }
  | { readonly kind: 'absent'; readonly reason: string };

/** One address. Its uses only grow: a hint may become a page, but a page never becomes a hint. */
export interface Visit {
  readonly address: Address;
  isPage: boolean;
  isAsset: boolean;
  isSitemap: boolean;
  /** Links from the home page. */
  readonly depth: number;
  /** Redirects that led here without a link of its own. */
  readonly hops: number;
  outcome: FetchOutcome | undefined;
  /** Set once its file and links are in the export. */
  isTaken: boolean;
}

export interface SiteFile {
  readonly body: StoredBody;
  readonly isDocument: boolean;
  readonly role: BodyKind;
  /** Where it was found. */
  readonly address: Address;
}

export interface Frontier {
  /** By address, sorted in no way. */
  readonly visits: ReadonlyMap<string, Visit>;
  readonly files: ReadonlyMap<string, SiteFile>;
  /** Path and reason of what was left out while settling; `assemble` adds what the visits say. */
  readonly leftOut: ReadonlyMap<string, string>;
  readonly notes: ReadonlyMap<string, { readonly count: number; readonly example: string }>;
  /** Documents among the files. */
  pageCount(): number;
  add(link: BodyLink, depth: number): void;
  /** The addresses to visit now, sorted; empty when the site is done. */
  nextWave(): readonly Visit[];
  /** To be called for each visit of the wave, in the wave's order. @throws {CrawlError} on a limit */
  settle(visit: Visit, outcome: FetchOutcome): void;
}

/** A path is not fetched under more queries than this: `?v=1`, `?v=2`, … are one path. */
const maxQueriesPerPath = 4;
/** Every site has broken and outside links, but not this many for each file. */
const linksPerFile = 4;
const spareLinks = 1000;
/** All addresses together: each is kept several times, as key, path and link. */
const maxAddressLength = 24 * 1024 * 1024;
const maxLeftOut = 10_000;
/** Style sheets import, scripts load: what a page needs may be this much deeper than the deepest page. */
const assetDepth = 16;

export function addressKey({ path, query }: Address): string {
  return `${path}${query}`;
}

export function createFrontier(limits: CrawlLimits, robots: Robots): Frontier {
  const visits = new Map<string, Visit>();
  const files = new Map<string, SiteFile>();
  /** Paths of the files, by their composed form. */
  const forms = new Map<string, string>();
  const leftOut = new Map<string, string>();
  const notes = new Map<string, { count: number; example: string }>();
  const queriesOf = new Map<string, number>();
  let waiting: Visit[] = [];
  let pageCount = 0;
  let addressLength = 0;

  const leaveOut = (path: string, reason: string): void => {
    if (leftOut.size < maxLeftOut && !leftOut.has(path)) leftOut.set(path, reason);
  };
  const note = (code: string, count: number, example: string): void => {
    if (count === 0) return;
    const known = notes.get(code);
    if (known === undefined) notes.set(code, { count, example });
    else known.count += count;
  };

  const widen = (visit: Visit, { use, isSitemap }: BodyLink): void => {
    const isNews =
      (use === 'page' && !visit.isPage) ||
      (use === 'asset' && !visit.isAsset) ||
      (isSitemap && !visit.isSitemap);
    if (!isNews) return;
    visit.isPage ||= use === 'page';
    visit.isAsset ||= use === 'asset';
    visit.isSitemap ||= isSitemap;
    if (visit.outcome !== undefined && !visit.isTaken) take(visit, visit.outcome);
  };

  const add = (link: BodyLink, depth: number, hops = 0): void => {
    const key = addressKey(link.address);
    const known = visits.get(key);
    // What only too many redirects led to may still have a link of its own.
    if (known !== undefined && (hops > 0 || !isRefusedForRedirects(known))) {
      widen(known, link);
      return;
    }
    const { path, query } = link.address;
    if (query !== '') {
      const queries = (queriesOf.get(path) ?? 0) + 1;
      queriesOf.set(path, queries);
      if (queries > maxQueriesPerPath) {
        note('QueriesNotTried', 1, path);
        return;
      }
    }
    const refusal = refuse(link, hops);
    const visit: Visit = {
      address: link.address,
      isPage: link.use === 'page',
      isAsset: link.use === 'asset',
      isSitemap: link.isSitemap,
      depth,
      hops,
      outcome: refusal === undefined ? undefined : { kind: 'absent', reason: refusal },
      isTaken: refusal !== undefined,
    };
    addressLength += key.length;
    const isFull = visits.size >= limits.maxFiles * linksPerFile + spareLinks;
    if (isFull || addressLength > maxAddressLength) throw tooManyLinks(visits.size, path);
    visits.set(key, visit);
    if (refusal !== undefined) return;
    if (depth > limits.maxDepth + (visit.isPage ? 0 : assetDepth)) throw tooDeep(limits.maxDepth, path);
    waiting.push(visit);
  };

  const refuse = ({ address, use, isSitemap }: BodyLink, hops: number): string | undefined => {
    const isNamedByRobots = isSitemap && use === 'asset';
    if (!isNamedByRobots && !robots.isAllowed(address)) return 'RobotsDisallowed';
    return hops > limits.maxRedirects ? 'TooManyRedirects' : undefined;
  };

  const take = (visit: Visit, outcome: FetchOutcome): void => {
    if (outcome.kind === 'stored') {
      // A missing file answered with a page (common for apps of one page) is not the file.
      if (outcome.isDocument && !visit.isPage && !isNotFoundPage(visit.address)) return;
      visit.isTaken = true;
      // Taken once; what is kept for the whole crawl should not be every link of every page.
      visit.outcome = { ...outcome, links: noLinks };
      takeFile(visit, outcome);
      takeLinks(visit, outcome.links);
    } else if (outcome.kind === 'redirect' && outcome.to !== undefined) {
      const use = visit.isPage ? 'page' : visit.isAsset ? 'asset' : 'hint';
      visit.isTaken = visit.isPage;
      // A page's query is dropped like any page link's, or a redirect that only adds one would never end.
      const to = visit.isPage ? { path: outcome.to.path, query: '' } : outcome.to;
      add({ address: to, use, isSitemap: visit.isSitemap }, visit.depth, visit.hops + 1);
    }
  };

  const takeFile = (
    { address }: Visit,
    { body, isDocument, role }: FetchOutcome & { kind: 'stored' },
  ): void => {
    const path = isDocument ? documentPath(address) : filePath(address);
    if (path === undefined) {
      leaveOut(address.path, 'NoFileName');
      return;
    }
    // An archive with both Unicode forms of a name is rejected.
    const known = files.get(forms.get(composedForm(path)) ?? path);
    if (known === undefined) {
      files.set(path, { body, isDocument, role, address });
      forms.set(composedForm(path), path);
      if (isDocument && !isNotFoundPage(address)) pageCount += 1;
      if (files.size > limits.maxFiles) throw tooManyFiles(limits.maxFiles);
      if (pageCount > limits.maxPages) throw tooManyPages(limits.maxPages, address.path);
    } else if (known.body.sha256 !== body.sha256) {
      leaveOut(address.path, address.query === '' ? 'SamePathTwice' : 'QueryVariantDiffers');
    }
  };

  const takeLinks = ({ address, depth }: Visit, links: BodyLinks): void => {
    for (const link of links.links) add(link, depth + 1);
    for (const name of links.external) leaveOut(name, 'External');
    for (const path of links.unsafe) leaveOut(path, 'UnsafePath');
    note('OriginSpelledInLinks', links.originSpelled, address.path);
    note('QueriesDropped', links.queriesDropped, address.path);
    note('PartlyRead', links.isPartial ? 1 : 0, address.path);
  };

  return {
    visits,
    files,
    leftOut,
    notes,
    add,
    pageCount: () => pageCount,
    nextWave: () => {
      const wave = waiting.sort((a, b) => compare(addressKey(a.address), addressKey(b.address)));
      waiting = [];
      return wave;
    },
    settle: (visit, outcome) => {
      visit.outcome = outcome;
      take(visit, outcome);
    },
  };
}

/** UTF-16 code units, as everywhere in a bundle. */
export function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Servers that hide `.html` have it under the shorter name. Not counted as a page. */
export function isNotFoundPage({ path }: Address): boolean {
  return path === '/404.html' || path === '/404';
}

function isRefusedForRedirects({ outcome }: Visit): boolean {
  return outcome?.kind === 'absent' && outcome.reason === 'TooManyRedirects';
}
