// A real git server over HTTP or HTTPS on loopback: git's own `git http-backend`, behind basic authentication or a token
// where the test asks for it. A hook sees each request first, and may hold, refuse or cut it, or never answer.
//
//   const server = await startGitServer({ login: { username: 'bot', password: 'secret' } });
//   const fleet = await server.createRepository('fleet', { 'site/values.yaml': '…' });   // fleet.url: http://127.0.0.1:…/fleet.git
//   server.onRequest = ({ kind }) => (kind === 'push' ? { status: 403 } : 'serve');
//   …
//   await server.close();
//
// With TLS: `tls: await authority.issueServer({ dns: ['git.example.com'], ips: ['127.0.0.1'] })` of support/pki.ts.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CertifiedKey } from '../pki.ts';
import { removeAfterUs } from '../reaper.ts';
import { portOf } from '../storage-server.ts';
import { type GitEntry, type GitRepository, initRepository } from './git-repository.ts';

export interface GitRequest {
  /** `refs-…` asks which branches there are, before the transfer of the same name. */
  readonly kind: 'refs-to-fetch' | 'fetch' | 'refs-to-push' | 'push' | 'other';
  /** Such as `fleet` of `/fleet.git/info/refs`. */
  readonly repository: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

/** `hang`: no answer until the server closes. `cut`: the connection is closed without an answer. */
export type GitReply =
  | 'serve'
  | 'hang'
  | 'cut'
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string };

export interface GitServerOptions {
  /** Basic authentication. Several may log in, each with a password of its own. */
  readonly login?: GitLogin | readonly GitLogin[];
  /** In addition or instead: `Authorization: Bearer TOKEN`. */
  readonly token?: string;
  readonly tls?: CertifiedKey;
  /** 127.0.0.1 when absent. */
  readonly host?: string;
}

export interface GitLogin {
  readonly username: string;
  readonly password: string;
}

export interface GitServer {
  readonly origin: string;
  /** Every request so far, refused ones too. */
  readonly requests: readonly GitRequest[];
  /** Decides about each request that is logged in; a promise holds the request. Set it at any time. */
  onRequest: (request: GitRequest) => GitReply | Promise<GitReply>;
  /** @param files of its first commit on `main`; without them the repository is empty */
  createRepository(name: string, files?: Readonly<Record<string, GitEntry>>): Promise<GitRepository>;
  close(): Promise<void>;
}

export async function startGitServer(options: GitServerOptions = {}): Promise<GitServer> {
  const { host = '127.0.0.1', tls } = options;
  const accepted = acceptedHeaders(options);
  const root = await mkdtemp(join(tmpdir(), 'git-server-'));
  removeAfterUs(root);
  const requests: GitRequest[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const seen = describe(request);
    requests.push(seen);
    if (accepted.length > 0 && !accepted.includes(request.headers.authorization ?? '')) {
      request.resume();
      response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
      return;
    }
    const reply = await server.onRequest(seen);
    if (reply === 'serve') runBackend(root, request, response);
    else if (reply === 'cut') request.socket.destroy();
    else if (reply !== 'hang') {
      request.resume();
      response.writeHead(reply.status, reply.headers).end(reply.body);
    }
  };
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    answer(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  };
  const http =
    tls === undefined
      ? createServer(listener)
      : createTlsServer({ cert: tls.certificatePem, key: tls.keyPem }, listener);
  http.listen(0, host);
  await once(http, 'listening');
  const origin = `${tls === undefined ? 'http' : 'https'}://${host}:${portOf(http)}`;
  const server: GitServer = {
    origin,
    requests,
    onRequest: () => 'serve',
    createRepository: async (name, files) => {
      const repository = await initRepository(join(root, `${name}.git`), `${origin}/${name}.git`);
      if (files !== undefined) await repository.commit(files, { message: 'first' });
      return repository;
    },
    close: async () => {
      http.closeAllConnections();
      http.close();
      await once(http, 'close');
      await rm(root, { recursive: true, force: true, maxRetries: 3 });
    },
  };
  return server;
}

function acceptedHeaders({ login = [], token }: GitServerOptions): readonly string[] {
  const logins: readonly GitLogin[] = 'username' in login ? [login] : login;
  const basic = logins.map(
    ({ username, password }) => `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
  );
  return token === undefined ? basic : [...basic, `Bearer ${token}`];
}

function describe(request: IncomingMessage): GitRequest {
  const url = new URL(request.url ?? '', 'http://localhost');
  const path = decodeURIComponent(url.pathname);
  const service = url.searchParams.get('service');
  const kinds: readonly (readonly [GitRequest['kind'], boolean])[] = [
    ['refs-to-fetch', service === 'git-upload-pack'],
    ['refs-to-push', service === 'git-receive-pack'],
    ['fetch', path.endsWith('/git-upload-pack')],
    ['push', path.endsWith('/git-receive-pack')],
  ];
  return {
    kind: kinds.find(([, isIt]) => isIt)?.[0] ?? 'other',
    repository: /^\/(.+?)\.git(?:\/|$)/.exec(path)?.[1] ?? '',
    path,
    headers: request.headers,
  };
}

/** One request through git's CGI program. */
function runBackend(root: string, request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? '', 'http://localhost');
  const header = (name: string): string => String(request.headers[name] ?? '');
  const backend = spawn('git', ['http-backend'], {
    env: {
      PATH: process.env['PATH'] ?? '',
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: decodeURIComponent(url.pathname),
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method ?? 'GET',
      CONTENT_TYPE: header('content-type'),
      ...optional('CONTENT_LENGTH', header('content-length')),
      ...optional('HTTP_CONTENT_ENCODING', header('content-encoding')),
      ...optional('GIT_PROTOCOL', header('git-protocol')),
      REMOTE_USER: 'test',
      REMOTE_ADDR: '127.0.0.1',
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  request.pipe(backend.stdin);
  // A client that goes away, or a backend that reads no more, is not a failure of the test.
  backend.stdin.on('error', () => {});
  backend.on('error', () => response.destroy());
  // A client that breaks off would leave the program waiting for a reader.
  response.on('close', () => backend.kill());
  let head = Buffer.alloc(0);
  const readHead = (chunk: Buffer): void => {
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf('\r\n\r\n');
    if (end < 0) return;
    backend.stdout.off('data', readHead);
    let status = 200;
    for (const line of head.subarray(0, end).toString().split('\r\n')) {
      const [, name = '', value = ''] = /^([^:]+): *(.*)$/.exec(line) ?? [];
      if (name.toLowerCase() === 'status') status = Number.parseInt(value, 10);
      else response.setHeader(name, value);
    }
    response.writeHead(status).write(head.subarray(end + 4));
    backend.stdout.pipe(response);
  };
  backend.stdout.on('data', readHead);
  backend.on('close', () => response.end());
}

function optional(name: string, value: string): Readonly<Record<string, string>> {
  return value === '' ? {} : { [name]: value };
}
