// Two site ports over one site: one answers plain requests on the connection itself, the other one gives every request
// to the full server. Owns the comparison: the same bytes go to both, and the answers must be equal. One exception:
// a client whose connection was reset may have lost the end of its answers, so there the shorter text must be the
// beginning of the longer one.

import { channel } from 'node:diagnostics_channel';
import { connect, Socket } from 'node:net';
import { z } from 'zod';
import { systemClock } from '#platform/runtime/clock.ts';
import { type HttpListener, keepAliveMs, listenHttp } from '#platform/runtime/http/http-listener.ts';
import { silentLogger } from '#platform/runtime/logger.ts';
import { siteHeaders } from '#server/answer/reply.ts';
import { siteHandler } from '#server/answer/site-handler.ts';
import { siteServerOptions } from '#server/bundle-server.ts';
import { createBodyCache } from '#server/content/body-cache.ts';
import { goLive } from '#server/content/live-bundle.ts';
import { createLiveSite } from '#server/content/live-site.ts';
import { createReadPace, type ReadPace } from '#server/content/read-pace.ts';
import { plainAnswerer } from '#server/fast-path/plain-answer.ts';
import { type AnswerPlainly, plainConnections } from '#server/fast-path/plain-connections.ts';
import { createSiteInsights } from '#server/insights/site-insights.ts';
import * as fc from '../support/properties.ts';
import { markdownExtension, storedBundle } from '../unit/server/fixtures.ts';
import { requestBytes, requestText } from '../unit/server/request-bytes.ts';

const local = { host: '127.0.0.1', port: 0 };
const closing = { lingerMs: 0, graceMs: 1000 };

const text = 'a page that is worth encoding. '.repeat(40);
const stored = storedBundle({
  'page.html': text,
  'page.md': '# a page\n',
  'a b.html': 'spaced',
  'digits.bin': '0123456789',
  'large.bin': 'x'.repeat(3 * 1024 * 1024),
  'middle.bin': 'y'.repeat(100 * 1024),
  'waited.bin': 'z'.repeat(300 * 1024),
  'folder/index.html': 'in a folder',
  'hash.0123abcd.js': 'hashed',
  '404.html': `nothing here. ${text}`,
  'index.html': 'home',
});

const compressedPage = 'variant by brotli, or so it seems';

export interface Side {
  readonly listener: HttpListener;
  /** Statuses and body sizes, as the metrics count them, and what readers did not find. */
  readonly counted: string[];
  readonly answeredPlainly: () => number;
}

async function serve(isPlain: boolean, pace: ReadPace): Promise<Side> {
  const site = createLiveSite(2);
  const bundle = goLive(stored);
  const variant = storedBundle({ 'page.html': compressedPage });
  bundle.extend(markdownExtension(stored));
  const ordinal = stored.index.files.findIndex(({ path }) => path === 'page.html');
  const form = { offset: 0, size: compressedPage.length, tag: '"coded"' };
  const find = (at: number, encoding: string) => (at === ordinal && encoding === 'br' ? form : undefined);
  bundle.attach({ find, counts: { br: 1, gzip: 0 }, sizeBytes: form.size }, variant);
  site.swap({ bundle, version: 'v1', activatedAt: 0, provenance: 'disk' });
  const counted: string[] = [];
  const serving = {
    site,
    cache: createBodyCache(4 * 1024 * 1024),
    pace,
    always: siteHeaders('Cloud'),
    countReply: (status: number, bytes: number) => counted.push(`${status} ${bytes}`),
    insights: {
      ...createSiteInsights(systemClock),
      noteMissingAddress: (target: string) => void counted.push(`missing ${target}`),
      noteEmptySearch: (target: string, fetchSite: string | undefined) =>
        void counted.push(`search ${target} ${fetchSite}`),
    },
    clock: systemClock,
    logger: silentLogger,
  };
  let plainly = 0;
  const answerPlainly = plainAnswerer(serving, () => keepAliveMs);
  const answer: AnswerPlainly = (piece, send) => {
    const answered = answerPlainly(piece, send);
    const count = (isAnswered: boolean): boolean => {
      if (isAnswered) plainly += 1;
      return isAnswered;
    };
    return typeof answered === 'boolean' ? count(answered) : answered.then(count);
  };
  const times = { stalledMs: 60_000 };
  const listener = await listenHttp(local, siteHandler(serving), systemClock, siteServerOptions, {
    first: isPlain ? plainConnections({ answer, ...times }) : undefined,
    readOnlyMethods: 'GET, HEAD',
  });
  return { listener, counted, answeredPlainly: () => plainly };
}

