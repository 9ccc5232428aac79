// What a browser reaches while it opens the pages of a site: an HTTP proxy on loopback that answers for the site as the bundle
// server does behind an air gap, and for no other host. Refuses tunnels, so that nothing leaves the machine.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { siteHeaders } from '#server/answer/reply.ts';
import type { FileRoute } from '#server/content/route-table.ts';
import { readRequestPath } from '#server/http/request-path.ts';
import type { BrowsedSite } from './browsed-site.ts';

/** A name that browsers trust as they trust https, so that pages may do all that they do there. */
export const browsedOrigin = 'http://site.localhost';

export interface SiteProxy {
  readonly port: number;
  close(): Promise<void>;
}

export async function startSiteProxy(site: BrowsedSite): Promise<SiteProxy> {
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    // A browser that went away reads nothing more.
    answer(site, request, response).catch(() => response.destroy());
  });
  server.on('connect', (_request, socket) => socket.destroy());
  server.on('upgrade', (_request, socket) => socket.destroy());
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
  return {
    port: address.port,
    close: async () => {
      const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

const headers = siteHeaders('AirGapped');

async function answer(site: BrowsedSite, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { url = '', method } = request;
  if (!url.startsWith(`${browsedOrigin}/`)) return end(response, 502);
  if (method !== 'GET' && method !== 'HEAD') return end(response, 405);
  const asked = readRequestPath(url, site.basePath);
  if (asked.outcome === 'base-without-slash') return end(response, 301, asked.location);
  if (asked.outcome !== 'path') return end(response, asked.outcome === 'malformed' ? 400 : 404);
  const route = site.routes.find(asked.path);
  if (route?.kind === 'redirect') return end(response, 301, `${route.location}${asked.query}`);
  const page = route ?? site.routes.findNotFoundPage(asked.path);
  if (page === undefined) return end(response, 404);
  return send(site, page, response, route === undefined ? 404 : 200, method === 'HEAD');
}

async function send(
  site: BrowsedSite,
  { contentType, file }: FileRoute,
  response: ServerResponse,
  status: number,
  isHead: boolean,
): Promise<void> {
  const fields = ['Content-Type', contentType, 'Content-Length', `${file.size}`, 'Cache-Control', 'no-store'];
  response.writeHead(status, [...headers, ...fields]);
  if (isHead) response.end();
  else await pipeline(Readable.from(site.read(file.path)), response);
}

function end(response: ServerResponse, status: number, location?: string): void {
  response.writeHead(status, [...headers, ...(location === undefined ? [] : ['Location', location])]).end();
}
