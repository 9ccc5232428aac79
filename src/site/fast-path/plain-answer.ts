// Answers plain requests on the connection itself: the same plan as every other answer, in the same bytes as the full
// server would send, without its objects. Refuses what cannot be answered at once: a large file, a slow or failing disk.
// Invariant: a client sees no difference between the two answers.

import { STATUS_CODES } from 'node:http';
import type { Clock } from '../../runtime/clock.ts';
import type { OpenConnectionHandler } from '../../runtime/http/http-listener.ts';
import { planReply } from '../answer/reply.ts';
import { bodyAtOnce, type SiteServing } from '../answer/site-handler.ts';
import type { HeldBytes } from '../content/body-cache.ts';
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
    const answer = tryAnswer(serving, piece);
    if (answer === undefined) return false;
    const { status, headers, body, held } = answer;
    send(headOf(status, headers) + dateLine() + lastLines, body, held);
    serving.countReply(status, body.length, clock.monotonic() - beganMs);
    return true;
  };
}

interface PlainAnswer {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: string | Buffer;
  readonly held: HeldBytes | undefined;
}

/** Nothing was sent yet: an error here happens again in the full server, which logs it. */
function tryAnswer(serving: SiteServing, piece: Buffer): PlainAnswer | undefined {
  try {
    return answerTo(serving, piece);
  } catch {
    return undefined;
  }
}

/** @returns `undefined` where the full server has to answer */
function answerTo(serving: SiteServing, piece: Buffer): PlainAnswer | undefined {
  const request = readPlainRequest(piece);
  if (request === undefined) return undefined;
  const { site, basePath, always } = serving;
  const view = site.view();
  const path = readRequestPath(request.target, basePath);
  const { status, headers, body } = planReply(request, path, view, always);
  if (body.kind !== 'file') {
    return { status, headers, body: body.kind === 'text' ? body.text : '', held: undefined };
  }
  const atOnce = bodyAtOnce(serving, view, body);
  return atOnce && { status, headers, body: atOnce.part, held: atOnce.held };
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
