// The token endpoint of a registry (Distribution's token specification): users with a password or a refresh token, and the
// actions that each may do. Grants the part of a scope that is permitted, in a JWT that a real docker-registry verifies.

import { sign, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { createAuthority } from './pki.ts';
import { portOf } from './storage-server.ts';

export interface TokenUser {
  readonly password: string;
  readonly actions: readonly string[];
}

export interface RegistryTokens {
  readonly realm: string;
  readonly service: string;
  readonly issuer: string;
  readonly certificatePem: string;
  /** Scopes that were asked for, in order. */
  readonly scopes: readonly string[];
  /** A token for everything in a repository, which expired an hour ago. */
  issueExpired(repository: string): string;
  close(): Promise<void>;
}

/** @param refreshTokens users by their refresh token */
export async function startRegistryTokens(
  users: Readonly<Record<string, TokenUser>>,
  refreshTokens: Readonly<Record<string, string>> = {},
): Promise<RegistryTokens> {
  const names = { service: 'registry.test', issuer: 'tokens.test' };
  const authority = await createAuthority();
  const { certificatePem, keyPem } = await authority.issueClient('tokens', []);
  const x5c = [new X509Certificate(certificatePem).raw.toString('base64')];
  const scopes: string[] = [];

  const issue = (user: Pick<TokenUser, 'actions'>, scope: string, agoSeconds = 0): string => {
    const [type = '', name = '', actions = ''] = scope.split(':');
    const granted = actions.split(',').filter((action) => user.actions.includes(action));
    const now = Math.floor(Date.now() / 1000) - agoSeconds;
    const times = { nbf: now - 10, iat: now - 10, exp: now + 300 };
    const access = granted.length === 0 ? [] : [{ type, name, actions: granted }];
    const claims = {
      iss: names.issuer,
      aud: names.service,
      sub: 'user',
      jti: `${scopes.length}`,
      access,
      ...times,
    };
    const signed = [{ typ: 'JWT', alg: 'ES256', x5c }, claims].map(encode).join('.');
    const signature = sign('sha256', Buffer.from(signed), { key: keyPem, dsaEncoding: 'ieee-p1363' });
    return `${signed}.${signature.toString('base64url')}`;
  };

  const server = createServer((request, response) => {
    const answer = async (): Promise<void> => {
      const { fields, userName } = await readRequest(request, refreshTokens);
      const user = userName === undefined ? undefined : users[userName.name];
      const isKnown = user !== undefined && (userName?.password ?? user.password) === user.password;
      if (!isKnown || fields.get('service') !== names.service) {
        response.writeHead(401).end('{}');
        return;
      }
      const scope = fields.get('scope') ?? '';
      scopes.push(scope);
      response.end(JSON.stringify({ token: issue(user, scope), expires_in: 300 }));
    };
    answer().catch(() => response.destroy());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    realm: `http://127.0.0.1:${portOf(server)}/token`,
    ...names,
    certificatePem: authority.certificatePem,
    scopes,
    issueExpired: (repository) => {
      const actions = ['pull', 'push', 'delete'];
      return issue({ actions }, `repository:${repository}:${actions.join(',')}`, 3_900);
    },
    close: async () => {
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
}

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

interface TokenRequest {
  readonly fields: URLSearchParams;
  /** Without a password where a refresh token names the user. */
  readonly userName: { readonly name: string; readonly password?: string } | undefined;
}

async function readRequest(
  request: IncomingMessage,
  refreshTokens: Readonly<Record<string, string>>,
): Promise<TokenRequest> {
  if (request.method === 'POST') {
    const fields = new URLSearchParams(Buffer.concat(await Array.fromAsync(request)).toString());
    const name = refreshTokens[fields.get('refresh_token') ?? ''];
    return { fields, userName: name === undefined ? undefined : { name } };
  }
  const fields = new URL(request.url ?? '', 'http://localhost').searchParams;
  const pair = /^Basic (.+)$/.exec(request.headers.authorization ?? '')?.[1];
  const [name = '', password = ''] = Buffer.from(pair ?? '', 'base64')
    .toString()
    .split(':');
  return { fields, userName: pair === undefined ? undefined : { name, password } };
}
