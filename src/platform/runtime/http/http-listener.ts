// A listening HTTP server that can be drained. On close it still accepts connections for a while, because endpoint
// removal lags behind SIGTERM. It answers every request with `Connection: close`, and only then stops listening.
// Invariant: an accepted request gets its answer, unless it outlasts the grace period.

import type { RequestListener, Server, ServerOptions } from 'node:http';
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import type { Clock } from '../clock.ts';
import { type AnswerQueue, createAnswerQueue } from './answer-queue.ts';
import { type HttpRefusal, httpRefusalOf, writeRefusal } from './http-refusal.ts';
import { feedInSlices } from './parser-feed.ts';
import { cutAfter } from './stalled-reader.ts';
import type { UnreadBytes } from './unread-bytes.ts';

// Not by `import`: that reads every export, and one of them, WebSocket, loads a whole client of HTTP, which would be
// a sixth of the time that a server takes to start.
const { createServer }: typeof import('node:http') = createRequire(import.meta.url)('node:http');

export interface HostPort {
  readonly host: string;
  readonly port: number;
}

export interface DrainTimes {
  /** Go on accepting this long after close was asked for. */
  readonly lingerMs: number;
  /** Then wait at most this long for requests under way before cutting them. */
  readonly graceMs: number;
}

export interface HttpListener {
  /** The port really bound (of use when 0 was asked for). */
  readonly port: number;
  /** Base URL on the bound address, no trailing slash. */
  readonly url: string;
  readonly isDraining: () => boolean;
  close(times: DrainTimes): Promise<void>;
}

export interface ListenerHooks {
  /** Called for every refusal that is sent before a request could be read. */
  readonly countRefusal?: (status: number) => void;
  /** The allowed methods, where none has a body: no client is asked to continue sending one. */
  readonly readOnlyMethods?: string;
  /** Bounds what all connections hold together. */
  readonly unread?: UnreadBytes;
  /** Answers what it can before `handler` is asked. */
  readonly first?: OpenConnectionHandler | undefined;
  /** Balancers are in front, and open connections ahead of need: one without a request is idle, and not late. */
  readonly keepsUnused?: boolean;
  /** Above so many connections, idle ones stay no longer than {@link crowdedIdleMs}. */
  readonly crowd?: number;
}

/** What a {@link ConnectionHandler} may ask of the HTTP server behind it. */
export interface FullServer {
  /** Takes the connection over, including what was not read of it. */
  takeOver(socket: Socket): void;
  /** While true every request is for the HTTP server, whose answer says that it is the last. */
  isDraining(): boolean;
  /** How long a connection without a request may stay now. */
  idleMs(): number;
  /** Ends a connection that was idle for too long. */
  letGo(socket: Socket): void;
}

/** Has the connections before the HTTP server. */
export interface ConnectionHandler {
  accept(socket: Socket): void;
  /** Ends idle connections now, and the others after the answer under way. */
  shut(): void;
  /** Ends all connections. */
  cut(): void;
}

export type OpenConnectionHandler = (server: FullServer, clock: Clock) => ConnectionHandler;

/**
 * How long a client may take for one whole request, and how often this is checked: a slower client is cut within their
 * sum. For small requests of programs. Node's defaults are a minute, five minutes and half a minute.
 */
const requestTimes = { headersTimeout: 10_000, requestTimeout: 10_000, connectionsCheckingInterval: 2_500 };

/**
 * How long an idle connection stays. A balancer must close it first: a request that meets the close gets 502, and one that may
 * not be repeated, such as a hook, is lost. AWS and nginx close after one minute, Traefik after 90 s, Azure after 4 min,
 * Google Cloud after 10 min, Envoy and Istio after one hour.
 */
export const keepAliveMs = 65 * 60_000;
/** Of a server with many connections: more than the pools of balancers hold, so most are of visitors, who come back less often. */
const crowdedIdleMs = 75_000;
const usualCrowd = 4096;
/** The system asks silent peers whether they are still there, which also keeps balancers such as AWS NLB (350 s) from forgetting them. */
const tcpProbes = { keepAlive: true, keepAliveInitialDelay: 60_000 };

