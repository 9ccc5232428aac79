// A listening HTTP server that can be drained: on close it goes on accepting for a while (endpoint removal
// lags behind SIGTERM), answers every request with `Connection: close`, and only then shuts its door.
// Invariant: a request that was accepted gets its answer, unless it outlives the grace period.

import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import type { Socket } from 'node:net';
import { PublishableError } from '../wire/publishable-error.ts';
import type { Clock } from './clock.ts';

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

/** Thrown when the address cannot be bound; the code is the system's (`EADDRINUSE`, `EACCES`). */
export class ListenError extends PublishableError {}

/** Binds, and resolves once connections are accepted. @throws {ListenError} */
export async function listenHttp(
  address: HostPort,
  handler: RequestListener,
  clock: Clock,
  options: ServerOptions = {},
): Promise<HttpListener> {
  let draining = false;
  const server = createServer(options, (request, response) => {
    if (draining) response.setHeader('Connection', 'close');
    handler(request, response);
  });
  // Opened ahead of need (browsers, proxies) and never used: to Node these are not idle, to a drain they are.
  const connections = new Set<Socket>();
  server.on('connection', (socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
  // A client that breaks off or sends garbage must cost its own connection and nothing more.
  server.on('clientError', (_error, socket) => {
    if (socket.writable)
      socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
    else socket.destroy();
  });
  const port = await bind(server, address);
  const host = address.host.includes(':') ? `[${address.host}]` : address.host;
  return {
    port,
    url: `http://${host}:${port}`,
    isDraining: () => draining,
    close: async ({ lingerMs, graceMs }) => {
      draining = true;
      await clock.after(lingerMs);
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      for (const socket of connections) if (socket.bytesRead === 0) socket.destroy();
      const cut = new AbortController();
      const guard = clock.after(graceMs, cut.signal).then(
        () => server.closeAllConnections(),
        () => {},
      );
      await closed;
      cut.abort();
      await guard;
    },
  };
}

function bind(server: Server, { host, port }: HostPort): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const advice =
        cause.code === 'EADDRINUSE' ? 'choose another port or stop what holds it' : 'check host and port';
      reject(
        new ListenError(
          cause.code ?? 'ListenFailed',
          `cannot listen on ${host}:${port} (${cause.code}): ${advice}`,
          { cause },
        ),
      );
    });
    server.listen({ host, port }, () => {
      const bound = server.address();
      resolve(typeof bound === 'object' && bound !== null ? bound.port : port);
    });
  });
}
