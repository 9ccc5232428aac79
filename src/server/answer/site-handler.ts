// The site port: reads a request's fields, plans the answer with `reply`, and sends the bytes.
// Pipeline: canonical path → one view of the site → plan → head and body, from memory or from the pack.
// Invariant: no request can end the process, and a body that cannot be read whole is never sent as if it were.

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Clock } from '#platform/runtime/clock.ts';
import { cutStalledReader, waitForReader } from '#platform/runtime/http/stalled-reader.ts';
import type { UnreadBytes } from '#platform/runtime/http/unread-bytes.ts';
import type { Logger } from '#platform/runtime/logger.ts';
import type { BodyCache, BodyPart } from '../content/body-cache.ts';
import type { LiveBundle } from '../content/live-bundle.ts';
import { bundleOf, type LiveSite } from '../content/live-site.ts';
import { createPieces } from '../content/pieces.ts';
import { isProvenInTime } from '../content/proven-file.ts';
import type { ReadPace } from '../content/read-pace.ts';
import type { FileRoute } from '../content/route-table.ts';
import { isHostWellFormed } from '../http/host-field.ts';
import { readRequestPath } from '../http/request-path.ts';
import { type AccessLog, logWhenDone } from './access-log.ts';
import { bodyAtOnce, type FileBody } from './body-at-once.ts';
import { plainReply, planReply, type Reply, type RequestFields, type SiteHeaders } from './reply.ts';
import { isUnmet, noteUnmetMessage, type UnmetServing } from './unmet-request.ts';

