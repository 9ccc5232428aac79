// A web server on loopback for one test, which answers from a table, and a crawl of it with small limits. It records the
// requests.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { TestContext } from 'node:test';
import {
  type CrawlLimits,
  type CrawlProgress,
  type CrawlRequest,
  type CrawlResult,
  defaultCrawlLimits,
} from '#export-service/crawler/contract.ts';
import { crawlSite } from '#export-service/crawler/crawl.ts';
import type { Clock } from '#platform/runtime/clock.ts';
import { type Logger, silentLogger } from '#platform/runtime/logger.ts';
import { domain, type Served } from '../../../fixtures/sites/trap-site.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { steppingClock } from './stepping-clock.ts';

export interface SiteServer {
  /** With trailing slash. */
  readonly origin: URL;
  /** Path and query of every request, in order of arrival. */
  readonly requests: string[];
}

/** May also answer by itself, through the response. */
export type Answering = (
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
) => Served | undefined | Promise<Served | undefined>;

/** Answers 404 where `answer` says nothing, and takes the response for handled once its headers are sent. */
export async function serveSite(t: TestContext, answer: Answering): Promise<SiteServer> {
  const requests: string[] = [];
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = request.url ?? '';
    requests.push(path);
    const served = await answer(path, request, response);
    if (response.headersSent || response.destroyed) return;
    const { status = 200, headers = {}, body = '' } = served ?? { status: 404, body: 'not found' };
    response.writeHead(status, headers).end(body);
  };
  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { origin: new URL(`http://127.0.0.1:${port}/`), requests };
}

/** A site of HTML pages, path → body. */
export function pages(bodies: Readonly<Record<string, string>>): (path: string) => Served | undefined {
  return (path) => {
    const body = bodies[path];
    return body === undefined ? undefined : { headers: { 'content-type': 'text/html' }, body };
  };
}

export interface CrawlOptions {
  readonly limits?: Partial<CrawlLimits>;
  readonly request?: Partial<CrawlRequest>;
  readonly clock?: Clock;
  readonly logger?: Logger;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: CrawlProgress) => void;
}

export async function crawl(t: TestContext, origin: URL, options: CrawlOptions = {}): Promise<CrawlResult> {
  const spoolDirectory = temporaryFolder(t);
  // Other hosts are asked only where a test has one.
  const assets = { allowedHosts: ['*'], allowsPrivate: false };
  const limits = { ...defaultCrawlLimits, maxPages: 200, assets, ...options.limits };
  return crawlSite(
    { domain, origin, isOriginConsented: true, spoolDirectory, limits, ...options.request },
    {
      clock: options.clock ?? steppingClock(),
      logger: options.logger ?? silentLogger,
      onProgress: options.onProgress ?? (() => {}),
      signal: options.signal ?? new AbortController().signal,
    },
  );
}

/** Path → text of every file of a result. */
export async function textsOf({ files }: CrawlResult): Promise<Readonly<Record<string, string>>> {
  const entries = await Promise.all(
    files.map(
      async (file) => [file.path, Buffer.concat(await Array.fromAsync(file.read())).toString()] as const,
    ),
  );
  return Object.fromEntries(entries);
}
