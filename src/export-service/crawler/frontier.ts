// Holds what is known of the site during a crawl: every address once, why it is wanted, and its outcome. Work goes in
// waves: all known addresses not yet visited, sorted. A wave's outcomes are settled in that order, never in the order
// of arrival. Pure: no I/O, no time. Invariant: the same outcomes give the same files.

import { composedForm } from '#platform/wire/unicode-form.ts';
import { type BodyLinks, noLinks } from '#site/references/body-links.ts';
import type { BodyLink } from '#site/references/link-pool.ts';
import { maxReferences } from '#site/references/reference.ts';
import type { SearchTool } from '#site/references/search-index.ts';
import type { Address } from '#site/site-scope.ts';
import { addressKey, compare, documentPath, filePath, isReservedPath } from '#site/site-scope.ts';
import type { CrawlLimits } from './contract.ts';
import { tooDeep, tooManyFiles, tooManyLinks, tooManyPages } from './crawl-error.ts';
import { createLeftOutList, type Externals, type LeftOut } from './left-out.ts';
import {
  createNotFoundPages,
  isNoSuchAddress,
  type NoSuchPageAnswer,
  noSuchFolder,
} from './not-found-pages.ts';
import type { OriginBody } from './origin/origin-types.ts';
import type { Robots } from './origin/robots.ts';
import { createQueryGate } from './query-gate.ts';
import type { StoredBody } from './spool.ts';
import type { FetchOutcome, Visit } from './visit.ts';

export interface SiteFile extends OriginBody {
  /** Where it was found. */
  readonly address: Address;
  /** It is the index of a site's search. */
  readonly searchTool?: SearchTool | undefined;
}

export interface Frontier {
  /** By address, sorted in no way. */
  readonly visits: ReadonlyMap<string, Visit>;
  readonly files: ReadonlyMap<string, SiteFile>;
  /** By path: what was left out while settling; `assemble` adds what the visits say. */
  readonly leftOut: ReadonlyMap<string, LeftOut>;
  readonly notes: ReadonlyMap<string, { readonly count: number; readonly example: string }>;
  externals(): Externals;
  /** By path. */
  queriesNotTried(): ReadonlyMap<string, number>;
  /** Documents among the files. */
  pageCount(): number;
  /** Such a page is kept, and does not count. */
  isNotFoundPage(address: Address): boolean;
  /** Whether a page is what the site answers where it has nothing, as far as that is known. Such a page is left out. */
  isSoftNotFound(address: Address, body: StoredBody): boolean;
  /** @param askedBy path of the body that asks for it */
  add(link: BodyLink, depth: number, askedBy?: string): void;
  /** The addresses to visit now, in the order in which they are settled; empty when the site is done. */
  nextWave(): readonly Visit[];
  /** To be called for each visit of the wave, in the wave's order. @throws {CrawlError} on a limit */
  settle(visit: Visit, outcome: FetchOutcome): void;
}

/** Every site has broken and outside links, but not this many for each file. */
const linksPerFile = 4;
const spareLinks = 1000;
/** All addresses together: each is kept several times, as key, path and link. */
const maxAddressLength = 24 * 1024 * 1024;
/** Style sheets import, scripts load: what a page needs may be this much deeper than the deepest page. */
const assetDepth = 16;
type StoredOutcome = Extract<FetchOutcome, { kind: 'stored' }>;
const softNotFound: FetchOutcome = { kind: 'absent', reason: 'SoftNotFound' };