export interface TwinPorts {
  readonly full: Side;
  readonly quick: Side;
  close(): Promise<void>;
}

/** @param pace whether a body is read at once, or by a thread while its connection waits */
export async function openTwinPorts(pace: ReadPace = createReadPace(systemClock)): Promise<TwinPorts> {
  const [full, quick] = [await serve(false, pace), await serve(true, pace)];
  return {
    full,
    quick,
    close: async () => {
      await Promise.all([full, quick].map(({ listener }) => listener.close(closing)));
    },
  };
}

/** What a client saw of its connection. */
export interface Conversation {
  /** Everything that came, without the time of day. */
  readonly text: string;
  readonly wasReset: boolean;
}

const last = Buffer.from('GET /page HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');

/** The server's ends of connections, by the client's port: they show how many bytes were read. */
const serverEnds = new Map<number, Socket>();
channel('net.server.socket').subscribe((message) => {
  const { socket } = z.object({ socket: z.instanceof(Socket) }).parse(message);
  const { remotePort } = socket;
  if (remotePort === undefined) return;
  serverEnds.set(remotePort, socket);
  socket.once('close', () => serverEnds.delete(remotePort));
});

/** A server that sends a large answer does not read meanwhile. */
const longestLookMs = 20;
/** After a stop of the machine the time is over before the server has had a turn. */
const fewestTurns = 200;

/** Resolves when the server has read so many bytes of the connection, which it handles at once. */
async function untilLookedAt(client: Socket, bytes: number): Promise<void> {
  const latest = systemClock.monotonic() + longestLookMs;
  const isEarly = (): boolean => systemClock.monotonic() < latest;
  for (let turn = 0; !client.destroyed && (turn < fewestTurns || isEarly()); turn += 1) {
    const { bytesRead = 0 } = serverEnds.get(client.localPort ?? 0) ?? {};
    if (bytesRead >= bytes) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Sends the pieces in order, each after the previous one was handled, and then a last request. */
export async function talk({ listener }: Side, pieces: readonly Buffer[]): Promise<Conversation> {
  const socket = connect(listener.port, '127.0.0.1').setNoDelay(true);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  const parts: Buffer[] = [];
  let wasReset = false;
  socket.on('data', (part) => parts.push(part));
  socket.on('error', () => {
    wasReset = true;
  });
  await Promise.race([new Promise((resolve) => socket.once('connect', resolve)), closed]);
  let sentBytes = 0;
  for (const piece of pieces) {
    if (!socket.writable) break;
    socket.write(piece);
    sentBytes += piece.length;
    await untilLookedAt(socket, sentBytes);
  }
  if (socket.writable) socket.end(last);
  await closed;
  const dated = Buffer.concat(parts).toString('latin1');
  return { text: dated.replace(/\r\nDate: [^\r]*/g, '\r\nDate: now'), wasReset };
}

export function isAlike(one: Conversation, other: Conversation): boolean {
  if (one.text === other.text) return true;
  return (
    (one.wasReset && other.text.startsWith(one.text)) || (other.wasReset && one.text.startsWith(other.text))
  );
}

const piece = fc.oneof(
  requestBytes,
  requestText.map((one) => Buffer.from(one, 'latin1')),
);

/** One to three requests, plain and harmed, a request in a piece or parted anywhere. */
export const pipelines: fc.Arbitrary<readonly Buffer[]> = fc
  .tuple(
    fc.array(piece, { minLength: 1, maxLength: 3 }),
    fc.oneof(
      { arbitrary: fc.constant<number[]>([]), weight: 3 },
      { arbitrary: fc.array(fc.nat(), { minLength: 1, maxLength: 2 }), weight: 1 },
    ),
  )
  .map(([requests, cuts]) => {
    const whole = Buffer.concat(requests);
    if (cuts.length === 0) return requests;
    const places = cuts.map((cut) => cut % (whole.length + 1)).toSorted((a, b) => a - b);
    return [0, ...places].map((from, index) => whole.subarray(from, places[index] ?? whole.length));
  });
