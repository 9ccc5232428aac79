// Calls of agents on the site port: who may call, how often, how long a body may be; the thread answers. Stands before the handler of
// the site and takes only its own addresses. Refuses sessions: each call stands alone, so any server of the site answers any of them.
// Invariant: nothing of a body is parsed here, and no call is handed on whose `Host` or `Origin` is not the site's.

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Clock } from '#platform/runtime/clock.ts';
import { cutStalledReader } from '#platform/runtime/http/stalled-reader.ts';
import type { UnreadBytes } from '#platform/runtime/http/unread-bytes.ts';
import type { Logger } from '#platform/runtime/logger.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { type AccessLog, logWhenDone } from '../answer/access-log.ts';
import { plainReply, type Reply, type SiteHeaders } from '../answer/reply.ts';
import { defaultStalledReaderMs } from '../answer/site-handler.ts';
import type { LiveSite, SiteView } from '../content/live-site.ts';
import { isHostWellFormed } from '../http/host-field.ts';
import { readRequestPath } from '../http/request-path.ts';
import type { AgentCounts } from './agent-counts.ts';
import type { ReadCallBody } from './call-body.ts';
import type { CallRate } from './call-rate.ts';
import { findMcpPlace, type McpPlace } from './mcp-places.ts';
import { callRefusal, callReply } from './mcp-replies.ts';
import type { AgentCall } from './mcp-task.ts';
import type { McpThread } from './mcp-thread.ts';
import type { TokenCheck } from './mcp-token.ts';
import { findOwnHost, isOwnOrigin, type OwnHost } from './own-hosts.ts';
import { aiCatalog, type CardContext, serverCard, serverNameOf } from './server-cards.ts';

export interface McpPortOptions {
  readonly hosts: readonly OwnHost[];
  /** `undefined`: every caller may call. */
  readonly token: TokenCheck | undefined;
  readonly rate: CallRate;
  readonly readBody: ReadCallBody;
  readonly thread: Pick<McpThread, 'call'>;
  readonly site: Pick<LiveSite, 'view'>;
  readonly always: SiteHeaders;
  readonly unread: UnreadBytes;
  readonly countReply: (status: number, bodyBytes: number, tookMs: number) => void;
  readonly counts: Pick<AgentCounts, 'countRequest' | 'countCalls'>;
  readonly accessLog: AccessLog | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface McpPort {
  /** Whether the fast path leaves a request to the whole server. @param target as received */
  isForAgents(target: string): boolean;
  /** The handler of the site, with agents before it. */
  before(handler: RequestListener): RequestListener;
}

export function createMcpPort(options: McpPortOptions): McpPort {
  const { site } = options;
  const placeOf = (target: string): McpPlace | undefined =>
    mayBePlace(target) ? findMcpPlace(target, site.view()?.basePath ?? '') : undefined;
  return {
    isForAgents: (target) => placeOf(target) !== undefined,
    before: (handler) => (request, response) => {
      const place = placeOf(request.url ?? '');
      const view = site.view();
      if (place === undefined || isOfSite(request, place, view)) handler(request, response);
      else void answer(options, { request, response, place, view });
    },
  };
}

/** Before anything is decoded, because every request of a site comes by here. */
const mayBePlace = (target: string): boolean => /mcp|ai-catalog|%/i.test(target);

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly place: McpPlace;
  readonly view: SiteView | undefined;
}

const isRead = (method: string | undefined): boolean => method === 'GET' || method === 'HEAD';

/** What a site has at these addresses its readers get: `/mcp` is a usual name of a page. An agent asks for a stream of events there. */
function isOfSite(
  { method, url = '', headers }: IncomingMessage,
  place: McpPlace,
  view: SiteView | undefined,
): boolean {
  if (!isRead(method)) return place !== 'endpoint';
  if (place === 'endpoint' && headers.accept?.includes('text/event-stream') === true) return false;
  const read = readRequestPath(url, view?.basePath ?? '');
  return read.outcome === 'path' && view?.find(read.path) !== undefined;
}

/** Never throws. */
async function answer(options: McpPortOptions, exchange: Exchange): Promise<void> {
  const { clock, logger, accessLog } = options;
  const { request, response } = exchange;
  const beganMs = clock.monotonic();
  // Without a listener, an error of the connection would be one of the process.
  response.on('error', () => {});
  try {
    if (accessLog !== undefined) logWhenDone(accessLog, request, response, clock);
    await send(options, exchange, await replyTo(options, exchange), beganMs);
  } catch (error) {
    logger.error({ error }, 'could not answer an agent');
    response.destroy();
  }
}

async function replyTo(options: McpPortOptions, exchange: Exchange): Promise<Reply> {
  const { hosts, always } = options;
  const { request, place } = exchange;
  const { headers, rawHeaders, httpVersion, method } = request;
  const { host = '' } = headers;
  if (!isHostWellFormed(rawHeaders, httpVersion !== '1.0'))
    return callRefusal(400, 'A request names one host.', always);
  const own = findOwnHost(hosts, host);
  if (own === undefined) {
    return callRefusal(403, `This name is not one of the site's names for agents. ${addName}`, always);
  }
  if (place !== 'endpoint') return cardReply(options, exchange, { own, host });
  if (!isOwnOrigin(hosts, headers.origin)) {
    return callRefusal(403, `The origin of this call is not one of the site's names. ${addName}`, always);
  }
  if (method !== 'POST') {
    return callRefusal(405, 'Calls are sent by POST; this server has no sessions and no streams.', always, [
      'Allow',
      'POST',
    ]);
  }
  return replyToCall(options, exchange, host);
}