export function createFrontier(limits: CrawlLimits, robots: Robots): Frontier {
  const visits = new Map<string, Visit>();
  const files = new Map<string, SiteFile>();
  /** Paths of the files, by their composed form. */
  const forms = new Map<string, string>();
  const { leftOut, notes, leaveOut, note, takeExternal, externals } = createLeftOutList();
  const notFound = createNotFoundPages((path) => {
    const outcome = visits.get(path)?.outcome;
    if (outcome?.kind === 'stored') return outcome;
    return outcome?.kind === 'redirect' && outcome.to !== undefined ? { to: outcome.to.path } : undefined;
  }, limits.maxRedirects);
  const queries = createQueryGate();
  const held = new Map<Visit, StoredOutcome>();
  let heldLinks = 0;
  let waiting: Visit[] = [];
  let pageCount = 0;
  let addressLength = 0;

  const widen = (visit: Visit, { use, isSitemap }: BodyLink, askedBy: string | undefined): void => {
    const isNews =
      (use === 'page' && !visit.isPage) ||
      (use === 'asset' && !visit.isAsset) ||
      (use === 'trial' && !visit.isTrial) ||
      (isSitemap && !visit.isSitemap);
    const isWanted = visit.isPage || visit.isAsset;
    // Who only guessed is no answer to "which page has this link?".
    if (use === 'page' || use === 'asset') visit.askedBy = isWanted ? (visit.askedBy ?? askedBy) : askedBy;
    if (!isNews) return;
    visit.isPage ||= use === 'page';
    visit.isAsset ||= use === 'asset';
    visit.isSitemap ||= isSitemap;
    visit.isTrial ||= use === 'trial';
    if (visit.outcome !== undefined && !visit.isTaken) take(visit, visit.outcome);
  };

  const add = (link: BodyLink, depth: number, askedBy?: string, hops = 0): void => {
    const key = addressKey(link.address);
    const known = visits.get(key);
    // What only too many redirects led to may still have a link of its own.
    if (known !== undefined && (hops > 0 || !isRefusedForRedirects(known))) {
      widen(known, link, askedBy);
      return;
    }
    const { path, query } = link.address;
    if (query !== '' && !queries.admits({ link, depth, askedBy })) return;
    const refusal = refuse(link, hops);
    const visit: Visit = {
      address: link.address,
      isPage: link.use === 'page',
      isAsset: link.use === 'asset',
      isSitemap: link.isSitemap,
      isTrial: link.use === 'trial',
      depth,
      hops,
      askedBy,
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
    if (outcome.kind === 'stored' && outcome.noSuchPage !== undefined) {
      takeNoSuchPage(visit, outcome, outcome.noSuchPage);
    } else if (outcome.kind === 'stored') {
      // A missing file answered with a page (common for apps of one page) is not the file.
      const isPage = visit.isPage || visit.isTrial || notFound.isNotFoundPage(visit.address);
      if (outcome.isDocument && !isPage) return;
      if (outcome.isDocument && notFound.isSoftNotFound(visit.address, outcome.body)) {
        hold(visit, outcome);
        return;
      }
      visit.isTaken = true;
      // Taken once; what is kept for the whole crawl should not be every link of every page.
      visit.outcome = { ...outcome, links: noLinks };
      const { query } = visit.address;
      const released = query === '' ? [] : queries.learn(visit.address, outcome.body.sha256);
      for (const { link, depth, askedBy } of released) add(link, depth, askedBy);
      takeFile(visit, outcome);
      takeLinks(visit, outcome.links);
      if (outcome.isDocument) askForNotFound(visit, outcome.body);
    } else if (outcome.kind === 'redirect' && outcome.to !== undefined) {
      const use = visit.isPage ? 'page' : visit.isAsset ? 'asset' : visit.isTrial ? 'trial' : 'hint';
      visit.isTaken = visit.isPage;
      // A page's query is dropped like any page link's, or a redirect that only adds one would never end.
      const to = visit.isPage ? { path: outcome.to.path, query: '' } : outcome.to;
      add({ address: to, use, isSitemap: visit.isSitemap }, visit.depth, visit.askedBy, visit.hops + 1);
    }
  };

  const hold = (visit: Visit, outcome: StoredOutcome): void => {
    const isFull = heldLinks + outcome.links.links.length > maxReferences;
    const links = isFull ? { ...noLinks, isPartial: true } : outcome.links;
    heldLinks += links.links.length;
    held.set(visit, { ...outcome, links });
    visit.outcome = softNotFound;
  };

  /** Once nothing else is left: whether pages are the answer to unknown addresses shows in how many there are. */
  const takeHeld = (): void => {
    const candidates = [...held].map(([visit, outcome]) => ({
      ...visit,
      body: outcome.body,
      visit,
      outcome,
    }));
    const taken = [...visits.values()].filter(({ isPage, isTaken }) => isPage && isTaken);
    const pages = taken.filter(({ outcome }) => outcome?.kind === 'stored' && outcome.isDocument);
    for (const { visit, outcome } of notFound.reconsider(candidates, pages)) {
      held.delete(visit);
      visit.outcome = outcome;
      take(visit, outcome);
    }
  };

  const takeNoSuchPage = (
    visit: Visit,
    { body, isDocument, role, links, originType }: StoredOutcome,
    answer: NoSuchPageAnswer,
  ): void => {
    visit.outcome = { kind: 'absent', reason: 'NotFound' };
    const folder = noSuchFolder(visit.address);
    const address = { path: `${folder}404.html`, query: '' };
    const isKnownAbove = notFound.isKnownAbove(folder, body, answer.address);
    notFound.learnAnswer(folder, body, answer);
    for (const known of visits.values()) if (known.address.path.startsWith(folder)) judgeAgain(known);
    const path = documentPath(address);
    if (body.sizeBytes === 0 || path === undefined || isKnownAbove) return;
    if (files.has(forms.get(composedForm(path)) ?? path)) return;
    if (!answer.isSteady) {
      note('NotFoundPageVaries', 1, address.path);
      return;
    }
    // Relative addresses of the page are relative to the folder, under either name.
    files.set(path, { body, isDocument, role, address, originType });
    forms.set(composedForm(path), path);
    takeLinks({ ...visit, address }, links);
  };

  /** A page that was taken before the answer below its folder was known. */
  const judgeAgain = (visit: Visit): void => {
    const { address, outcome, isTaken } = visit;
    if (!isTaken || outcome?.kind !== 'stored' || !outcome.isDocument) return;
    if (notFound.isNewAppAnswer(address, outcome.body)) note('AnswersEverything', 1, address.path);
    if (!notFound.isSoftNotFound(address, outcome.body)) return;
    hold(visit, outcome);
    visit.isTaken = false;
    const path = documentPath(address);
    if (path === undefined || files.get(path)?.address !== address) return;
    files.delete(path);
    forms.delete(composedForm(path));
    pageCount -= 1;
  };

  const takeFile = (
    { address, askedBy }: Visit,
    { body, isDocument, role, links, originType }: StoredOutcome,
  ): void => {
    const path = isDocument ? documentPath(address) : filePath(address);
    if (path === undefined || isReservedPath(path)) {
      leaveOut(address.path, path === undefined ? 'NoFileName' : 'ReservedPath', askedBy);
      return;
    }
    const file: SiteFile = { body, isDocument, role, address, originType, searchTool: links.searchTool };
    // An archive with both Unicode forms of a name is rejected.
    const known = files.get(forms.get(composedForm(path)) ?? path);
    if (known === undefined) {
      files.set(path, file);
      forms.set(composedForm(path), path);
      if (isDocument && !notFound.isNotFoundPage(address)) pageCount += 1;
      if (files.size > limits.maxFiles) throw tooManyFiles(limits.maxFiles);
      if (pageCount > limits.maxPages) throw tooManyPages(limits.maxPages, address.path);
    } else if (
      known.body.sha256 !== body.sha256 &&
      address.query === '' &&
      !notFound.isNotFoundPage(address)
    ) {
      // The file of an address with a query may get a path of its own.
      if (known.address.query !== '') files.set(path, file);
      else leaveOut(address.path, 'SamePathTwice', askedBy);
    }
  };

  const askForNotFound = ({ address, depth }: Visit, body: StoredBody): void => {
    for (const asked of notFound.learnFolder(address)) {
      add({ address: asked, use: 'hint', isSitemap: false }, depth);
    }
    if (notFound.isNewAppAnswer(address, body)) note('AnswersEverything', 1, address.path);
  };

  const takeLinks = ({ address, depth, isSitemap, askedBy: from }: Visit, links: BodyLinks): void => {
    const askedBy = isSitemap ? undefined : address.path;
    const isLoose = !isBesideVersions(links.versionFolders, from);
    for (const link of links.links) {
      // A not-found page may link to itself, also in other languages.
      if (isNoSuchAddress(link.address) || (isLoose && link.use === 'trial')) continue;
      add(link, depth + 1, askedBy);
    }
    for (const reference of links.external) takeExternal(reference, askedBy);
    for (const path of links.unsafe) leaveOut(path, 'UnsafePath', askedBy);
    note('OriginSpelledInLinks', links.originSpelled, address.path);
    note('QueriesDropped', links.queriesDropped, address.path);
    note('PartlyRead', links.isPartial ? 1 : 0, address.path);
    note('VersionsNotTried', isLoose ? 0 : (links.versionsNotTried ?? 0), address.path);
  };

  /** A list of versions at another place, such as `_static`, names no folders there. */
  const isBesideVersions = (folders: readonly string[] = [], from = ''): boolean =>
    folders.some((folder) => {
      const kind = visits.get(folder)?.outcome?.kind;
      return kind === 'stored' || kind === 'redirect' || from.startsWith(folder);
    });

  return {
    ...{ visits, files, leftOut, notes, externals, add },
    pageCount: () => pageCount,
    queriesNotTried: queries.notTried,
    isNotFoundPage: notFound.isNotFoundPage,
    isSoftNotFound: notFound.isSoftNotFound,
    nextWave: () => {
      if (waiting.length === 0 && held.size > 0) takeHeld();
      const rank = notFound.createRank();
      const wave = waiting.sort(
        ({ address: a }, { address: b }) => rank(a) - rank(b) || compare(addressKey(a), addressKey(b)),
      );
      waiting = [];
      return wave;
    },
    settle: (visit, outcome) => {
      visit.outcome = outcome;
      take(visit, outcome);
    },
  };
}

function isRefusedForRedirects({ outcome }: Visit): boolean {
  return outcome?.kind === 'absent' && outcome.reason === 'TooManyRedirects';
}