export interface SiteServing extends UnmetServing {
  readonly site: LiveSite;
  readonly cache: BodyCache;
  readonly pace: ReadPace;
  /** Headers of every answer. */
  readonly always: SiteHeaders;
  /** Called when an answer was written to the connection; `tookMs` since its request was read. */
  readonly countReply: (status: number, bodyBytes: number, tookMs: number) => void;
  /** A reader that takes nothing for this long is cut, because it keeps memory and an old bundle; default 60 s. */
  readonly stalledReaderMs?: number | undefined;
  /** Bounds what readers hold together; `undefined`: nothing does. */
  readonly unread?: UnreadBytes | undefined;
  /** `undefined`: requests are not logged. */
  readonly accessLog?: AccessLog | undefined;
  /** Whether the fast path leaves a request to the whole server, where agents are answered; `undefined`: none are. */
  readonly isForAgents?: ((target: string) => boolean) | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** One request on its way to an answer. */
interface Exchange {
  readonly serving: SiteServing;
  readonly response: ServerResponse;
  /** On the monotonic clock. */
  readonly beganMs: number;
}

const chunkBytes = 256 * 1024;
const pieces = createPieces(chunkBytes);
/** While readers hold much together. */
const smallChunkBytes = 64 * 1024;
export const defaultStalledReaderMs = 60_000;

export function siteHandler(serving: SiteServing): RequestListener {
  return (request, response) => {
    const exchange = { serving, response, beganMs: serving.clock.monotonic() };
    try {
      if (serving.accessLog !== undefined) logWhenDone(serving.accessLog, request, response, serving.clock);
      answer(exchange, request);
    } catch (error) {
      fail(exchange, error);
    }
  };
}

function answer(exchange: Exchange, request: IncomingMessage): void {
  const { serving } = exchange;
  const { site, always } = serving;
  const view = site.view();
  const reply =
    refusalOf(request, always) ??
    planReply(
      requestFieldsOf(request),
      readRequestPath(request.url ?? '', view?.basePath ?? ''),
      view,
      always,
    );
  const { body } = reply;
  if (body.kind === 'unread') {
    void answerOnceRead(exchange, request, bundleOf(view, body.route), body.route);
    return;
  }
  if (isUnmet(reply.status)) noteUnmetMessage(serving, reply.status, request);
  if (body.kind !== 'file') {
    sendText(exchange, reply);
    return;
  }
  const bundle = bundleOf(view, body.route);
  let atOnce: BodyPart | undefined;
  try {
    atOnce = bodyAtOnce(serving, view, body);
  } catch (error) {
    failToRead(exchange, bundle, error);
    return;
  }
  if (atOnce === undefined) sendFromPack(exchange, reply, body, bundle);
  else sendCached(exchange, reply, atOnce);
}

/** The type of a text depends on its first bytes, which are read once for each file. Never throws. */
async function answerOnceRead(
  exchange: Exchange,
  request: IncomingMessage,
  bundle: LiveBundle,
  route: FileRoute,
): Promise<void> {
  exchange.response.on('error', () => {});
  try {
    await bundle.readContentType(route);
  } catch (error) {
    failToRead(exchange, bundle, error);
    return;
  }
  try {
    if (!exchange.response.destroyed) answer(exchange, request);
  } catch (error) {
    fail(exchange, error);
  }
}

const last = ['Connection', 'close'];

/** Refusals that do not depend on the target. The rest of the connection is not trusted after them. */
function refusalOf(request: IncomingMessage, always: SiteHeaders): Reply | undefined {
  const { rawHeaders, httpVersion, headers } = request;
  if (!isHostWellFormed(rawHeaders, httpVersion !== '1.0')) {
    return plainReply(400, 'A request names one host.', always, last);
  }
  const { expect } = headers;
  return expect === undefined || expect.toLowerCase() === '100-continue'
    ? undefined
    : plainReply(417, 'This server meets no such expectation.', always, last);
}

function requestFieldsOf({ method = '', headers }: IncomingMessage): RequestFields {
  return {
    method,
    ifMatch: headers['if-match'],
    ifNoneMatch: headers['if-none-match'],
    ifRange: headers['if-range']?.toString(),
    ...{ range: headers.range, accept: headers.accept },
    acceptEncoding: headers['accept-encoding']?.toString(),
  };
}

/** The body stays as it is until the system has taken it, or the reader is gone. */
function sendCached(exchange: Exchange, reply: Reply, { part, held }: BodyPart): void {
  const { response } = exchange;
  sendWhole(exchange, reply, part);
  if (response.destroyed || response.socket?.writableLength === 0) return;
  held.hold();
  response.once('close', held.release);
}

function sendText(exchange: Exchange, reply: Reply): void {
  sendWhole(exchange, reply, reply.body.kind === 'text' ? reply.body.text : '');
}

const retryLater = (sentence: string, { always }: SiteServing): Reply =>
  plainReply(503, `${sentence} Try again soon.`, always, ['Retry-After', '5']);

function sendWhole(exchange: Exchange, reply: Reply, body: string | Buffer): void {
  const { response } = exchange;
  response.writeHead(reply.status, [...reply.headers]);
  end(exchange, body);
  count(exchange, reply.status, body.length);
}

/** The last of an answer. What the reader does not take is not kept for ever. */
function end({ response, serving }: Exchange, body: string | Buffer): void {
  response.end(body);
  cutStalledReader(response, stalledMsOf(serving), serving.clock);
}

const stalledMsOf = ({ stalledReaderMs = defaultStalledReaderMs }: SiteServing): number => stalledReaderMs;

function count({ serving, beganMs }: Exchange, status: number, bodyBytes: number): void {
  serving.countReply(status, bodyBytes, serving.clock.monotonic() - beganMs);
}

/** Holds the bundle for as long as its packs are needed. Never throws: what goes wrong is answered and logged. */
function sendFromPack(exchange: Exchange, reply: Reply, body: FileBody, bundle: LiveBundle): void {
  // Without a listener, an error of the connection would be one of the process.
  exchange.response.on('error', () => {});
  bundle.hold();
  const { size } = body.variant ?? body.route.file;
  const sent =
    size <= exchange.serving.cache.maxEntryBytes
      ? sendThroughCache(exchange, reply, body, bundle)
      : sendInPieces(exchange, reply, body, bundle);
  sent.catch((error: unknown) => failToRead(exchange, bundle, error)).finally(() => bundle.release());
}

async function sendThroughCache(
  exchange: Exchange,
  reply: Reply,
  body: FileBody,
  bundle: LiveBundle,
): Promise<void> {
  const { variant, route, contentKey } = body;
  const packed = variant ?? route.file;
  const pack = bundle.packOf(variant);
  await withRoom(exchange, body.endExclusive - body.start, async () => {
    const loaded = await exchange.serving.cache.load(contentKey, packed.size, (into) =>
      pack.readInto(packed, into),
    );
    try {
      sendCached(exchange, reply, loaded.toSend(body.start, body.endExclusive));
    } finally {
      loaded.release();
    }
  });
}

/** Reads and writes so many bytes when there is room. @returns false where there is none, as {@link isRoom} */
async function withRoom(exchange: Exchange, bytes: number, send: () => Promise<void>): Promise<boolean> {
  if (!(await isRoom(exchange, bytes))) return false;
  try {
    await send();
    return true;
  } finally {
    exchange.serving.unread?.settle(bytes);
  }
}

/** @returns false if the reader has left, or got a 503 because others hold all the memory */
async function isRoom(exchange: Exchange, bytes: number): Promise<boolean> {
  const { response, serving } = exchange;
  const { unread } = serving;
  while (unread !== undefined && !(await unread.take(bytes))) {
    if (response.destroyed) return false;
    if (response.headersSent) continue;
    sendText(exchange, retryLater('Too many slow readers hold this server.', serving));
    return false;
  }
  if (response.destroyed) unread?.settle(bytes);
  return !response.destroyed;
}

/** The head goes out after the first piece was read, so that a disk that fails is a 500 and no torn body. */
async function sendInPieces(
  exchange: Exchange,
  reply: Reply,
  { route, variant, start, endExclusive }: FileBody,
  bundle: LiveBundle,
): Promise<void> {
  const { response, serving } = exchange;
  const pack = bundle.packOf(variant);
  if (!(await isProvenInTime(pack, variant ?? route.file, serving.clock, response))) {
    if (!response.destroyed) sendText(exchange, retryLater('This file is still being checked.', serving));
    return;
  }
  let at = start;
  try {
    while (at < endExclusive && !response.destroyed) {
      const longest = serving.unread?.isScarce() === true ? smallChunkBytes : chunkBytes;
      const pieceEnd = Math.min(at + longest, endExclusive);
      let isTaken = true;
      const isSent = await withRoom(exchange, pieceEnd - at, async () => {
        await pieces.read(
          pack,
          variant ?? route.file,
          { start: at, endExclusive: pieceEnd },
          (piece, done) => {
            if (response.destroyed) {
              done();
              return;
            }
            if (at === start) response.writeHead(reply.status, [...reply.headers]);
            isTaken = response.write(piece, (error) => {
              if (error === undefined || error === null) done();
            });
            at = pieceEnd;
          },
        );
      });
      if (!isSent) break;
      if (!isTaken) await waitForReader(response, stalledMsOf(serving), serving.clock);
    }
    if (!response.destroyed && at >= endExclusive) end(exchange, '');
  } finally {
    // What left with its reader was not sent; before the head there was no answer.
    const unsent = response.destroyed ? response.writableLength : 0;
    if (at > start) count(exchange, reply.status, Math.max(0, at - start - unsent));
  }
}

/** Reported once per bundle: the source watch then obtains it again, and until then every page may fail like this. */
function failToRead(exchange: Exchange, bundle: LiveBundle, error: unknown): void {
  const { logger } = exchange.serving;
  const fields = { error, code: 'StoreUnreadable', digest: bundle.digest };
  if (bundle.reportUnreadable()) {
    logger.error(fields, 'cannot read a file of the served bundle; check the volume of its store');
  } else {
    logger.debug(fields, 'could not read a file from the store');
  }
  refuse(exchange);
}

function fail(exchange: Exchange, error: unknown): void {
  exchange.serving.logger.error({ error }, 'could not answer a request');
  refuse(exchange);
}

function refuse(exchange: Exchange): void {
  const { response, serving } = exchange;
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  try {
    sendText(exchange, plainReply(500, 'This page cannot be read right now.', serving.always));
  } catch {
    response.destroy();
  }
}