async function replyToCall(
  options: McpPortOptions,
  { request, response, view }: Exchange,
  host: string,
): Promise<Reply> {
  const { hosts, token, rate, readBody, thread, site, always, counts } = options;
  const { authorization } = request.headers;
  if (token !== undefined && !(await token.isValid(authorization))) {
    const error = authorization === undefined ? '' : ', error="invalid_token"';
    return callRefusal(401, 'Send the token of this site as a bearer.', always, [
      ...['WWW-Authenticate', `Bearer realm="documentation"${error}`],
    ]);
  }
  const waitMs = rate.take();
  if (waitMs !== undefined) return tryLater(429, tooOften(waitMs), always, waitMs);
  const body = await readBody(request, response);
  if (!('bytes' in body)) return callRefusal(body.status, body.sentence, always);
  const gone = new AbortController();
  const leave = (): void => gone.abort('gone');
  response.once('close', leave);
  try {
    const bytes = body.bytes;
    const callOf = (digest: string): AgentCall => ({
      headers: passedHeaders(request.rawHeaders),
      body: bytes,
      ...{ host, hosts, serverName: serverNameOf(host), basePath: view?.basePath ?? '' },
      version: versionOf(site.view(), digest),
    });
    const reply = await thread.call(callOf, gone.signal);
    // Only the thread reads bodies: how many calls one holds is known with its answer.
    rate.owe(Math.max(0, (reply.calls ?? 0) - 1));
    counts.countCalls(reply.counted ?? []);
    return callReply(reply, always);
  } catch (error) {
    if (!(error instanceof PublishableError)) throw error;
    return tryLater(error.code === 'McpBusy' ? 429 : 503, error.message, always, 1000);
  } finally {
    response.off('close', leave);
  }
}

/** Under which that content was published. */
function versionOf(view: SiteView | undefined, digest: string): string | undefined {
  const served = view === undefined ? [] : [view.active, ...view.previous];
  return served.find(({ bundle }) => bundle.digest === digest)?.version;
}

const addName = 'Add the name to --mcp-hosts, or to server.mcp.hosts of the chart.';
const tooOften = (waitMs: number): string =>
  `Agents call this server more often than --mcp-rate allows. Call again in ${Math.ceil(waitMs / 1000)} s, or raise server.mcp.callsPerMinute of the chart.`;

const tryLater = (status: number, sentence: string, always: SiteHeaders, waitMs: number): Reply =>
  callRefusal(status, sentence, always, ['Retry-After', `${Math.ceil(waitMs / 1000)}`]);

/** Those that the protocol defines, and the two about the body: nothing else of a request reaches the library. */
function passedHeaders(rawHeaders: readonly string[]): readonly string[] {
  const passed: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]?.toLowerCase() ?? '';
    const value = rawHeaders[at + 1] ?? '';
    const isPassed = name === 'content-type' || name === 'accept' || /^mcp-[a-z0-9-]{1,60}$/.test(name);
    if (isPassed && passed.length < 64 && /^[\t\x20-\x7e]{0,1024}$/.test(value)) passed.push(name, value);
  }
  return passed;
}

function cardReply(
  { token, always }: McpPortOptions,
  { request, place, view }: Exchange,
  named: Pick<CardContext, 'own' | 'host'>,
): Reply {
  const context = { ...named, basePath: view?.basePath ?? '', needsToken: token !== undefined };
  const card = place === 'card' ? serverCard(context) : aiCatalog(context);
  const isKnown = request.headers['if-none-match']?.includes(card.entityTag) === true;
  const shared = [
    ...['ETag', card.entityTag, 'Cache-Control', 'public, max-age=3600', 'Vary', 'Host'],
    ...['Access-Control-Allow-Origin', '*', 'Access-Control-Expose-Headers', 'ETag'],
    ...always,
  ];
  if (isKnown) return { status: 304, headers: shared, body: { kind: 'none' } };
  const length = ['Content-Type', card.contentType, 'Content-Length', `${Buffer.byteLength(card.text)}`];
  const body =
    request.method === 'HEAD' ? ({ kind: 'none' } as const) : ({ kind: 'text', text: card.text } as const);
  return { status: 200, headers: [...length, ...shared], body };
}

async function send(
  { unread, always, countReply, counts, clock }: McpPortOptions,
  { response, place }: Exchange,
  reply: Reply,
  beganMs: number,
): Promise<void> {
  const bytes = Buffer.from(reply.body.kind === 'text' ? reply.body.text : '');
  if (response.destroyed) return;
  const hasRoom = await unread.take(bytes.length);
  try {
    if (response.destroyed) return;
    const sent = hasRoom
      ? reply
      : plainReply(503, 'Too many slow readers hold this server. Try again soon.', always);
    response.writeHead(sent.status, [...sent.headers]);
    response.end(hasRoom ? bytes : sent.body.kind === 'text' ? sent.body.text : '');
    cutStalledReader(response, defaultStalledReaderMs, clock);
    countReply(sent.status, bytes.length, clock.monotonic() - beganMs);
    if (place === 'endpoint') counts.countRequest(sent.status);
  } finally {
    if (hasRoom) unread.settle(bytes.length);
  }
}
