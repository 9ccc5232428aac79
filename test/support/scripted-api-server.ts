// An API server in the test's hand, over real TLS: it keeps StaticExports with their history, lists them in pages,
// watches from any place of it, and stores whatever else is put to it. What it does wrong, the test says.
// Invariant: without a fault it behaves as the real one does, 410 for a forgotten place included.

import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { Socket } from 'node:net';
import type { CertifiedKey } from './pki.ts';
import { type OpenWatch, openWatch, type ScriptedObject } from './scripted-api-server-watch.ts';

export interface SeenRequest {
  readonly kind: 'list' | 'watch' | 'other';
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly authorization: string | undefined;
  /** Number of the connection it came on, from 0. */
  readonly connection: number;
}

/** Takes the answer over and returns true, or leaves it to the server. */
export type Fault = (request: SeenRequest, response: ServerResponse) => boolean;

export interface ScriptedApiServer {
  readonly port: number;
  readonly requests: readonly SeenRequest[];
  readonly watches: readonly OpenWatch[];
  /** TLS connections accepted so far. */
  connections(): number;
  /** Asked before every answer. */
  fault: Fault;
  /** Creates or changes an object, and tells the watches of it. */
  put(object: ScriptedObject): void;
  remove(name: string): void;
  /** Forgets the history: a watch from an earlier place is answered with 410. */
  compact(): void;
  /** The place that a bookmark would tell. */
  version(): number;
  /** From now on new connections see this certificate. */
  present(certificate: CertifiedKey): void;
  close(): Promise<void>;
}

const collection = /^\/apis\/staticexport\.dev\/v1alpha1\/(?:namespaces\/[^/]+\/)?staticexports$/;

export async function startScriptedApiServer(certificate: CertifiedKey): Promise<ScriptedApiServer> {
  const objects = new Map<string, ScriptedObject>();
  const history: { readonly version: number; readonly type: string; readonly object: ScriptedObject }[] = [];
  const stored = new Map<string, unknown>();
  const snapshots = new Map<string, readonly ScriptedObject[]>();
  const requests: SeenRequest[] = [];
  const watches: OpenWatch[] = [];
  const sockets = new Map<Socket, number>();
  let version = 1;
  let forgottenUntil = 0;
  let accepted = 0;

  const record = (type: string, object: ScriptedObject): void => {
    version += 1;
    const versioned = { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
    if (type === 'DELETED') objects.delete(object.metadata.name);
    else objects.set(object.metadata.name, versioned);
    history.push({ version, type, object: versioned });
    for (const watch of watches) watch.send(type, versioned);
  };

  const list = (query: URLSearchParams, response: ServerResponse): void => {
    const [id = String(version), offset = '0'] = query.get('continue')?.split(':') ?? [];
    const all = snapshots.get(id) ?? [...objects.values()];
    snapshots.set(id, all);
    const end = Number(offset) + Number(query.get('limit') ?? all.length);
    const next = end < all.length ? { continue: `${id}:${end}` } : {};
    sendJson(response, 200, {
      kind: 'StaticExportList',
      metadata: { resourceVersion: id, ...next },
      items: all.slice(Number(offset), end),
    });
  };

  const watch = (query: URLSearchParams, response: ServerResponse): void => {
    const from = Number(query.get('resourceVersion') ?? version);
    if (from < forgottenUntil) {
      sendJson(response, 410, { kind: 'Status', reason: 'Expired', code: 410 });
      return;
    }
    const opened = openWatch(from, query, response);
    watches.push(opened);
    for (const one of history) if (one.version > from) opened.send(one.type, one.object);
  };

  const store = async (request: IncomingMessage, path: string, response: ServerResponse): Promise<void> => {
    const body: unknown = JSON.parse((await readText(request)) || '{}');
    version += 1;
    if (request.method === 'POST' || request.method === 'PUT') {
      const { metadata, ...rest } = asObject(body);
      const name = request.method === 'POST' ? `${path}/${metadata['name']}` : path;
      stored.set(name, {
        ...rest,
        metadata: { ...metadata, uid: name, resourceVersion: String(version) },
      });
      sendJson(response, 200, stored.get(name));
      return;
    }
    const found = stored.get(path);
    const details = { name: path.split('/').at(-1) };
    if (found === undefined)
      sendJson(response, 404, { kind: 'Status', reason: 'NotFound', code: 404, details });
    else sendJson(response, 200, found);
  };

  const server = createServer(
    { cert: certificate.certificatePem, key: certificate.keyPem },
    (request, response) => {
      const url = new URL(request.url ?? '/', 'https://server');
      const isCollection = collection.test(url.pathname) && request.method === 'GET';
      const isWatch = isCollection && url.searchParams.get('watch') === '1';
      const seen: SeenRequest = {
        kind: isWatch ? 'watch' : isCollection ? 'list' : 'other',
        method: request.method ?? '',
        path: url.pathname,
        query: url.searchParams,
        authorization: request.headers.authorization,
        connection: sockets.get(request.socket) ?? -1,
      };
      requests.push(seen);
      if (api.fault(seen, response)) return;
      if (isWatch) watch(url.searchParams, response);
      else if (isCollection) list(url.searchParams, response);
      else store(request, url.pathname, response).catch(() => response.destroy());
    },
  );
  server.on('secureConnection', (socket: Socket) => {
    sockets.set(socket, accepted);
    accepted += 1;
    socket.on('error', () => {});
  });
  // A client that refuses our certificate is part of the play.
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);

  const api: ScriptedApiServer = {
    port: address.port,
    requests,
    watches,
    connections: () => accepted,
    fault: () => false,
    put: (object) => record(objects.has(object.metadata.name) ? 'MODIFIED' : 'ADDED', object),
    remove: (name) => {
      const object = objects.get(name);
      if (object !== undefined) record('DELETED', object);
    },
    compact: () => {
      forgottenUntil = version;
      history.length = 0;
    },
    version: () => version,
    present: ({ certificatePem, keyPem }) => {
      server.setSecureContext({ cert: certificatePem, key: keyPem });
      server.closeAllConnections();
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return api;
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

async function readText(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}

function asObject(body: unknown): { readonly metadata: Record<string, unknown> } {
  assert.ok(typeof body === 'object' && body !== null && 'metadata' in body);
  const { metadata } = body;
  assert.ok(typeof metadata === 'object' && metadata !== null);
  return { ...body, metadata: { ...metadata } };
}
