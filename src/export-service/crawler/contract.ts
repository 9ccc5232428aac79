// The crawler's request and result: the types shared by the crawler, the jobs that run it, and the pack. Types,
// defaults and the form of a limit only. Invariant: a result is a whole site; there is no partial one.

import type { Clock } from '#platform/runtime/clock.ts';
import type { Logger } from '#platform/runtime/logger.ts';
import type { SearchTool } from '#site/references/search-index.ts';

/** A crawl that exceeds a limit ends with that limit's own error. */
export interface CrawlLimits {
  readonly maxPages: number;
  readonly maxFiles: number;
  /** Sum of all bodies, decoded. */
  readonly maxBytes: number;
  readonly maxFileBytes: number;
  /** For the whole crawl. */
  readonly timeoutMs: number;
  /** For one request, body included. */
  readonly requestTimeoutMs: number;
  /** Requests under way at once. */
  readonly concurrency: number;
  readonly maxRedirects: number;
  /** Links from the home page to a page, at most. */
  readonly maxDepth: number;
  /** Wanted pages and files that the origin does not have. The larger of both is allowed. */
  readonly maxMissing: MissingLimit;
  readonly requiresHomePage: boolean;
  readonly assets: AssetRules;
}

/** For what pages load from other hosts. */
export interface AssetRules {
  /** Hosts whose assets stay there, as `readAllowedHost` returns them. */
  readonly allowedHosts: readonly string[];
  /** Whether a host may have an internal address. */
  readonly allowsPrivate: boolean;
}

export interface MissingLimit {
  readonly count: number;
  /** Of all that pages and sitemaps ask for. */
  readonly percent: number;
}

/** `20`, `1%`, or `20/1%` for the larger of both. @returns `undefined` for another text */
export function readMissingLimit(text: string): MissingLimit | undefined {
  const read = /^(?:(\d{1,9})|(?:(\d{1,9})\/)?(\d{1,3}(?:\.\d{1,3})?)%)$/.exec(text);
  const percent = Number(read?.[3] ?? 0);
  return read === null || percent > 100 ? undefined : { count: Number(read[1] ?? read[2] ?? 0), percent };
}

/** `rooted`: links begin with a slash, as the site has them. `portable`: they are relative and name files. */
export const siteProfiles = ['rooted', 'portable'] as const;
export type SiteProfile = (typeof siteProfiles)[number];

export interface CrawlRequest {
  /** Path below which the files will be served, `/docs` for one; `''` is the root. Absent: every link stays as it is. */
  readonly basePath?: string | undefined;
  /** Bare host name under which the site is public. Never connected to. */
  readonly domain: string;
  /** Where the domain is fetched, e.g. `http://127.0.0.1:4000/`; may have a path prefix. The only host connected to. */
  readonly origin: URL;
  /**
   * The service's administrator named this origin, so it may be an address that only this machine or cluster can
   * see. False if it follows from a client's domain. Such an address is then refused, whatever DNS returns.
   */
  readonly isOriginConsented: boolean;
  /** Sent with each request; names in lower case. The values are secret. */
  readonly originHeaders?: Readonly<Record<string, string>> | undefined;
  /** robots.txt is read, but refuses no address. Only for a site of the service's administrator. */
  readonly ignoresRobots?: boolean | undefined;
  /**
   * Bodies and answers are kept here until the site is packed. A crawl that was interrupted goes on from what it finds.
   * Created if absent; the caller removes it.
   */
  readonly spoolDirectory: string;
  /** What the last complete crawl left, see `keepAnswers`; it is only read. Need not exist. */
  readonly earlierDirectory?: string | undefined;
  readonly limits: CrawlLimits;
}

export interface CrawlProgress {
  /** Pages fetched so far; never falls. */
  readonly pageCount: number;
  /**
   * Those, the pages known and still to fetch, and as many more as the rest of the wave is likely to lead to.
   * May fall when a link is broken.
   */
  readonly discovered: number;
}

export interface CrawledFile {
  /** Path in the bundle: decoded, no leading slash. */
  readonly path: string;
  readonly sizeBytes: number;
  /** SHA-256 of the bytes, lower-case hex. */
  readonly sha256: string;
  /** The bytes in pieces, from the spool directory. @throws {CrawlError} SpoolFailed */
  read(): AsyncIterable<Uint8Array>;
}

export interface SkippedUrl {
  /** Path on the site; for another host's asset, host and path. Never a query. */
  readonly path: string;
  /** Stable code: `NotFound`, `RobotsDisallowed`, `External`, … */
  readonly reason: string;
  /** Path of the first page or file of the export that asks for it. Absent: a sitemap or the crawler asked. */
  readonly from?: string | undefined;
}

/** A file that was asked for with several queries. */
export interface QueryVariants {
  readonly path: string;
  readonly queries: number;
  /** Different bodies among them. One path of the bundle has one. */
  readonly contents: number;
}

export interface CopiedAsset {
  /** Host and path, never a query. */
  readonly path: string;
  /** Path in the bundle. */
  readonly file: string;
}

/** Something of the site that works differently when served from a bundle. */
export interface CrawlNote {
  /** Stable, PascalCase. */
  readonly code: string;
  readonly count: number;
  /** One path at which it was found. */
  readonly example: string;
}

export interface CrawledSearchIndex {
  readonly tool: SearchTool;
  /** Path in the bundle. */
  readonly path: string;
}

export interface CrawlResult {
  /** Sorted by path (UTF-16 code units), each path once. */
  readonly files: readonly CrawledFile[];
  /** Content types that the origin named and that names and bytes do not show, by path of the bundle. Sorted. */
  readonly types: ReadonlyMap<string, string>;
  /** HTML documents of the site; redirect stubs and `404.html` do not count. */
  readonly pageCount: number;
  readonly skipped: readonly SkippedUrl[];
  /** Pages and files that pages and sitemaps ask for, present or not. */
  readonly asked: number;
  /** Assets of other hosts that are in the bundle. Sorted by path. */
  readonly copied: readonly CopiedAsset[];
  /** Sorted by path. */
  readonly queryVariants: readonly QueryVariants[];
  readonly notes: readonly CrawlNote[];
  /** Indexes of the site's search. Sorted by path. */
  readonly searchIndexes: readonly CrawledSearchIndex[];
  readonly answers: AnswerCounts;
}

/** Where the answers of a crawl came from. */
export interface AnswerCounts {
  readonly fromOrigin: number;
  /** The origin said that the body of the last crawl did not change. */
  readonly notModified: number;
  /** Of an interrupted start. */
  readonly fromJournal: number;
}

export interface CrawlContext {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly onProgress: (progress: CrawlProgress) => void;
  readonly signal: AbortSignal;
}

/** Enough for large documentation, small enough that a site without end is noticed in minutes. */
export const defaultCrawlLimits: CrawlLimits = {
  maxPages: 10_000,
  maxFiles: 50_000,
  maxBytes: 2 * 1024 ** 3,
  maxFileBytes: 128 * 1024 ** 2,
  timeoutMs: 60 * 60 * 1000,
  requestTimeoutMs: 30_000,
  concurrency: 4,
  maxRedirects: 10,
  maxDepth: 200,
  maxMissing: { count: 20, percent: 1 },
  requiresHomePage: true,
  assets: { allowedHosts: [], allowsPrivate: false },
};

/** The name of an archive that is not complete yet. If a thread ends in the middle, its starter removes that file. */
export const partialFile = (destination: string): string => `${destination}.partial`;
