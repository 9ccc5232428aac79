// The credentials of one repository in a docker config: the text of `.dockerconfigjson` or `~/.docker/config.json`.
// Hosts match as for Docker and kubelet. Refuses credential helpers, which are programs of another machine. Pure.
// Invariant: no message repeats a value of the config.

import * as z from 'zod/mini';
import { readJson } from '#platform/wire/json-text.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import type { MirrorError } from '../mirror-error.ts';
import { isDockerHub, type RegistryRepository } from './repository.ts';

export type RegistryCredentials =
  | { readonly kind: 'password'; readonly username: string; readonly password: string }
  /** A refresh token: exchanged for a token of the registry. */
  | { readonly kind: 'identityToken'; readonly identityToken: string }
  /** Sent to the registry as it is. */
  | { readonly kind: 'registryToken'; readonly registryToken: string };

const entryShape = z.object({
  auth: z.optional(z.string()),
  username: z.optional(z.string()),
  password: z.optional(z.string()),
  identitytoken: z.optional(z.string()),
  registrytoken: z.optional(z.string()),
});
const configShape = z.object({
  auths: z._default(z.record(z.string(), entryShape), {}),
  credHelpers: z._default(z.record(z.string(), z.string()), {}),
  credsStore: z._default(z.string(), ''),
});
type Entry = z.infer<typeof entryShape>;

/** A Secret holds at most this. */
const longestConfig = 1024 * 1024;

/**
 * The credentials under the longest key that matches. An entry without credentials counts as absent: Docker leaves such
 * entries where a helper keeps the credentials.
 *
 * @param remedy a sentence: how credentials are given where the config is not JSON, or leaves them to a helper
 * @returns `undefined` where the config names no credentials for the repository
 * @throws {MirrorError} `InvalidCredentials`
 */
export function findCredentials(
  config: string,
  repository: RegistryRepository,
  remedy?: string,
): RegistryCredentials | undefined {
  const { data } = configShape.safeParse(config.length > longestConfig ? undefined : readJson(config));
  if (data === undefined) {
    throw refused(
      `The docker config is not JSON of the form {"auths": {"HOST": {"auth": "…"}}}. ${remedy ?? 'Write it with `kubectl create secret docker-registry`.'}`,
    );
  }
  const { host } = repository;
  const matches = Object.entries(data.auths)
    .flatMap(([key, entry]) => ({ key: readKey(key), entry }))
    .filter(({ key }) => isMatch(key, repository))
    .sort((a, b) => weightOf(b.key) - weightOf(a.key));
  for (const { entry } of matches) {
    const credentials = credentialsOf(entry, host);
    if (credentials !== undefined) return credentials;
  }
  const helpers = Object.keys(data.credHelpers).map(readKey);
  if (data.credsStore !== '' || helpers.some((key) => isMatch(key, repository))) {
    throw refused(
      `The docker config leaves the credentials of registry ${host} to a credential helper, which cannot run here. ${remedy ?? 'Write user name and password into auths, for example with `kubectl create secret docker-registry`.'}`,
    );
  }
  return undefined;
}

const refused = (message: string): MirrorError => new PublishableError('InvalidCredentials', message);

function credentialsOf(entry: Entry, host: string): RegistryCredentials | undefined {
  const { auth = '', identitytoken, registrytoken } = entry;
  if (registrytoken) return { kind: 'registryToken', registryToken: requireToken(registrytoken, host) };
  if (identitytoken) return { kind: 'identityToken', identityToken: identitytoken };
  // As in Docker, `auth` is used where both are set.
  const pair = auth === '' ? undefined : decodePair(auth, host);
  const { username = '', password = '' } = pair ?? entry;
  if (username === '' && password === '') return undefined;
  if (username.includes(':')) {
    throw refused(`The docker config has a user name with a colon for registry ${host}. Correct the name.`);
  }
  return { kind: 'password', username, password };
}

/** It goes into a header as it is. */
function requireToken(token: string, host: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw refused(
    `The docker config has a registrytoken for ${host} that no header can carry. Store it again.`,
  );
}

function decodePair(auth: string, host: string): { readonly username: string; readonly password: string } {
  const text = /^[A-Za-z0-9+/]+={0,2}$/.test(auth) ? Buffer.from(auth, 'base64').toString('utf8') : '';
  const colon = text.indexOf(':');
  if (colon < 1) {
    throw refused(
      `The docker config has an auth for registry ${host} that is not base64 of USERNAME:PASSWORD. Store the credentials again.`,
    );
  }
  // Docker cuts these off: old versions padded the pair with them.
  return { username: text.slice(0, colon), password: text.slice(colon + 1).replace(/\0+$/, '') };
}

/** A key of `auths`: a host, or an address with a scheme, a version of the API, and the start of repositories. */
interface Key {
  readonly host: string;
  /** Parts of the path. */
  readonly path: readonly string[];
}

const withoutPort443 = (host: string): string => host.replace(/:443$/, '');

function readKey(key: string): Key {
  const [host = '', ...path] = key
    .replace(/^https?:\/\//, '')
    .split('/')
    .filter((part, at) => part !== '' || at === 0);
  const hasVersion = path[0] === 'v1' || path[0] === 'v2';
  return { host: withoutPort443(host.toLowerCase()), path: hasVersion ? path.slice(1) : path };
}

/** Longer paths first; of equal ones a host without a wildcard first. */
const weightOf = ({ host, path }: Key): number => 2 * path.length + (host.includes('*') ? 0 : 1);

function isMatch(key: Key, { host, path }: RegistryRepository): boolean {
  const parts = path.split('/');
  return isHostMatch(key.host, withoutPort443(host)) && key.path.every((part, at) => part === parts[at]);
}

/** As in kubelet: `*` stands for any text within one part of the name, and a port must be equal. */
function isHostMatch(pattern: string, host: string): boolean {
  if (isDockerHub(host)) return isDockerHub(pattern);
  if (!pattern.includes('*')) return pattern === host;
  const [patternName = '', patternPort] = splitPort(pattern);
  const [name = '', port] = splitPort(host);
  const [patternParts, parts] = [patternName.split('.'), name.split('.')];
  const hasSameForm = patternPort === port && patternParts.length === parts.length;
  return hasSameForm && patternParts.every((part, at) => isPartMatch(part, parts[at] ?? ''));
}

const splitPort = (host: string): readonly string[] => host.split(/:(?=\d+$)/);

/** Linear, unlike a regular expression with many wildcards: a tenant chooses the pattern. */
function isPartMatch(pattern: string, part: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return pattern === part;
  let at = first.length;
  for (const piece of rest) {
    const found = part.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return part.startsWith(first) && part.endsWith(last) && part.length - last.length >= at;
}
