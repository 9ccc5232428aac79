// The crawler's request and result: the types shared by the crawler, the jobs that run it, and the pack. Types and
// defaults only. Invariant: a result is a whole site; there is no partial one.

import type { Clock } from '#platform/runtime/clock.ts';
import type { Logger } from '#platform/runtime/logger.ts';

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
}

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
  /** Bodies are kept here, named by their hash, until the site is packed. Created if absent; the caller removes it. */
  readonly spoolDirectory: string;
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
}

/** Something of the site that works differently when served from a bundle. */
export interface CrawlNote {
  /** Stable, PascalCase. */
  readonly code: string;
  readonly count: number;
  /** One path at which it was found. */
  readonly example: string;
}

export interface CrawlResult {
  /** Sorted by path (UTF-16 code units), each path once. */
  readonly files: readonly CrawledFile[];
  /** HTML documents of the site; redirect stubs and `404.html` do not count. */
  readonly pageCount: number;
  readonly skipped: readonly SkippedUrl[];
  readonly notes: readonly CrawlNote[];
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
};

/** The name of an archive that is not complete yet. If a thread ends in the middle, its starter removes that file. */
export const partialFile = (destination: string): string => `${destination}.partial`;
