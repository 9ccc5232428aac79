// Why a site could not be crawled: one class with stable codes, each with a message for the reader of the job.
// Invariant: a crawl either yields the whole site within its limits or throws one of these; never half a site.

import { PublishableError } from '#platform/wire/publishable-error.ts';

export type CrawlErrorCode =
  | 'NoPages' // the origin answered, but with no page
  | 'HomePageMissing' // `/` is not a page
  | 'SiteIncomplete' // too many of the pages and files that its pages ask for are missing
  | 'AssetsNotCopied' // pages load files from other hosts, and not all could be copied
  | 'OriginUnreachable' // no request was answered
  | 'OriginInternal' // no administrator allowed this origin, which only this machine or cluster can see
  | 'OriginFailed' // it answered, and then the home page, a sitemap or addresses in a row kept failing
  | 'CrawlTimedOut' // the whole crawl took longer than its time limit
  | 'CrawlAborted' // the caller's signal
  | 'CrawlOutOfMemory' // its thread reached the limit of its heap
  | 'CrawlFailed' // its thread ended unexpectedly: a defect
  | 'TooManyPages' // more pages than the limit: often links without end
  | 'TooManyFiles'
  | 'TooManyLinks' // more addresses to visit than a site of that many files can have
  | 'TooManyBytes'
  | 'FileTooLarge'
  | 'TooDeep' // a chain of links longer than the limit: often links without end
  | 'SpoolFailed'; // the disk did not take or give back a body

export type CrawlError = PublishableError<CrawlErrorCode>;

const endless =
  'if the site has links without end (a calendar, a filter), unlink them or disallow them in robots.txt';

export function tooManyPages(maxPages: number, path: string): CrawlError {
  return new PublishableError(
    'TooManyPages',
    `more than ${maxPages} pages (--max-pages), the first above it at ${path}; nothing was exported; ` +
      `raise the limit, or ${endless}`,
  );
}

export function tooManyFiles(maxFiles: number): CrawlError {
  return new PublishableError(
    'TooManyFiles',
    `more than ${maxFiles} files (maxFiles); nothing was exported; unlink files that the export does not need`,
  );
}

export function tooManyLinks(count: number, path: string): CrawlError {
  return new PublishableError(
    'TooManyLinks',
    `more than ${count} addresses to visit, the last at ${path}; nothing was exported; ${endless}`,
  );
}

export function tooManyBytes(maxBytes: number): CrawlError {
  return new PublishableError(
    'TooManyBytes',
    `the site is larger than ${maxBytes} bytes (--max-bytes); nothing was exported; raise the limit`,
  );
}

export function tooDeep(maxDepth: number, path: string): CrawlError {
  return new PublishableError(
    'TooDeep',
    `${path} is more than ${maxDepth} links away from the home page (maxDepth); nothing was exported; ` +
      `list the pages in a sitemap, or ${endless}`,
  );
}

export function crawlTimedOut(domain: string, timeoutMs: number, cause?: unknown): CrawlError {
  return new PublishableError(
    'CrawlTimedOut',
    `the crawl of ${domain} was not finished after ${timeoutMs} ms (--crawl-timeout); nothing was exported; raise the limit or speed up the origin`,
    { cause },
  );
}
