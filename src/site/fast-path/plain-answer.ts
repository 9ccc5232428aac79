// Answers plain requests on the connection itself: the same plan as every other answer, in the same bytes as the full
// server would send, without its objects. A body that a thread has to read is waited for. Refuses what is for the full
// server: a file that is sent in pieces, memory that slow readers hold, a failing disk.
// Invariant: a client sees no difference between the two answers.

import { STATUS_CODES } from 'node:http';
import type { Clock } from '../../runtime/clock.ts';
import type { OpenConnectionHandler } from '../../runtime/http/http-listener.ts';
import { planReply, type Reply } from '../answer/reply.ts';
import { bodyAtOnce, type FileBody, type SiteServing } from '../answer/site-handler.ts';
import type { BodyPart } from '../content/body-cache.ts';
import { bundleOf, type SiteView } from '../content/live-site.ts';
import { readRequestPath } from '../http/request-path.ts';
import { type AnswerPlainly, type PlainTimes, plainConnections } from './plain-connections.ts';
import { readPlainRequest } from './plain-request.ts';

/** `--fast-path`: what `listenHttp` takes to answer plain requests before Node's HTTP server. */
export function fastPath(serving: SiteServing, times: PlainTimes): OpenConnectionHandler {
  return plainConnections({ answer: plainAnswerer(serving, times.idleMs), ...times });
}

/** @param keepAliveMs what the full server's `keepAliveTimeout` is */
export function plainAnswerer(serving: SiteServing, keepAliveMs: number): AnswerPlainly {
  const { clock } = serving;
  const dateLine = createDateLine(clock);
  const lastLines = `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(keepAliveMs / 1000)}\r\n\r\n`;
  return (piece, send) => {
    const beganMs = clock.monotonic();
    const sendReply: SendReply = ({ status, headers }, body) => {
      const bytes = typeof body === 'string' ? body : body.part;
      const held = typeof body === 'string' ? undefined : body.held;
      const isSent = send(headOf(status, headers) + dateLine() + lastLines, bytes, held);
      if (isSent) serving.countReply(status, bytes.length, clock.monotonic() - beganMs);
      return isSent;
    };
    return tryAnswer(serving, piece, sendReply);
  };
}

/** @returns false if nothing was sent */
type SendReply = (reply: Reply, body: string | BodyPart) => boolean;

/** Nothing was sent where this is false: an error here happens again in the full server, which logs it. */
function tryAnswer(serving: SiteServing, piece: Buffer, send: SendReply): boolean | Promise<boolean> {
  try {
    return answer(serving, piece, send);
  } catch {
    return false;
  }
}

function answer(serving: SiteServing, piece: Buffer, send: SendReply): boolean | Promise<boolean> {
  const request = readPlainRequest(piece);
  if (request === undefined) return false;
  const { site, basePath, always } = serving;
  const view = site.view();
  const path = readRequestPath(request.target, basePath);
  const reply = planReply(request, path, view, always);
  const { body } = reply;
  if (body.kind !== 'file') return send(reply, body.kind === 'text' ? body.text : '');
  const atOnce = bodyAtOnce(serving, view, body);
  if (atOnce !== undefined) return send(reply, atOnce);
  return isWorthWaiting(serving, body) && answerLater(serving, view, reply, body, send);
}

/** Takes the room for it. */
function isWorthWaiting(
  { cache, unread }: SiteServing,
  { variant, route, start, endExclusive }: FileBody,
): boolean {
  const { size } = variant ?? route.file;
  return size <= cache.maxEntryBytes && unread?.tryTake(endExclusive - start) !== false;
}

async function answerLater(
  { cache }: SiteServing,
  view: SiteView | undefined,
  reply: Reply,
  { route, variant, contentKey, start, endExclusive }: FileBody,
  send: SendReply,
): Promise<boolean> {
  const packed = variant ?? route.file;
  const bundle = bundleOf(view, route);
  bundle.hold();
  try {
    const pack = bundle.packOf(variant);
    const loaded = await cache.load(contentKey, packed.size, (into) => pack.readInto(packed, into));
    try {
      return send(reply, loaded.toSend(start, endExclusive));
    } finally {
      loaded.release();
    }
  } catch {
    return false;
  } finally {
    bundle.release();
  }
}

function headOf(status: number, headers: readonly string[]): string {
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`;
  for (let at = 0; at < headers.length; at += 2) head += `${headers[at]}: ${headers[at + 1]}\r\n`;
  return head;
}

/** Made once a second. */
function createDateLine({ now }: Pick<Clock, 'now'>): () => string {
  let second = Number.NaN;
  let line = '';
  return () => {
    const current = Math.floor(now() / 1000);
    if (current !== second) {
      second = current;
      line = `Date: ${new Date(current * 1000).toUTCString()}\r\n`;
    }
    return line;
  };
}
