// A listing of conversations over HTTP that a test scripts: its rows, and what it answers instead of a page.

import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { declareSecret } from '../../../support/secret-watch.ts';

export const key = 'svc_integration_conversations_key';

export interface SentRow {
  readonly id: string;
  readonly timestamp: string;
  readonly [name: string]: unknown;
}

export interface ScriptedAnswer {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ScriptedListing {
  readonly url: string;
  rows: readonly SentRow[];
  pageSize: number;
  /** Before each answer; may wait. @returns what is answered instead of the page */
  before: (request: number, query: URLSearchParams) => Promise<ScriptedAnswer | undefined>;
  requests: number;
  close(): Promise<void>;
}

export const rowAt = (at: number, index: number, more: Readonly<Record<string, unknown>> = {}): SentRow => ({
  id: `c${Math.floor(index / 2)}`,
  timestamp: new Date(at).toISOString(),
  query: `question ${index}`,
  response: `answer ${index}`,
  sources: [{ title: 'Start', url: 'https://docs.example.com/start' }],
  queryCategory: null,
  pageUrl: null,
  ...more,
});

export async function startListing(rows: readonly SentRow[]): Promise<ScriptedListing> {
  declareSecret('the key', key);
  const server = createServer((request, response) => {
    answer(request).then(
      ({ status, body, headers }) =>
        response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body),
      () => response.destroy(),
    );
  });
  const answer = async (request: IncomingMessage): Promise<ScriptedAnswer> => {
    const url = new URL(request.url ?? '/', 'http://listing');
    listing.requests += 1;
    const instead = await listing.before(listing.requests, url.searchParams);
    if (instead !== undefined) return instead;
    if (request.headers.authorization !== `Bearer ${key}`) return { status: 401, body: '{"error":"no"}' };
    return { status: 200, body: JSON.stringify(pageOf(url.searchParams)) };
  };
  const pageOf = (query: URLSearchParams): object => {
    const from = Date.parse(query.get('dateFrom') ?? '1970-01-01');
    const until = Date.parse(query.get('dateTo') ?? '9999-01-01');
    const isInside = ({ timestamp }: SentRow): boolean => {
      const at = Date.parse(timestamp);
      return Number.isNaN(at) || (at >= from && at < until);
    };
    // The newest first, unlike this project's own service.
    const found = listing.rows.filter(isInside).toReversed();
    const start = Number(query.get('cursor') ?? 0);
    const end = start + Math.min(listing.pageSize, Number(query.get('limit') ?? 100));
    const hasMore = end < found.length;
    return { conversations: found.slice(start, end), nextCursor: hasMore ? String(end) : null, hasMore };
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const listing: ScriptedListing = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    rows,
    pageSize: 1000,
    before: async () => undefined,
    requests: 0,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return listing;
}