/**
 * Binds, and resolves once connections are accepted. The requests of one connection come to `handler` one after another.
 *
 * @param options over {@link requestTimes}
 * @throws {PublishableError}
 */
export async function listenHttp(
  address: HostPort,
  handler: RequestListener,
  clock: Clock,
  options: ServerOptions = {},
  {
    countRefusal = () => {},
    readOnlyMethods,
    unread,
    first,
    keepsUnused = false,
    crowd = usualCrowd,
  }: ListenerHooks = {},
): Promise<HttpListener> {
  let isDraining = false;
  let isShut = false;
  const connections = new Map<Duplex, Connection>();
  const take: RequestListener = (request, response) => {
    connections.get(request.socket)?.turns.take(request, response);
  };
  const usualIdleMs = options.keepAliveTimeout ?? keepAliveMs;
  const server = createServer(
    { ...requestTimes, ...tcpProbes, ...options, keepAliveTimeout: usualIdleMs },
    take,
  );
  const sendRefusal = (socket: Duplex, refusal: HttpRefusal): void => {
    countRefusal(refusal.status);
    writeRefusal(socket, refusal, clock.now());
    endSoon(socket, clock);
  };
  server.on('connection', (socket) => {
    const turns = createAnswerQueue({
      socket,
      answer: (request, response, isLast) => {
        if (isDraining || isLast) response.setHeader('Connection', 'close');
        handler(request, response);
      },
      mayWait: () => unread?.isScarce() !== true,
      onWaiting: (more) => unread?.keep(socket, more * waitingRequestBytes),
      // A connection that was busy at close would otherwise stay for its whole keep-alive time.
      onIdle: () => {
        if (connection.broken !== undefined && socket.writable) sendRefusal(socket, connection.broken);
        else if (isShut) socket.end();
      },
    });
    const connection: Connection = { turns, broken: undefined, socket };
    connections.set(socket, connection);
    // After the last answer nothing is parsed either: Node would keep the parsed objects, and no limit counts them.
    feedInSlices(socket, () => turns.isFull() || !socket.writable);
    socket.once('close', () => {
      turns.forget();
      connections.delete(socket);
    });
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const connection = connections.get(socket);
    const isLate = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
    if (isLate && keepsUnused && connection?.socket.bytesRead === 0)
      connection.socket.setTimeout(server.keepAliveTimeout);
    else refuse(error, socket, connection, sendRefusal);
  });
  if (readOnlyMethods !== undefined) {
    server.on('checkContinue', take).on('checkExpectation', take);
    const refusal = { status: 405, reason: 'Method Not Allowed', more: `Allow: ${readOnlyMethods}\r\n` };
    server.on('connect', (_request, socket) => {
      // The server has removed its own listeners by now: without a listener, a connection error would end the process.
      socket.on('error', () => {});
      // Answers under way cannot go on without those listeners, and a refusal amid one would be taken for it.
      if ((connections.get(socket)?.turns.unanswered() ?? 0) > 0) socket.destroy();
      else sendRefusal(socket, refusal);
    });
  }
  const letGo = (socket: Socket): void =>
    void (unread?.isScarce() ? socket.resetAndDestroy() : socket.destroy());
  server.on('timeout', letGo);
  const before = first?.(
    {
      takeOver: (socket) => {
        for (const listener of listeners) Reflect.apply(listener, server, [socket]);
      },
      idleMs: () => server.keepAliveTimeout,
      isDraining: () => isDraining,
      letGo,
    },
    clock,
  );
  const listeners = server.listeners('connection');
  if (before !== undefined) server.removeAllListeners('connection').on('connection', before.accept);
  let open = 0;
  const countOpen = (more: number): void => {
    open += more;
    server.keepAliveTimeout = open > crowd ? Math.min(usualIdleMs, crowdedIdleMs) : usualIdleMs;
  };
  server.prependListener('connection', (socket) => {
    countOpen(1);
    socket.once('close', () => countOpen(-1));
  });
  if (unread !== undefined) {
    server.prependListener('connection', (socket) => {
      unread.track(socket);
      socket.destroySoon = () => endInView(socket, clock);
    });
  }
  const { port, host: bound } = await bind(server, address);
  // An accept that fails without free descriptors recovers by itself; without a listener, the event ends the process.
  server.on('error', () => {});
  const host = bound.includes(':') ? `[${bound}]` : bound;
  return {
    port,
    url: `http://${host}:${port}`,
    isDraining: () => isDraining,
    close: async ({ lingerMs, graceMs }) => {
      isDraining = true;
      await clock.after(lingerMs);
      isShut = true;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      before?.shut();
      for (const { socket, turns } of connections.values()) {
        // Opened ahead of need (browsers, proxies) and never used: not idle for Node, but idle for a drain.
        if (socket.bytesRead === 0) socket.destroy();
        // No request of theirs was taken, only a part of one.
        else if (turns.unanswered() === 0) endSoon(socket, clock);
      }
      const cut = new AbortController();
      const guard = clock.after(graceMs, cut.signal).then(
        () => {
          server.closeAllConnections();
          before?.cut();
        },
        () => {},
      );
      await closed;
      cut.abort();
      await guard;
    },
  };
}

