// Answers plain requests on the connection itself: the same plan as every other answer, in the same bytes as the full
// server would send, without its objects. A body that a thread has to read is waited for. Refuses what is for the full
// server: a file that is sent in pieces, memory that slow readers hold, a failing disk.
// Invariant: a client sees no difference between the two answers.

import { STATUS_CODES } from 'node:http';
import type { Clock } from '#platform/runtime/clock.ts';
import type { OpenConnectionHandler } from '#platform/runtime/http/http-listener.ts';
import { bodyAtOnce, type FileBody } from '../answer/body-at-once.ts';
import { planReply, type Reply } from '../answer/reply.ts';
import type { SiteServing } from '../answer/site-handler.ts';
import { isUnmet, noteUnmet } from '../answer/unmet-request.ts';
import type { BodyPart } from '../content/body-cache.ts';
import type { LiveBundle } from '../content/live-bundle.ts';
import { bundleOf, type SiteView } from '../content/live-site.ts';
import type { FileRoute } from '../content/route-table.ts';
import { readRequestPath } from '../http/request-path.ts';
import { createKnownAnswers, type KnownAnswer, type KnownAnswers } from './known-answers.ts';
import { type AnswerPlainly, type PlainTimes, plainConnections } from './plain-connections.ts';
import { longestPlainHead, type PlainRequest, readPlainRequest } from './plain-request.ts';

/** `--fast-path`: what `listenHttp` takes to answer plain requests before Node's HTTP server. */
export function fastPath(serving: SiteServing, times: PlainTimes): OpenConnectionHandler {
  return (full, clock) =>
    plainConnections({ answer: plainAnswerer(serving, full.idleMs), ...times })(full, clock);
}

/** @param idleMs what the full server's `keepAliveTimeout` is */
export function plainAnswerer(serving: SiteServing, idleMs: () => number): AnswerPlainly {
  const { clock } = serving;
  const known = createKnownAnswers();
  const lastFields = createLastFields(clock, idleMs);
  return (piece, send) => {
    const beganMs = clock.monotonic();
    const sendReply: SendReply = (status, head, body) => {
      const bytes = typeof body === 'string' ? body : body.part;
      const held = typeof body === 'string' ? undefined : body.held;
      const isSent = send(head, lastFields(), bytes, held);
      if (isSent) serving.countReply(status, bytes.length, clock.monotonic() - beganMs);
      return isSent;
    };
    return tryAnswer(serving, known, piece, sendReply);
  };
}

/** @param head without its last fields. @returns false if nothing was sent */
type SendReply = (status: number, head: string, body: string | BodyPart) => boolean;

/** Nothing was sent where this is false: an error here happens again in the full server, which logs it. */
function tryAnswer(
  serving: SiteServing,
  known: KnownAnswers,
  piece: Buffer,
  send: SendReply,
): boolean | Promise<boolean> {
  try {
    return answer(serving, known, piece, send);
  } catch {
    return false;
  }
}

function answer(
  serving: SiteServing,
  known: KnownAnswers,
  piece: Buffer,
  send: SendReply,
): boolean | Promise<boolean> {
  if (piece.length > longestPlainHead) return false;
  const text = piece.toString('latin1');
  const view = serving.site.view();
  const former = known.find(text, view);
  if (former !== undefined) return sendFile(serving, view, 200, former, send);
  const request = readPlainRequest(text);
  if (request === undefined || serving.isForAgents?.(request.target) === true) return false;
  const path = readRequestPath(request.target, view?.basePath ?? '');
  const reply = planReply(request, path, view, serving.always);
  const { status, body } = reply;
  if (body.kind === 'unread') {
    return answerOnceRead(bundleOf(view, body.route), body.route, () =>
      tryAnswer(serving, known, piece, send),
    );
  }
  const head = headOf(reply);
  const sendNoted = isUnmet(status) ? notingUnmet(serving, text, request, send) : send;
  if (body.kind !== 'file') return sendNoted(status, head, body.kind === 'text' ? body.text : '');
  if (status === 200) known.remember(text, request, { head, body });
  return sendFile(serving, view, status, { head, body }, sendNoted);
}

/** Notes once the answer is sent: otherwise the full server answers, and notes it. */
function notingUnmet(
  serving: SiteServing,
  text: string,
  { method, target }: PlainRequest,
  send: SendReply,
): SendReply {
  return (status, head, body) => {
    const isSent = send(status, head, body);
    if (isSent) noteUnmet(serving, status, { method, target, fetchSite: () => fetchSiteIn(text) });
    return isSent;
  };
}

/** Of a request that was read strictly. Several fields are joined, as Node does it. */
function fetchSiteIn(text: string): string | undefined {
  const values = [...text.matchAll(/\r\nsec-fetch-site:([^\r]*)/gi)].map(([, value = '']) => value.trim());
  return values.length === 0 ? undefined : values.join(', ');
}

/** A disk that fails here fails again in the full server, which logs it. */
async function answerOnceRead(
  bundle: LiveBundle,
  route: FileRoute,
  again: () => boolean | Promise<boolean>,
): Promise<boolean> {
  try {
    await bundle.readContentType(route);
  } catch {
    return false;
  }
  return again();
}

function sendFile(
  serving: SiteServing,
  view: SiteView | undefined,
  status: number,
  { head, body }: KnownAnswer,
  send: SendReply,
): boolean | Promise<boolean> {
  const atOnce = bodyAtOnce(serving, view, body);
  if (atOnce !== undefined) return send(status, head, atOnce);
  if (!isWorthWaiting(serving, body)) return false;
  return answerLater(serving, view, body, (loaded) => send(status, head, loaded));
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
  { route, variant, contentKey, start, endExclusive }: FileBody,
  send: (body: BodyPart) => boolean,
): Promise<boolean> {
  const packed = variant ?? route.file;
  const bundle = bundleOf(view, route);
  bundle.hold();
  try {
    const pack = bundle.packOf(variant);
    const loaded = await cache.load(contentKey, packed.size, (into) => pack.readInto(packed, into));
    try {
      return send(loaded.toSend(start, endExclusive));
    } finally {
      loaded.release();
    }
  } catch {
    return false;
  } finally {
    bundle.release();
  }
}

/** All but the last fields. */
function headOf({ status, headers }: Reply): string {
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`;
  for (let at = 0; at < headers.length; at += 2) head += `${headers[at]}: ${headers[at + 1]}\r\n`;
  return head;
}

/** Fields that every answer ends with. Made once a second. */
function createLastFields({ now }: Pick<Clock, 'now'>, idleMs: () => number): () => string {
  let second = Number.NaN;
  let fields = '';
  return () => {
    const current = Math.floor(now() / 1000);
    if (current !== second) {
      second = current;
      const connection = `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(idleMs() / 1000)}`;
      fields = `Date: ${new Date(current * 1000).toUTCString()}\r\n${connection}\r\n\r\n`;
    }
    return fields;
  };
}
