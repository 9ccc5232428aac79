// The Authorization header of a registry: basic, or a token for a scope, kept until shortly before it expires. The first
// request has none; what a challenge asks for is remembered. Credentials go to the registry and to the realm that it
// names, which may be another host, as with Docker Hub. Refuses a realm over plain HTTP, unless the registry itself is
// called that way. Invariant: only challenges of the registry's own origin reach this file.

import * as z from 'zod/mini';
import type { WholeAnswer } from '#platform/http/exchange.ts';
import type { Clock } from '#platform/runtime/clock.ts';
import { jsonOf, type RegistryCall, registryRefusalOf } from './answer.ts';
import { readChallenges } from './challenge.ts';
import type { RegistryCredentials } from './docker-config.ts';
import { accessDenied, actions, type RegistryAccess } from './refusal.ts';
import { registryFault } from './registry-fault.ts';
import type { RegistryRepository } from './repository.ts';

export interface RegistryAuthOptions {
  readonly repository: RegistryRepository;
  readonly credentials: RegistryCredentials | undefined;
  readonly isHttpAllowed: boolean;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Adds no authorization, and follows no redirect. */
  readonly exchange: (request: RegistryCall, signal: AbortSignal) => Promise<WholeAnswer>;
}

export interface RegistryAuth {
  /** @returns `undefined` before the first challenge */
  headerFor(access: RegistryAccess, signal: AbortSignal): Promise<string | undefined>;
  /**
   * Remembers what a refused request asked for.
   *
   * @param sent the header of that request
   * @returns whether another header can be made
   */
  learn(challenge: string, access: RegistryAccess, sent: string | undefined): boolean;
}

const tokenShape = z.object({
  token: z.optional(z.string()),
  access_token: z.optional(z.string()),
  expires_in: z.catch(z.number().check(z.positive()), 60),
});
/** A token is renewed this long before it expires, but not before half of its time. */
const renewBeforeMs = 10_000;

export function createRegistryAuth(options: RegistryAuthOptions): RegistryAuth {
  const { repository, credentials, clock } = options;
  const fixed = credentials?.kind === 'registryToken' ? `Bearer ${credentials.registryToken}` : undefined;
  const basic = basicHeader(credentials);
  const tokens = new Map<RegistryAccess, { readonly header: string; readonly validUntil: number }>();
  let accepted: 'basic' | { readonly realm: URL; readonly service: string | undefined } | undefined;

  return {
    headerFor: async (access, signal) => {
      if (fixed !== undefined || accepted === undefined) return fixed;
      if (accepted === 'basic') return basic;
      const start = clock.monotonic();
      const known = tokens.get(access);
      if (known !== undefined && start < known.validUntil) return known.header;
      const { realm, service } = accepted;
      const scope = `repository:${repository.path}:${actions[access]}`;
      const fields = { ...(service !== undefined && { service }), scope };
      const answer = await options.exchange(tokenRequest(realm, fields, credentials, basic), signal);
      // OAuth 2 answers 400 for a refresh token that is not valid.
      if ([400, 401, 403].includes(answer.statusCode)) {
        const who = `Token endpoint ${realm.host} of registry ${repository.host}`;
        // Some endpoints answer 403 and 400 for other reasons, such as a project that does not exist.
        const isKnown = answer.statusCode === 401 || registryRefusalOf(answer).code === 'invalid_grant';
        throw accessDenied(who, repository, answer, access, { credentials, isKnown });
      }
      const { token, lifetimeMs } = readToken(realm.host, answer);
      const header = `Bearer ${token}`;
      tokens.set(access, {
        header,
        validUntil: start + Math.max(lifetimeMs - renewBeforeMs, lifetimeMs / 2),
      });
      return header;
    },
    learn: (challenge, access, sent) => {
      if (fixed !== undefined) return false;
      const challenges = readChallenges(challenge);
      const bearer = challenges.find(({ scheme }) => scheme === 'bearer')?.parameters;
      tokens.delete(access);
      if (bearer !== undefined) {
        const realm = readRealm(bearer.get('realm') ?? '', options.isHttpAllowed);
        if (realm === undefined) {
          const what = 'named a token endpoint that has no valid address over https';
          throw registryFault('NotARegistry', `Registry host ${repository.host} ${what}`);
        }
        accepted = { realm, service: bearer.get('service') };
        return true;
      }
      if (!challenges.some(({ scheme }) => scheme === 'basic')) return false;
      accepted = 'basic';
      return basic !== sent;
    },
  };
}

/** The registry is trusted to name it: it could read the password of basic authentication as well. */
function readRealm(text: string, isHttpAllowed: boolean): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isScheme = url?.protocol === 'https:' || (url?.protocol === 'http:' && isHttpAllowed);
  return isScheme && url.username === '' && url.password === '' ? url : undefined;
}

function basicHeader(credentials: RegistryCredentials | undefined): string | undefined {
  if (credentials?.kind !== 'password') return undefined;
  return `Basic ${Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64')}`;
}

/** The form of Docker for a password, and that of OAuth 2 for a refresh token. */
function tokenRequest(
  realm: URL,
  fields: Readonly<Record<string, string>>,
  credentials: RegistryCredentials | undefined,
  basic: string | undefined,
): RegistryCall {
  if (credentials?.kind === 'identityToken') {
    const grant = { grant_type: 'refresh_token', client_id: 'static-export-operator' };
    const form = new URLSearchParams({ ...fields, ...grant, refresh_token: credentials.identityToken });
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    return { method: 'POST', url: realm, headers, openBody: () => Buffer.from(form.toString()) };
  }
  const url = new URL(realm);
  for (const [name, value] of Object.entries(fields)) url.searchParams.set(name, value);
  return { method: 'GET', url, headers: basic === undefined ? {} : { authorization: basic } };
}

function readToken(host: string, exchange: WholeAnswer): { token: string; lifetimeMs: number } {
  const { statusCode } = exchange;
  const answer = tokenShape.safeParse(jsonOf(exchange)).data;
  const token = answer?.token || answer?.access_token || '';
  if (statusCode === 200 && answer !== undefined && /^[\x21-\x7e]+$/.test(token)) {
    return { token, lifetimeMs: answer.expires_in * 1000 };
  }
  throw registryFault('NotARegistry', `Token endpoint ${host} returned ${statusCode} without a valid token`);
}
