// The site port: reads a request's facts, lets `reply` plan the answer, and sends the bytes.
// Pipeline: canonical path → one view of the site → plan → head and body, from memory or from the pack.
// Invariant: no request can end the process, and a body that cannot be read whole is never sent as if it were.

import type { RequestListener, ServerResponse } from 'node:http';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';
import type { BodyCache } from './body-cache.ts';
import type { LiveBundle } from './live-bundle.ts';
import type { LiveSite } from './live-site.ts';
import { plainReply, planReply, type Reply, type ReplyBody, type SiteHeaders } from './reply.ts';
import { readRequestPath } from './request-path.ts';

export interface SiteServing {
  readonly site: LiveSite;
  readonly cache: BodyCache;
  /** Decoded, without trailing slash; empty for none. */
  readonly basePath: string;
  /** Headers of every answer. */
  readonly always: SiteHeaders;
  readonly countReply: (status: number, bodyBytes: number) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

type FileBody = Extract<ReplyBody, { kind: 'file' }>;

const chunkBytes = 256 * 1024;
/** A reader that takes nothing for this long is let go, because it keeps an old bundle open. */
const stalledReaderMs = 60_000;

export function siteHandler(serving: SiteServing): RequestListener {
  return (request, response) => {
    try {
      const { headers } = request;
      const view = serving.site.view();
      const reply = planReply(
        {
          method: request.method ?? '',
          ifMatch: headers['if-match'],
          ifNoneMatch: headers['if-none-match'],
          range: headers.range,
          ifRange: headers['if-range']?.toString(),
        },
        readRequestPath(request.url ?? '', serving.basePath),
        view,
        serving.always,
      );
      if (reply.body.kind !== 'file') {
        sendWhole(serving, response, reply, reply.body.kind === 'text' ? reply.body.text : '');
        return;
      }
      const { body } = reply;
      const cached = serving.cache.get(body.route.file.sha256);
      if (cached !== undefined) {
        sendWhole(serving, response, reply, cached.subarray(body.start, body.endExclusive));
        return;
      }
      const bundle = view?.bundleOf(body.route);
      if (bundle === undefined) throw new Error('a route of this view has no bundle');
      sendFromPack(serving, response, reply, body, bundle);
    } catch (error) {
      fail(serving, response, error);
    }
  };
}

function sendWhole(
  serving: SiteServing,
  response: ServerResponse,
  reply: Reply,
  body: string | Buffer,
): void {
  serving.countReply(reply.status, body.length);
  response.writeHead(reply.status, [...reply.headers]);
  response.end(body);
}

/** Holds the bundle for as long as its pack is needed. Never throws: what goes wrong is answered and logged. */
function sendFromPack(
  serving: SiteServing,
  response: ServerResponse,
  reply: Reply,
  body: FileBody,
  bundle: LiveBundle,
): void {
  // Without a listener, an error of the connection would be one of the process.
  response.on('error', () => {});
  bundle.hold();
  const isSmall = body.route.file.size <= serving.cache.maxEntryBytes;
  const sent = isSmall
    ? sendThroughCache(serving, response, reply, body, bundle)
    : sendInPieces(serving, response, reply, body, bundle);
  sent.catch((error: unknown) => fail(serving, response, error)).finally(() => bundle.release());
}

async function sendThroughCache(
  serving: SiteServing,
  response: ServerResponse,
  reply: Reply,
  { route, start, endExclusive }: FileBody,
  bundle: LiveBundle,
): Promise<void> {
  const { file } = route;
  const whole = await serving.cache.load(file.sha256, () => bundle.stored.read(file));
  sendWhole(serving, response, reply, whole.subarray(start, endExclusive));
}

/** The head goes out after the first piece was read, so that a disk that fails is a 500 and no torn body. */
async function sendInPieces(
  serving: SiteServing,
  response: ServerResponse,
  reply: Reply,
  { route, start, endExclusive }: FileBody,
  bundle: LiveBundle,
): Promise<void> {
  for (let at = start; at < endExclusive; ) {
    const piece = await bundle.stored.readRange(route.file, at, Math.min(at + chunkBytes, endExclusive));
    if (at === start) {
      serving.countReply(reply.status, endExclusive - start);
      response.writeHead(reply.status, [...reply.headers]);
    }
    if (response.destroyed) return;
    if (!response.write(piece)) await waitForReader(response, serving.clock);
    at += piece.length;
  }
  response.end();
}

/** Resolves when the reader has taken what was written, or is gone. */
async function waitForReader(response: ServerResponse, clock: Clock): Promise<void> {
  const moved = new AbortController();
  const wake = (): void => moved.abort();
  response.once('drain', wake).once('close', wake);
  const stalled = await clock.after(stalledReaderMs, moved.signal).then(
    () => true,
    () => false,
  );
  response.off('drain', wake).off('close', wake);
  if (stalled) response.destroy();
}

function fail(serving: SiteServing, response: ServerResponse, error: unknown): void {
  serving.logger.error({ error }, 'a request could not be answered');
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  try {
    const reply = plainReply(500, 'This page cannot be read right now.', serving.always);
    sendWhole(serving, response, reply, reply.body.kind === 'text' ? reply.body.text : '');
  } catch {
    response.destroy();
  }
}