interface Connection {
  readonly socket: Socket;
  readonly turns: AnswerQueue;
  /** The refusal of something that is not a request: it is sent when the answers before it are out. */
  broken: HttpRefusal | undefined;
}

/** Time to read the last of an answer in. */
const lastMs = 5000;

/** Closes the local half, and the rest when the other side does not follow. */
function endSoon(socket: Duplex, clock: Clock): void {
  socket.end();
  cutAfter(socket, lastMs, clock);
}

/** A request that was read and waits for its turn, with what Node makes of it. */
const waitingRequestBytes = 8 * 1024;
/** Time to take the last answer in, while this server still has the connection. */
const lastAnswerMs = 60_000;

/**
 * Ends a connection after its last answer, and keeps it until the other side has closed its own half. If it closed at
 * once, the kernel would own the rest of the answer, and this process could neither count nor free it.
 */
function endInView(socket: Socket, clock: Clock): void {
  if (socket.writable) socket.end();
  socket.resume();
  cutAfter(socket, lastAnswerMs, clock);
}

type SendRefusal = (socket: Duplex, refusal: HttpRefusal) => void;

/** A client that breaks off or sends garbage loses only its own connection. */
function refuse(
  error: NodeJS.ErrnoException,
  socket: Duplex,
  connection: Connection | undefined,
  sendRefusal: SendRefusal,
): void {
  const refusal = httpRefusalOf(error.code);
  const unanswered = connection?.turns.unanswered() ?? 0;
  // A request that broke off within its body is never whole: a handler that waits for the rest must be released.
  const isBrokenOff = unanswered > 0 && connection?.turns.isLatestWhole() === false;
  if (!socket.writable || isBrokenOff) {
    socket.destroy();
  } else if (connection !== undefined && unanswered > 0) {
    // A refusal now would land inside the answer that is being sent, as if it were its body.
    connection.broken = refusal;
  } else {
    sendRefusal(socket, refusal);
  }
}

/** Without a host, on every address of both families, or of the one that the machine has. */
function bind(server: Server, { host, port }: HostPort): Promise<HostPort> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const advice =
        cause.code === 'EADDRINUSE' ? 'choose another port or stop what holds it' : 'check host and port';
      reject(
        new PublishableError(
          cause.code ?? 'ListenFailed',
          `cannot listen on ${host}:${port} (${cause.code}): ${advice}`,
          { cause },
        ),
      );
    });
    server.listen({ port, ...(host !== '' && { host }) }, () => {
      const bound = server.address();
      const found = typeof bound === 'object' && bound !== null ? bound : { address: host, port };
      resolve({ host: host === '' ? found.address : host, port: found.port });
    });
  });
}
